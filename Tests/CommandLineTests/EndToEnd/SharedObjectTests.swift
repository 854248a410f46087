import Glibc
import TestSupport
import Testing

@Suite("A file that is in source and target at once is no copy")
struct SharedObjectTests {
    /// Shares a file's blocks like a deduplication of the whole disk.
    private func share(_ scene: MirrorScene, _ name: String, _ other: String? = nil) throws {
        try scene.remove("target/\(other ?? name)")
        try scene.link("target/\(other ?? name)", to: "source/\(name)")
    }

    private func expectOwn(_ scene: MirrorScene, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for name in try HostCommand.output(
            "find", scene.target, "-not", "-type", "d", "-not", "-path", "*/.fsync-lite/*"
        )
        .split(separator: "\n") {
            #expect(
                try scene.status(String(name.dropFirst(scene.directory.path.count + 1))).st_nlink == 1,
                "\(name)", sourceLocation: sourceLocation)
        }
    }

    @Test func isCopiedAnew() throws {
        let scene = try MirrorScene(["a": "one", "d": ["b": "two"], "link": .symlink("a"), "other": "other"])
        guard scene.far == nil else { return }
        try scene.mirror()
        for name in ["a", "d/b", "link"] { try share(scene, name) }
        let run = try scene.mirror()
        #expect(run.errors.contains("Copied again: a and 2 more"), "\(run.errors)")
        try expectOwn(scene)
        #expect(try scene.mirror().output.contains("nothing to do"))
        // An edit of the source in place reaches the mirror only by a run, and can be undone.
        try scene.append(" and more", to: "source/a")
        #expect(try scene.text("target/a") == "one")
        try scene.mirror()
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.text("target/a") == "one")
        // Also where it moved.
        try scene.mirror()
        for name in ["a", "d/b"] { try share(scene, name) }
        try scene.move("source/a", to: "source/new")
        try scene.move("source/d", to: "source/e")
        try scene.mirror()
        try expectOwn(scene)
    }

    @Test func alsoBeforeTheFirstRun() throws {
        let scene = try MirrorScene(["a": "one", "d": ["b": "two"]])
        guard scene.far == nil else { return }
        try HostCommand.run("cp", "-al", scene.source, scene.target)
        try scene.mirror("--adopt")
        try expectOwn(scene)
    }

    @Test func alsoOneOfSeveralNames() throws {
        let scene = try MirrorScene(["a": "one"])
        guard scene.far == nil else { return }
        try scene.link("source/b", to: "source/a")
        try scene.mirror()
        try share(scene, "a")
        try scene.link("source/c", to: "source/a")
        try scene.mirror()
        #expect(try scene.status("target/a").st_nlink == 3)
        #expect(try scene.status("target/a").st_ino == scene.status("target/c").st_ino)
    }

    @Test func theHistoryTellsWhatItShares() throws {
        let scene = try MirrorScene(["a": "one", "b": "two"])
        guard scene.far == nil else { return }
        try scene.link("source/c", to: "source/b")
        try scene.mirror()
        let whole = try scene.run("snapshot", "verify", "target")
        #expect(whole.code == 0 && !whole.output.contains("hard links"), "\(whole.output)")
        // A name of a remaining file is in the history.
        try scene.remove("source/c")
        try scene.mirror()
        try scene.run("snapshot", "verify", "target").expect(
            0, prints: "1 old version is also in the present tree")
        try share(scene, "a")
        try scene.mirror()
        try scene.run("snapshot", "verify", "target").expect(
            2, says: ": a is also a file outside of the target")
    }
}
