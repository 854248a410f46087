import TestNeeds
import TestSupport
import Testing

@Suite("Saved plans")
struct SavedPlanTests {
    private func scene() throws -> MirrorScene {
        let scene = try MirrorScene(
            ["a": "one", "b": "two", "d": ["x": "x", "y": "y"], "gone": "g", "stays": "s"], inMemory: true
        ).mirrored()
        try scene.append("+", to: "source/a")
        try scene.move("source/d", to: "source/moved")
        try scene.remove("source/gone")
        try scene.build("n", at: "source/new")
        return scene
    }

    private func save(_ scene: MirrorScene, _ options: String...) throws {
        try scene.run(["plan", "source", "target", "--out", "plan"] + options).expect(0)
    }

    @Test func appliesWhatWasPlanned() throws {
        let scene = try scene()
        let planned = try scene.planned()
        try save(scene)
        let run = try CommandRun(
            ["apply", "--json", "--plan", scene.path("plan")], in: scene.directory.path + "/source"
        ).expect(0)
        #expect(try run.json().actionLines == planned.actionLines)
        try scene.expectMirrored()
        // A plan can be applied only once.
        #expect(try scene.run("apply", "--plan", "plan").code == 5)
    }

    @Test func targetThatCameMeanwhileIsStale() throws {
        let scene = try MirrorScene(["a": "one"], inMemory: true)
        try save(scene)
        try scene.build([:], at: "target")
        #expect(try scene.run("apply", "--plan", "plan").code == 5)
        #expect(!scene.exists("target/a"))
    }

    // MARK: Drift

    /// A change after the plan was saved, and the path that the message names.
    struct Drift: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let named: String
        let make: @Sendable (MirrorScene) throws -> Void
    }

    private static let drifts: [Drift] = [
        .init(testDescription: "a file of the source", named: "new") { try $0.append("!", to: "source/new") },
        .init(testDescription: "the same in secret", named: "new") {
            try $0.editInSecret("source/new", "m")
        },
        .init(testDescription: "a file of the source is gone", named: "new") { try $0.remove("source/new") },
        .init(testDescription: "a new file of the source", named: "more") {
            try $0.build("more", at: "source/more")
        },
        .init(testDescription: "a file of the target", named: "a") {
            try $0.append("theirs", to: "target/a")
        },
        .init(testDescription: "one that is deleted, in secret", named: "gone") {
            try $0.editInSecret("target/gone", "h")
        },
        .init(testDescription: "one that no action is about", named: "stays") {
            try $0.append("theirs", to: "target/stays")
        },
        .init(testDescription: "a new one in the way", named: "new") {
            try $0.build("theirs", at: "target/new")
        },
        .init(testDescription: "one in a directory that moves", named: "moved/x") {
            try $0.append("!", to: "target/d/x")
        },
    ]

    @Test(arguments: drifts) func whatChangedSinceIsStale(drift: Drift) throws {
        let scene = try scene()
        try save(scene)
        try drift.make(scene)
        let before = try scene.wholeTarget()
        for options in [[], ["--json"]] {
            let run = try scene.run(["apply", "--plan", "plan"] + options).expect(
                5, says: "refused: \(drift.named): ")
            if options != [] { #expect(try run.json().text("outcome") == "refused") }
            #expect(try scene.wholeTarget().touched(since: before) == [])
        }
    }

    @Test func anotherManifestIsStale() throws {
        let scene = try scene()
        try save(scene, "--max-delete", "9")
        try scene.setMode(0o600, of: "source/stays")
        #expect(try scene.apply("--no-delete", "--exclude", "/*", "--include", "/stays").code == 0)
        let run = try scene.run("apply", "--plan", "plan").expect(
            5, says: "another run has changed the target since the plan was made")
        let again =
            "next: fsync-lite plan \(scene.source) \(scene.target) --max-delete=9 --out plan\n"
        #expect(run.errors.contains(again), "\(run.errors)")
    }

    @Test func unfinishedCommitIsPending() throws {
        let scene = try scene()
        try save(scene)
        try scene.build(.file("{}", mode: 0o600), at: "target/.fsync-lite/journal")
        let before = try scene.wholeTarget()
        #expect(try scene.run("apply", "--plan", "plan").code == 6)
        #expect(try scene.wholeTarget().touched(since: before) == [])
    }

    @Test(.needs(.strace))
    func sourceThatChangesBeforeItIsCopiedIsStale() throws {
        let scene = try scene()
        try save(scene)
        let before = try TreeSnapshot(scene.target)
        try scene.paused(["apply", "--plan", "plan"], at: .after("mkdirat", of: "stage")) {
            try scene.append("late", to: "source/new")
        }.expect(5, says: "new")
        #expect(try TreeSnapshot(scene.target).differences(from: before) == [])
    }

    // MARK: Options and guards

    @Test func optionsOfThePlanHoldAndFilesOfPatternsAreNotNeededAgain() throws {
        let scene = try MirrorScene(["a": "1", "b.tmp": "2", "c.log": "3", "keep.log": "4"], inMemory: true)
        try scene.build("*.tmp\n", at: "patterns")
        try save(scene, "--exclude-from", "patterns", "--exclude", "*.log", "--include", "keep.log")
        try scene.remove("patterns")
        #expect(!scene.exists("target"))
        #expect(try scene.run("apply", "--plan", "plan").code == 0)
        #expect(scene.exists("target/a") && scene.exists("target/keep.log"))
        #expect(!scene.exists("target/b.tmp") && !scene.exists("target/c.log"))
    }

    /// What the job turns off remains off, and its rules of retention are stored.
    @Test func aJobsPlanIsCarriedOutAsTheJobIs() throws {
        let scene = try scene()
        try scene.build(
            .file(
                """
                {"defaults": {"exchange": true, "keep_last": 1}, "jobs": {"j": {"source": "\(scene.source)",
                 "target": "\(scene.target)", "exchange": false, "digest": true, "keep_last": 8}}}
                """), at: "settings.json")
        let settings = ["--settings", "settings.json"]
        try scene.run(["plan", "--job", "j", "--out", "plan"] + settings).expect(0)
        let root = try scene.wholeTarget().inode(".")
        try scene.run(["apply", "--plan", "plan"] + settings).expect(0)
        #expect(try scene.wholeTarget().inode(".") == root)
        try scene.run("manifest", "list", "--json", "target").expect(0, prints: "sha256:")
        try scene.run("snapshot", "prune", "--dry-run", "target").expect(0, prints: "keep_last 8")
        // Other rules beside the plan replace the job's.
        try scene.append("!", to: "source/a")
        try scene.run(["plan", "--job", "j", "--out", "plan"] + settings).expect(0)
        try scene.run(["apply", "--plan", "plan", "--keep-daily", "6"] + settings).expect(0)
        let rules = try scene.run("snapshot", "prune", "--dry-run", "target").expect(0)
        #expect(rules.output.contains("keep_daily 6") && !rules.output.contains("keep_last 8"))
    }

    /// A file in one of the trees would change a directory, so the plan would not fit.
    @Test func noPlanIsSavedInOneOfTheTrees() throws {
        let scene = try scene()
        let options = ["--exclude", "/plan", "--exclude", "/moved", "--settings", "settings.json"]
        try scene.build(.file("{}"), at: "settings.json")
        for (place, tree) in [("source/plan", "source"), ("target/plan", "target")] {
            try scene.run(["plan", "source", "target", "--out", place] + options).expect(
                64, says: "is in \(tree), so the plan would not fit")
            #expect(!scene.exists(place))
        }
        try scene.run(["plan", "source", "target", "--out", "source/moved/plan"] + options).expect(
            0, says: "apply --plan source/moved/plan --settings settings.json\n")
        try scene.run("apply", "--plan", "source/moved/plan").expect(0)
    }

    @Test func refusedPlanIsNotSaved() throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true)
        try scene.build(["theirs": "2"], at: "target")
        #expect(try scene.run("plan", "source", "target", "--out", "plan").code == 4)
        #expect(!scene.exists("plan"))
        #expect(try scene.run("plan", "source", "target", "--out", "plan", "--adopt").code == 0)
        #expect(try scene.run("apply", "--plan", "plan").code == 0)
        try scene.expectMirrored()
    }

    @Test func optionsThatWouldMakeAnotherPlanAreRefused() throws {
        let scene = try scene()
        try save(scene)
        for arguments in [["--no-delete"], ["--exclude", "x"], ["source", "target"]] {
            #expect(try scene.run(["apply", "--plan", "plan"] + arguments).code == 64)
        }
        #expect(try scene.run("apply", "--plan", "missing").code == 66)
    }

    @Test(arguments: [
        "{", "{\"format\":\"fsync-lite-plan\",\"version\":1}\n",
        "{\"format\":\"fsync-lite-saved-plan\",\"version\":2}\n",
    ])
    func foreignPlanIs65(text: String) throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true)
        try scene.build(.file(text), at: "plan")
        for arguments in [["apply", "--plan", "plan"], ["plan", "--show", "plan"]] {
            try scene.run(arguments).expect(65, says: "plan: line 1: ")
        }
    }

    @Test func editedPlanIs65() throws {
        let scene = try scene()
        try save(scene)
        let text = try scene.text("plan").replacing("\"gone\"", with: "\"stay\"")
        try scene.build(.file(text), at: "plan")
        #expect(try scene.run("apply", "--plan", "plan").code == 65)
    }

    @Test func showsWhatItIs() throws {
        let scene = try scene()
        try save(scene, "--max-delete", "7")
        let run = try scene.run("plan", "--show", "plan", "--all").expect(0)
        for text in [
            scene.source, scene.target, "--max-delete=7", " ago", "> d -> moved/", "- gone",
            "1 to create, 1 to update",
        ] {
            #expect(run.output.contains(text), "\(text): \(run.output)")
        }
    }

    @Test(arguments: 0..<12 as Range<UInt64>)
    func randomChangesGoThroughAFile(seed: UInt64) throws {
        let scene = try MirrorScene([:], inMemory: true)
        var tree = try DiskTree(scene.source, seed: seed)
        try tree.grow(30)
        try scene.mirror()
        try tree.change(20)
        try save(scene, "--max-delete", "unlimited", "--allow-empty-source")
        #expect(try scene.run("apply", "--plan", "plan").code == 0)
        try scene.expectMirrored()
    }
}
