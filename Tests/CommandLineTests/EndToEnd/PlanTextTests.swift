import TestSupport
import Testing

@Suite("What plans look like")
struct PlanTextTests {
    /// A directory with one that has so many files.
    private func files(_ count: Int) -> TreeLiteral {
        ["sub": .files(0..<count, named: "f") { _ in "12345" }]
    }

    @Test func aNewDirectoryWithManyEntriesIsOneLineWithTotals() throws {
        let scene = try MirrorScene(["few": ["a": "a"], "many": files(300), "z": "z"])
        let plan = try scene.plan().lines
        #expect(
            plan == [
                "+ few/  (new)", "+ few/a  1 B  (new)", "+ many/  301 files and directories, 1.5 kB  (new)",
                "+ z  1 B  (new)",
                "--all lists what is in the directories, too",
                "305 to create; 0 unchanged; 1.5 kB to copy",
            ])
        let all = try scene.plan("--all").lines
        #expect(all.count == 306)
        #expect(all.contains("+ many/sub/f299  5 B  (new)"))
        #expect(try scene.planned().objects("actions").count == 305)
        let apply = try scene.apply("--verbose").lines
        #expect(apply.dropLast() == plan.dropLast())
    }

    @Test func aDeletedDirectoryIsOneLineAndWhatElseHappensBelowANewOneIsNot() throws {
        let scene = try MirrorScene(["gone": files(30), "stays": "1", "big": "12345"]).mirrored()
        try scene.remove("source/gone")
        try scene.build(files(30), at: "source/new")
        try scene.move("source/big", to: "source/new/sub/big")
        let plan = try scene.plan("--max-delete", "unlimited").lines
        #expect(plan.contains("- gone/  31 files and directories, 150 B  (removed)"), "\(plan)")
        #expect(plan.contains("+ new/  31 files and directories, 150 B  (new)"), "\(plan)")
        #expect(plan.contains("> big -> new/sub/big  (renamed)"), "\(plan)")
        #expect(!plan.contains { $0.contains("f12") })
    }

    @Test func aVeryLongListEndsWithHowToSeeTheRest() throws {
        let scene = try MirrorScene(.files(0..<1010, named: "f") { _ in "1" })
        let plan = try scene.plan().lines
        #expect(plan.count == 1002)
        #expect(plan[1000] == "... and 10 more lines; --all lists them")
        #expect(try scene.plan("--all").lines.count == 1011)
    }
}
