import TestSupport
import Testing

@Suite("Changes that size and time do not show, and changes that others made in the target")
struct HiddenChangeTests {
    /// - Parameter side: the side that is edited. Before, both sides are equal.
    @Test(arguments: [("source", "before", "after."), ("target", "after.", "before")])
    func editThatRestoresSizeAndTimeIsCaughtAndKept(side: String, kept: String, wanted: String) throws {
        let scene = try MirrorScene(["a": .file("before", modified: TreeTime(1_600_000_000, 1)), "b": "b"])
            .mirrored()
        try scene.editInSecret("\(side)/a", "after.")
        #expect(try scene.planned().actionLines == ["update a (content)"])
        try scene.mirror()
        #expect(try scene.text("target/a") == wanted)
        #expect(try scene.historyKeeps(kept))
    }

    @Test func sourceEditIsCaughtAfterARunWithNothingToDo() throws {
        let scene = try MirrorScene(["a": .file("before", modified: TreeTime(1_600_000_000, 1))]).mirrored()
        try scene.mirror()
        try scene.editInSecret("source/a", "after.")
        try scene.mirror()
    }

    @Test func targetEditRightAfterAnApplyIsCaughtEveryTime() throws {
        let scene = try MirrorScene(
            ["a": .file("0000", modified: TreeTime(1_600_000_000, 1))], inMemory: true
        ).mirrored()
        for round in 1...20 {
            let text = String(repeating: "\(round % 10)", count: 4)
            try scene.editInSecret(round.isMultiple(of: 2) ? "source/a" : "target/a", text)
            try scene.mirror()
        }
    }

    @Test func filesThatLookEqualAndSwappedPlacesEndRight() throws {
        let time = TreeTime(1_600_000_000, 500)
        let scene = try MirrorScene([
            "a": .file("first.", modified: time), "b": .file("second", modified: time),
            "d": ["c": .file("third.", modified: time)],
        ]).mirrored()
        try scene.swap("source/a", "source/b")
        try scene.swap("source/a", "source/d/c")
        try scene.mirror()
        // The two files exchange their bytes, not their places.
        try scene.editInSecret("source/a", "SECOND")
        try scene.editInSecret("source/b", "FIRST.")
        try scene.mirror()
    }

    @Test func targetFilesThatSomebodySwappedAreRepaired() throws {
        let time = TreeTime(1_600_000_000, 500)
        let scene = try MirrorScene([
            "a": .file("first.", modified: time), "b": .file("second", modified: time),
        ]).mirrored()
        try scene.swap("target/a", "target/b")
        try scene.mirror()
    }

    @Test func filesOfEqualSizeAndTimeAreNoMovesOfEachOther() throws {
        let time = TreeTime(1_600_000_000, 500)
        let scene = try MirrorScene(["a": .file("first.", modified: time)]).mirrored()
        try scene.remove("source/a")
        try scene.build(["b": .file("second", modified: time)], at: "source")
        try scene.mirror()
    }

    @Test func driftIsShownRepairedAndKept() throws {
        let scene = try MirrorScene([
            "edited": "one", "removed": "two", "mode": "three", "dir": ["x": "four"],
        ]).mirrored()
        try scene.append(" and more", to: "target/edited")
        try scene.remove("target/removed")
        try scene.setMode(0o600, of: "target/mode")
        try scene.build(["added": "somebody's"], at: "target/dir")
        let actions = try scene.planned().objects("actions")
        for (name, verb) in [
            ("edited", "update"), ("removed", "create"), ("mode", "attributes"), ("dir/added", "delete"),
        ] {
            let action = actions.first { $0.text("path") == name }
            #expect(action?.text("action") == verb, "\(name)")
            #expect(action?.texts("causes").contains("drift") == true, "\(name)")
        }
        try scene.mirror()
        #expect(try scene.historyKeeps("one and more"))
        #expect(try scene.historyKeeps("somebody's"))
        #expect(try scene.mirror().output.contains("nothing to do"))
    }

    @Test func targetEntriesThatSomebodyMovedComeBack() throws {
        let scene = try MirrorScene(["a": "one", "d": ["x": "two", "y": "three"]]).mirrored()
        try scene.move("target/d", to: "target/elsewhere")
        try scene.move("target/a", to: "target/elsewhere/a")
        try scene.mirror()
        #expect(try scene.mirror().output.contains("nothing to do"))
    }

    @Test func targetEntryReplacedByAnotherKindIsRepaired() throws {
        let scene = try MirrorScene(["a": "one", "d": ["x": "two"], "l": .symlink("a")]).mirrored()
        for name in ["a", "d", "l"] { try scene.remove("target/\(name)") }
        try scene.build(["a": ["theirs": "kept"], "d": .symlink("/etc"), "l": .fifo()], at: "target")
        try scene.mirror()
        #expect(try scene.historyKeeps("kept"))
    }

    @Test func onlyTheLastApplyIsKeptWhereARuleSaysSo() throws {
        let scene = try MirrorScene(["a": "one"]).mirrored("--keep-last", "1")
        for text in ["two", "three", "four"] {
            try scene.append(text, to: "source/a")
            try scene.mirror()
        }
        #expect(
            try TreeSnapshot(scene.path("target/.fsync-lite/history")).paths.filter { !$0.contains("/") }
                .count == 1)
        #expect(try scene.historyKeeps("onetwothree"))
    }
}
