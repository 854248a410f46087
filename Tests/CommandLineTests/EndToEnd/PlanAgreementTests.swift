import TestNeeds
import TestSupport
import Testing

@Suite("What plan says is what apply does")
struct PlanAgreementTests {
    private func changedScene(as identity: CommandRun.Identity = .current) throws -> MirrorScene {
        let scene = try MirrorScene(
            [
                "same": "same", "edited": "one", "mode": "m", "old": "o", "moved": "moving file",
                "becomes dir": "f",
                "becomes file": ["x": "x"], "link": .symlink("same"),
                "folder": ["1": "1", "sub": ["2": "22"]],
                "quiet": ["3": "3"], "gone": ["4": "4", "5": "5"],
            ], as: identity
        ).mirrored()
        try scene.append("+", to: "source/edited")
        try scene.setMode(0o600, of: "source/mode")
        try scene.move("source/moved", to: "source/quiet/renamed")
        try scene.append("+", to: "source/quiet/renamed")
        try scene.move("source/folder", to: "source/directory")
        try scene.append("+", to: "source/directory/sub/2")
        for name in ["old", "gone", "becomes dir", "becomes file", "link"] {
            try scene.remove("source/\(name)")
        }
        try scene.build(
            [
                "new": ["a": "a", "b": .symlink("a"), "c": .fifo()], "becomes dir": ["y": "y"],
                "becomes file": "file", "link": "file too",
            ], at: "source")
        return scene
    }

    @Test func agreesActionForActionOnMixedChanges() throws {
        let scene = try changedScene()
        let plan = try scene.planned()
        let lines = try scene.plan().lines
        for (start, part) in [
            ("~ edited", "size"), ("> folder -> directory/", "3 files and directories"), ("= mode", "(mode)"),
            ("- old", "(removed)"), ("+ new/a", "(new)"),
        ] {
            #expect(lines.contains { $0.hasPrefix(start) && $0.contains(part) }, "\(start)")
        }
        #expect(lines.last?.contains("to delete") == true)
        let run = try scene.apply("--json").expect(0)
        let report = try run.json()
        #expect(plan.text("format") == "fsync-lite-plan")
        #expect(report.text("format") == "fsync-lite-report")
        #expect(report.text("outcome") == "committed")
        #expect(plan.objects("actions").map(\.description) == report.objects("actions").map(\.description))
        #expect(plan.object("summary")?.description == report.object("summary")?.description)
        try scene.expectMirrored()
        #expect(
            plan.actionLinesButTimes == [
                "update becomes dir (type)", "create becomes dir/y (new)",
                "update becomes file (type)", "delete becomes file/x (removed)",
                "move folder -> directory (renamed)", "update directory/sub/2 (size, modified)",
                "update edited (size, modified)", "delete gone (removed)", "delete gone/4 (removed)",
                "delete gone/5 (removed)", "update link (type)", "attributes mode (mode)", "create new (new)",
                "create new/a (new)", "create new/b (new)", "create new/c (new)", "delete old (removed)",
                "move moved -> quiet/renamed (renamed)", "update quiet/renamed (size, modified)",
            ])
        #expect(report.objects("actions").first { $0.text("from") == "folder" }?.number("entries") == 3)
        #expect(report.object("summary")?.number("bytes_to_copy") == 3 + 4 + 1 + 4 + 8 + 1 + 12)
    }

    @Test(.needs(.otherUser))
    func planNeedsNoWriteAccess() throws {
        let scene = try changedScene(as: .ordinary)
        let closed: [(String, UInt32)] = [
            ("source", 0o555), ("target", 0o555), ("target/.fsync-lite", 0o500),
        ]
        for (name, mode) in closed { try scene.setMode(mode, of: name) }
        let before = try scene.wholeTarget()
        let plan = try scene.planned()
        #expect(plan.actionLines.contains("move folder -> directory (renamed)"))
        #expect(try scene.wholeTarget().touched(since: before) == [])
    }

    @Test func escapesControlCharactersForPeopleAndKeepsThemInJSON() throws {
        let scene = try MirrorScene(["a\u{1B}[31m\nb": "1"])
        let text = try scene.plan().output
        #expect(!text.contains("\u{1B}"))
        #expect(text.split(separator: "\n").count == 2)
        #expect(try scene.planned().objects("actions").first?.text("path") == "a\u{1B}[31m\nb")
    }
}
