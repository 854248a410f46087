import Glibc
import TestSupport
import Testing

@Suite("Names of one symlink, pipe or device stay names of one")
struct OtherLinkTests {
    /// A name was removed from the target and came back. An earlier tree has both names of the file.
    @Test(arguments: LinkedKind.others)
    func aNameThatWasRemovedByHandIsRestoredAsOne(kind: LinkedKind) throws {
        let scene = try MirrorScene([:])
        try kind.make("e", in: scene)
        try scene.link("source/K", to: "source/e")
        try scene.mirror()
        try scene.setTime(TreeTime(1_700_000_000, 0), of: "source/e")
        try scene.mirror()
        try scene.remove("target/K")
        try scene.mirror()
        try scene.run("snapshot", "restore", "target", "latest~2", "--in-place").expect(0)
        var (name, other) = (stat(), stat())
        try #require(
            lstat(scene.path("target/K"), &name) == 0 && lstat(scene.path("target/e"), &other) == 0)
        #expect(name.st_ino == other.st_ino)
    }

    /// The first name was made in the target by hand, as in the source. The second one is linked to it.
    @Test(arguments: LinkedKind.possible)
    func whatWasMadeByHandGetsItsFurtherNames(kind: LinkedKind) throws {
        let scene = try MirrorScene(["other": "file"], inMemory: true)
        try scene.mirror()
        try kind.make("a", in: scene)
        try HostCommand.run("cp", "-a", scene.path("source/a"), scene.path("target/a"))
        try scene.link("source/b", to: "source/a")
        try scene.mirror()
        try scene.run("snapshot", "restore", "target", "latest", "--to", "copy").expect(0)
        let names = try ["a", "b"].map { try scene.status("copy/\($0)").st_ino }
        #expect(names[0] == names[1])
    }

    private func scene(_ kind: LinkedKind) throws -> MirrorScene {
        let scene = try MirrorScene([:], inMemory: true)
        try kind.build(scene)
        return scene
    }

    @Test(arguments: LinkedKind.possible)
    func areMirrored(kind: LinkedKind) throws {
        let scene = try scene(kind)
        if kind == .file { #expect(try scene.planned().object("summary")?.number("bytes_to_copy") == 16) }
        try scene.mirrorAll()
        #expect(try scene.status("target/one").st_nlink == 3)
        #expect(try scene.status("target/alone").st_nlink == 1)
        #expect(try scene.run("manifest", "verify", "target", "target").code == 0)
        #expect(try scene.run("manifest", "diff", "target", "source").code == 0)
        #expect(try scene.apply("--exchange", "--adopt").code == 0)
        try scene.expectAllMirrored()
    }

    @Test(arguments: LinkedKind.others, LinkChange.ofOthers)
    func changesAreMirroredAndUndone(kind: LinkedKind, change: LinkChange) throws {
        let scene = try scene(kind)
        try scene.mirrorAll()
        let before = try scene.wholeState()
        try change.make(scene, kind)
        try scene.mirrorAll()
        try scene.run("snapshot", "restore", "target", "latest~1", "--to", "restored").expect(0)
        #expect(try scene.wholeState("restored").differences(from: before) == [])
        try scene.run("undo", "target").expect(0)
        #expect(try scene.wholeState().differences(from: before) == [])
        try scene.mirrorAll()
    }

    @Test(arguments: LinkedKind.others)
    func namesThatSomebodyLinkedInTheTargetArePutRight(kind: LinkedKind) throws {
        let scene = try scene(kind)
        try scene.mirrorAll()
        try scene.remove("target/alone")
        try scene.link("target/alone", to: "target/twin")
        try scene.mirrorAll()
        #expect(try scene.status("target/twin").st_nlink == 1)
    }
}
