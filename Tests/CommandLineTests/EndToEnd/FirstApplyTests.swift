import TestSupport
import Testing

@Suite("The first apply, and one with nothing to do")
struct FirstApplyTests {
    private static let everything: TreeLiteral = .directory(
        [
            "a.txt": .file("hello", mode: 0o640, modified: TreeTime(1_600_000_000, 123_456_789)),
            "before 1970": .file("old", modified: TreeTime(-86_400, 1)),
            "after 2038": .file("new", modified: TreeTime(4_000_000_000, 999_999_999)),
            "empty": .file("", mode: 0o400),
            "set-id": .file("#!/bin/sh\n", mode: 0o6755, modified: TreeTime(1_500_000_000, 5)),
            "hollow": .directory([:], mode: 0o711, modified: TreeTime(1_400_000_000, 77)),
            "sticky": .directory(["x": "x"], mode: 0o1777, modified: TreeTime(1_400_000_001, 1)),
            "deep": ["er": ["and": ["deeper": .directory([:], modified: TreeTime(1, 2))]]],
            "pipe": .fifo(mode: 0o622),
            "link": .symlink("a.txt", modified: TreeTime(1_300_000_000, 42)),
            "dangling": .symlink("../no/such place", modified: TreeTime(1_300_000_001, 43)),
            TreeName([0x66, 0xFF, 0xFE]): "bytes",
            TreeName([0xC3, 0xA9]): "composed",
            TreeName([0x65, 0xCC, 0x81]): "decomposed",
            TreeName([0x80]): .directory([TreeName([0xC0, 0xAF]): .symlink(TreeName([0xFF, 0x2F, 0xFE]))]),
            "line\nbreak": "control",
            "-rf": "an option?",
            "with \"quotes\" and \\": "text",
        ], mode: 0o750, modified: TreeTime(1_450_000_000, 250))

    @Test func saysNothingToDoTheSecondTimeAndTouchesOnlyLastRun() throws {
        let scene = try MirrorScene(Self.everything)
        // A directory that changed in the tick in which the scan begins is recorded once more.
        ClockTick.pass()
        try scene.mirror().expect(prints: "created")
        #expect(try scene.stateNames() == ["history", "last-run", "manifest.json", "mark"])
        let before = try scene.wholeTarget()
        #expect(before[".fsync-lite"]?.mode == 0o700)
        let run = try scene.mirror()
        #expect(run.output.contains("nothing to do"))
        let after = try scene.wholeTarget()
        // It is renamed into its place, which moves the times of the directory.
        #expect(after.touched(since: before, except: [".fsync-lite", ".fsync-lite/last-run"]) == [])
        #expect(after.inode(".fsync-lite") == before.inode(".fsync-lite"))
        #expect(try scene.apply("--json").json().text("outcome") == "unchanged")
    }

    @Test func leavesSocketsOutAndSaysSo() throws {
        let scene = try MirrorScene(["a": "1"])
        try HostSocket.make(at: scene.path("source/s"))
        try scene.apply().expect(0, says: "socket")
        #expect(!scene.exists("target/s"))
        #expect(try scene.apply().output.contains("nothing to do"))
    }
}

extension MirrorScene {
    /// The names in the target's `.fsync-lite`.
    func stateNames() throws -> [String] {
        try TreeSnapshot(path("target/.fsync-lite")).paths.filter { !$0.contains("/") }
    }
}
