import Foundation
import TestSupport
import Testing

/// Earlier trees that several records tell of: what is linked, what takes no part, what somebody edited. Each of these
/// was found by `scripts/sequences`.
struct ComposedHistoryTests {
    private func expectTree(
        _ scene: MirrorScene, _ snapshot: String, _ wanted: AttributeSnapshot, inPlace: Bool = false
    ) throws {
        let run = try scene.run(
            ["snapshot", "restore", "target", snapshot] + (inPlace ? ["--in-place"] : ["--to", "copy"]))
        #expect(run.code == 0, "\(run.errors)")
        let found = try AttributeSnapshot(scene.path(inPlace ? "target" : "copy"))
        #expect(found.differences(from: wanted) == [])
    }

    /// One name gets other times, the other is replaced: what they were then tells that they are one file.
    @Test func namesAreLinkedAgainWhateverTheirTimesAreNow() throws {
        let scene = try MirrorScene(["a": .symlink("x"), "z": "z"])
        try scene.link("source/b", to: "source/a")
        try scene.mirror("--keep-last", "9")
        let wanted = try AttributeSnapshot(scene.source)
        try scene.setTime(TreeTime(2000, 0), of: "source/a")
        try scene.mirror()
        try scene.remove("source/b")
        try scene.build(["b": "new"], at: "source")
        try scene.mirror()
        try expectTree(scene, "latest~2", wanted)
    }

    /// An exchange copies what it gives other attributes; the copy stands for the file that has names in the history.
    @Test(.enabled(if: TestDisk.hasBtrfs, "\(TestDisk.hasNoBtrfs)"))
    func copiesThatExchangesMadeAreTheFileStill() throws {
        let scene = try MirrorScene([:], inMemory: true)
        try TestDisk.btrfs.mounted(at: scene.directory.path) {
            try scene.build(["a": "1", "z": "z"], at: "source")
            try scene.link("source/b", to: "source/a")
            try scene.link("source/c", to: "source/a")
            try scene.mirror("--keep-last", "9")
            let wanted = try AttributeSnapshot(scene.source)
            try scene.remove("source/c")
            try scene.mirror()
            try scene.append("z", to: "source/z")
            try scene.mirror("--exchange", "--reflink")
            try scene.setMode(0o600, of: "source/a")
            try scene.mirror("--exchange")
            try scene.setTime(TreeTime(2000, 0), of: "source/a")
            try scene.mirror()
            try expectTree(scene, "latest~4", wanted)
        }
    }

    /// What took part then and takes none now stays, but not where the earlier tree has something else.
    @Test func whatIsInTheWayOfAnEarlierTreeGivesWay() throws {
        let scene = try MirrorScene(["c": ["c": ["y": "2"], "x": "1"], "z": "z"])
        try scene.mirror("--keep-last", "9")
        let wanted = try AttributeSnapshot(scene.source)
        try scene.move("source/c", to: "source/n")
        try scene.build(["c": [:]], at: "source")
        try scene.move("source/n/c", to: "source/c/f")
        try scene.move("source/n", to: "source/c/c")
        try scene.mirror()
        #expect(try scene.apply("--exclude", "/c").code == 0)
        try expectTree(scene, "latest~2", wanted, inPlace: true)
    }

    /// A directory that a restore left takes part again, with what somebody had put there.
    @Test func whatLiesInAStrangersDirectoryWasInNoTree() throws {
        let scene = try MirrorScene(["d": ["b": ["x": "1"], "e": "e"], "z": "z"])
        try scene.mirror("--keep-last", "9")
        try scene.move("target/d/b", to: "target/d/new")
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--in-place").code == 0)
        #expect(scene.exists("target/d/new/x"))
        try scene.remove("source/d/b")
        try scene.build(["new": [:]], at: "source/d")
        try scene.mirror()
        #expect(try scene.apply("--exclude", "/d").code == 0)
        let run = try scene.run("snapshot", "restore", "target", "latest~2", "--to", "copy")
        #expect(run.code == 0, "\(run.errors)")
        #expect(!scene.exists("copy/d"))
    }

    /// Something comes back that took no part then, and somebody has moved its directory since.
    @Test func whatComesBackHasItsDirectory() throws {
        let scene = try MirrorScene(["e": "e", "h": ["h": ["x": "1"]]])
        try scene.mirror("--keep-last", "9")
        #expect(try scene.apply("--exclude", "/h").code == 0)
        try scene.remove("source/h/h/x")
        try scene.mirror()
        try scene.move("target/h/h", to: "target/h/b")
        try scene.mirror()
        let run = try scene.run("snapshot", "restore", "target", "latest~2", "--in-place")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try scene.text("target/h/h/x") == "1")
    }

    /// What the filters of then cover and their tree did not have was not there, nor was anything in it.
    @Test func nothingIsInADirectoryThatWasNotThere() throws {
        let scene = try MirrorScene(["e": "e"])
        #expect(try scene.apply("--keep-last", "9", "--exclude", "*.x").code == 0)
        try scene.build(["g": ["f.x": ["y": "1"]]], at: "target")
        #expect(try scene.apply("--exclude", "/g").code == 0)
        #expect(try scene.apply("--no-delete").code == 0)
        try scene.mirror()
        let run = try scene.run("snapshot", "restore", "target", "latest~3", "--in-place")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try TreeSnapshot(scene.target).paths == ["e"])
    }
}
