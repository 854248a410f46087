import Foundation
import TestSupport
import Testing

@Suite("A copy of a target is a target")
struct CopiedTargetTests {
    private func scene() throws -> MirrorScene {
        let scene = try MirrorScene(["a": "0", "dir": ["b": "b", "c": "c"]])
        try FileManager.default.linkItem(atPath: scene.path("source/a"), toPath: scene.path("source/linked"))
        try scene.mirror()
        try scene.append("1", to: "source/a")
        try scene.remove("source/dir/c")
        try scene.mirror()
        try HostCommand.run("cp", "-a", scene.target, scene.path("copy"))
        return scene
    }

    @Test func theUndoOfACopyIsThatOfTheTarget() throws {
        let scene = try scene()
        #expect(try scene.run("undo", "target").code == 0)
        try scene.run("undo", "copy").expect(0)
        let differences = try TreeSnapshot(scene.path("copy")).differences(from: TreeSnapshot(scene.target))
        #expect(differences == [])
        // The inodes are those of the copy now.
        let before = try scene.text("copy/a")
        try scene.append("by hand", to: "copy/a")
        #expect(try scene.run("undo", "copy").code == 3)
        #expect(try scene.text("copy/a") == before + "by hand")
    }

    @Test func whatWasEditedInACopyIsAnEdit() throws {
        let scene = try scene()
        try scene.append("by hand", to: "copy/a")
        try scene.run("undo", "copy").expect(3, says: "a: it was changed in the target since")
        #expect(try scene.text("copy/a") == "01by hand")
        #expect(try scene.text("copy/dir/c") == "c")
    }

    @Test func theNextRunRecordsTheInodesOfTheCopy() throws {
        let scene = try scene()
        let run = try scene.run("apply", "source", "copy").expect(0, prints: "nothing to do")
        #expect(!run.errors.contains("made in the target"))
        let manifest = try scene.text("copy/.fsync-lite/manifest.json")
        let inode = try #require(
            try FileManager.default.attributesOfItem(atPath: scene.path("copy/dir/b"))[.systemFileNumber]
                as? UInt64)
        #expect(manifest.contains("\"target_inode\":\(inode)"))
        // The inode shows that another object has replaced a file: both existed, so their inodes differ.
        try HostCommand.run("cp", "-a", scene.path("source/dir/b"), scene.path("copy/dir/new"))
        try scene.move("copy/dir/new", to: "copy/dir/b")
        try scene.run("undo", "copy").expect(3)
    }
}
