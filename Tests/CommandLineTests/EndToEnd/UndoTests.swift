import Foundation
import TestSupport
import Testing

struct UndoTests {
    private func disaster() throws -> (scene: MirrorScene, before: TreeSnapshot) {
        let scene = try MirrorScene([
            "keep": "keep", "d": ["a": "a", "b": ["c": "c"]], "e": "e", "f": "f",
        ])
        try scene.mirror()
        let before = try TreeSnapshot(scene.target)
        try scene.remove("source/d")
        try scene.append("!", to: "source/f")
        try scene.mirror("--max-delete", "unlimited")
        return (scene, before)
    }

    @Test func bringsBackAndAgain() throws {
        let (scene, before) = try disaster()
        let after = try TreeSnapshot(scene.target)
        let dryRun = try scene.run("undo", "target", "--dry-run")
        #expect(
            dryRun.lines.filter { !$0.hasPrefix("=") } == [
                "+ d/  (new)", "+ d/a  1 B  (new)", "+ d/b/  (new)", "+ d/b/c  1 B  (new)",
                "~ f  1 B  (size, modified)",
                "4 to create, 1 to update, 1 to set attributes of; 2 unchanged",
            ])
        #expect(try TreeSnapshot(scene.target).differences(from: after) == [])
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try TreeSnapshot(scene.target).differences(from: before) == [])
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try TreeSnapshot(scene.target).differences(from: after) == [])
        // And the mirror goes on from there.
        #expect(try scene.apply().lines == ["nothing to do; 3 unchanged"])
    }

    /// Displaced objects go back: a directory of terabytes needs no room.
    @Test func copiesNothing() throws {
        let scene = try MirrorScene(["d": ["a": "a"]])
        try scene.mirror()
        let inode = try inode(of: scene.path("target/d/a"))
        try scene.remove("source/d")
        try scene.mirror("--max-delete", "unlimited", "--allow-empty-source")
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try self.inode(of: scene.path("target/d/a")) == inode)
    }

    @Test func theFirstApplyToo() throws {
        let scene = try MirrorScene(["a": "new"])
        try scene.build(["b": "mine"], at: "target")
        let before = try TreeSnapshot(scene.target)
        try scene.mirror("--adopt")
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try TreeSnapshot(scene.target).differences(from: before) == [])
    }

    @Test func keepsWhatSomebodyChangedSince() throws {
        let (scene, _) = try disaster()
        try scene.append(" by hand", to: "target/f")
        try scene.append(" by hand", to: "target/keep")
        try scene.build(["mine": "mine"], at: "target")
        #expect(try scene.run("undo", "--dry-run", "target").code == 3)
        let undo = try scene.run("undo", "target")
        #expect(undo.code == 3)
        #expect(undo.errors.contains("f: it was changed in the target since; it stays (drift)"))
        #expect(undo.errors.contains("keep: it was changed in the target since; it stays (drift)"))
        #expect(undo.errors.contains("what filters left out, or no apply brought here, stays: mine"))
        #expect(try scene.text("target/f") == "f! by hand")
        #expect(try scene.text("target/keep") == "keep by hand")
        #expect(try scene.text("target/mine") == "mine")
        #expect(try scene.text("target/d/b/c") == "c")
    }

    /// A change by hand in a directory whose rename is undone.
    enum HandChange: CaseIterable {
        case append, replacement, otherType, directory, mode

        func make(in scene: MirrorScene) throws {
            let path = "target/new/a"
            switch self {
            case .append: return try scene.append(" by hand", to: path)
            case .mode: return try scene.setMode(0o600, of: path)
            case .replacement, .otherType, .directory: try scene.remove(path)
            }
            let edit: TreeLiteral =
                switch self {
                case .otherType: .symlink("by hand")
                case .directory: ["mine": "by hand"]
                default: "by hand"
                }
            try scene.build(["a": edit], at: "target/new")
        }
    }

    @Test(arguments: HandChange.allCases)
    func aChangeMovesAlongWithItsDirectory(_ change: HandChange) throws {
        let scene = try MirrorScene(["old": ["a": "a", "b": "b"]])
        try scene.mirror()
        try scene.move("source/old", to: "source/new")
        try scene.mirror()
        try change.make(in: scene)
        // The undo sets the directory's time.
        let time = TreeTime(1_600_000_000)
        try time.set(on: scene.path("target/new"))
        let changed = try TreeSnapshot(scene.path("target/new"))
        let dryRun = try scene.run("undo", "--dry-run", "target")
        let undo = try scene.run("undo", "target")
        for run in [dryRun, undo] {
            #expect(run.code == 3)
            #expect(run.errors.contains("old/a: it was changed in the target since; it stays (drift)"))
        }
        try time.set(on: scene.path("target/old"))
        #expect(try TreeSnapshot(scene.path("target/old")).differences(from: changed) == [])
        #expect(!scene.exists("target/new"))
        try scene.mirror()
    }

    /// What an undo cannot bring back, as it was removed by hand, its dry run says too.
    @Test func whatWasRemovedFromARenamedDirectoryIsNamed() throws {
        let scene = try MirrorScene(["old": ["a": "a", "b": "b"]])
        try scene.mirror()
        try scene.move("source/old", to: "source/new")
        try scene.mirror()
        try scene.remove("target/new/a")
        let dryRun = try scene.run("undo", "--dry-run", "target")
        let undo = try scene.run("undo", "target")
        #expect(dryRun.errors == undo.errors)
        #expect(
            undo.errors.contains("old/a: what it held is lost: it was changed in the target since (drift)"))
        #expect(try scene.text("target/old/b") == "b")
        try scene.mirror()
    }

    /// What came back is not what the source has, although no time and no size tells.
    @Test func goesOnFromWhatOnlyTheChangeTimeTells() throws {
        let scene = try MirrorScene(["a": "one", "d": ["b": "b"]])
        try scene.mirror()
        try RawPath.setAttribute("user.note", [1], on: scene.path("source/d"))
        try scene.editInSecret("source/a", "two")
        // The directory that gets the attribute is as new as the commit.
        try scene.mirror("--exchange")
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.text("target/a") == "one")
        try scene.mirror()
        #expect(try scene.text("target/a") == "two")
        #expect(try RawPath.attributes(of: Array(scene.path("target/d").utf8)).count == 1)
    }

    /// The undo has not looked at the source: what was changed there behind a restored time is still found.
    @Test func doesNotVouchForTheSource() throws {
        let scene = try MirrorScene(["a": "one", "b": "b"])
        try scene.mirror()
        try scene.append("!", to: "source/b")
        try scene.mirror()
        try scene.editInSecret("source/a", "two")
        #expect(try scene.run("undo", "target").code == 0)
        try scene.mirror()
        #expect(try scene.text("target/a") == "two")
    }

    /// Of extended attributes no time tells that the undo could go by.
    @Test func extendedAttributesOnly() throws {
        let scene = try MirrorScene(["a": "a", "b": "b"])
        try scene.mirror()
        try RawPath.setAttribute("user.note", [1], on: scene.path("source/a"))
        try scene.mirror()
        for _ in 0..<3 {
            #expect(try scene.run("undo", "target").code == 0)
            #expect(try RawPath.attributes(of: Array(scene.path("target/a").utf8)).isEmpty)
            #expect(try scene.run("undo", "target").code == 0)
            #expect(try RawPath.attributes(of: Array(scene.path("target/a").utf8)).count == 1)
        }
    }

    @Test func nothingToUndo() throws {
        let scene = try MirrorScene(["a": "a"])
        #expect(try scene.run("undo", "target").code == 66)
        try scene.mirror()
        try scene.build(["settings.json": "{\"keep_last\": 0}"], at: "target/.fsync-lite")
        try scene.setMode(0o600, of: "target/.fsync-lite/settings.json")
        #expect(try scene.apply().code == 0)
        let undo = try scene.run("undo", "target")
        #expect(undo.code == 66)
        #expect(undo.errors.contains("there is nothing to undo"))
    }

    private func inode(of path: String) throws -> UInt64? {
        try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64
    }
}
