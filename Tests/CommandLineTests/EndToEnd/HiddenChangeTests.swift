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

    @Test func targetEditRightAfterAnApplyIsCaughtEveryTime() throws {
        let scene = try MirrorScene(
            ["a": .file("0000", modified: TreeTime(1_600_000_000, 1))], inMemory: true
        ).mirrored()
        for round in 1...20 {
            // Also after a run with nothing to do.
            if round.isMultiple(of: 5) { try scene.mirror() }
            let text = String(repeating: "\(round % 10)", count: 4)
            try scene.editInSecret(round.isMultiple(of: 2) ? "source/a" : "target/a", text)
            try scene.mirror()
        }
    }

    @Test func driftIsShownRepairedAndKept() throws {
        let scene = try MirrorScene([
            "edited": "one", "removed": "two", "mode": "three", "dir": ["x": "four"],
            "moved": ["x": "five"], "file": "six", "folder": ["x": "seven"], "link": .symlink("file"),
        ]).mirrored()
        try scene.append(" and more", to: "target/edited")
        try scene.remove("target/removed")
        try scene.setMode(0o600, of: "target/mode")
        try scene.build(["added": "somebody's"], at: "target/dir")
        try HostSocket.make(at: "\(scene.target)/socket")
        try scene.move("target/moved", to: "target/elsewhere")
        for name in ["file", "folder", "link"] { try scene.remove("target/\(name)") }
        try scene.build(
            ["file": ["theirs": "kept"], "folder": .symlink("/etc"), "link": .fifo()], at: "target")
        let actions = try scene.planned().objects("actions")
        for (name, verb) in [
            ("edited", "update"), ("removed", "create"), ("mode", "attributes"), ("dir/added", "delete"),
        ] {
            let action = actions.first { $0.text("path") == name }
            #expect(action?.text("action") == verb, "\(name)")
            #expect(action?.texts("causes").contains("drift") == true, "\(name)")
        }
        try scene.mirror()
        for text in ["one and more", "somebody's", "kept"] { #expect(try scene.historyKeeps(text)) }
        #expect(!scene.exists("target/socket"))
        #expect(try scene.mirror().output.contains("nothing to do"))
    }
}
