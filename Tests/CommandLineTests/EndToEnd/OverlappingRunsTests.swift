import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("Runs that overlap on one target")
struct OverlappingRunsTests {
    private func scene() throws -> MirrorScene {
        try MirrorScene(
            ["edited": .files(0..<60, "old"), "moved": .files(0..<40, "moving"), "gone": "gone"],
            inMemory: true
        ).mirrored()
    }

    private func changingScene() throws -> MirrorScene {
        let scene = try scene()
        try change(scene, 0)
        return scene
    }

    private func change(_ scene: MirrorScene, _ round: Int) throws {
        for number in 0..<60 { try scene.append(" \(round)", to: "source/edited/file \(number)") }
        let (here, there) = round.isMultiple(of: 2) ? ("moved", "elsewhere") : ("elsewhere", "moved")
        try scene.move("source/\(here)", to: "source/\(there)")
        try scene.build(.files(0..<20, "new"), at: "source/new \(round)")
    }

    // MARK: Several that write

    @Test(arguments: [2, 4, 8])
    func oneWinsAndTheOthersAre75(count: Int) throws {
        let scene = try scene()
        for round in 0..<4 {
            try change(scene, round)
            let all = try (0..<count).map { _ in
                try RunningCommand(["apply", "source", "target"], in: scene.directory.path)
            }
            let runs = try all.map { try $0.finish() }
            #expect(runs.contains { $0.code == 0 && !$0.output.contains("nothing to do") })
            for run in runs where run.code != 0 {
                run.expect(75, says: "target")
            }
            try scene.expectMirrored()
            #expect(try scene.mirror().output.contains("nothing to do"))
            #expect(try scene.stateNames() == ["history", "last-run", "manifest.json", "mark"])
        }
    }

    @Test(arguments: [2, 5])
    func firstAppliesThatMeetLeaveOneTarget(count: Int) throws {
        let scene = try MirrorScene(
            ["d": .files(0..<50, "one"), "e": ["f": .files(0..<20, "two")]], inMemory: true)
        for _ in 0..<6 {
            let all = try (0..<count).map { _ in
                try RunningCommand(["apply", "source", "target"], in: scene.directory.path)
            }
            let runs = try all.map { try $0.finish() }
            for run in runs { #expect([0, 75].contains(run.code), "\(run.code): \(run.errors)") }
            #expect(runs.contains { $0.code == 0 })
            try scene.expectMirrored()
            #expect(try scene.mirror().output.contains("nothing to do"))
            try scene.remove("target")
        }
    }

    /// From the first directory of the stage to the removal of the journal.
    private static let points: [PausedCommand.Point] = [
        .after("mkdirat", of: "stage"), .after("syncfs"), .after("fallocate"),
        .after("renameat2", of: "journal"), .after("renameat2", number: 5),
        .after("renameat2", of: "manifest.json"), .after("syncfs", number: 2),
        .after("unlinkat", of: "journal"),
    ]

    @Test(.needs(.strace), arguments: points)
    func whileOneStandsStillOthersTouchNothingAndReadersTellOldOrNewOrPending(point: PausedCommand.Point)
        throws
    {
        let scene = try changingScene()
        let old = try answers(scene)
        try scene.paused(at: point) {
            let before = try scene.wholeTarget()
            for arguments in [
                ["apply", "source", "target"], ["recover", "target"], ["recover", "--back", "target"],
                ["recover", "--displace", "target"], ["undo", "target"],
            ] {
                try scene.run(arguments).expect(75)
            }
            #expect(try scene.wholeTarget().touched(since: before) == [])
            if scene.exists("target/.fsync-lite/journal") {
                for arguments in [
                    ["plan", "source", "target"], ["manifest", "list", "target"],
                    ["manifest", "show", "target"],
                ] {
                    try scene.run(arguments).expect(75, says: "another fsync-lite is writing to this target")
                }
                let status = try scene.run("status", "target").expect(0)
                #expect(status.output.contains("holds ") && !status.output.contains("history"))
            } else {
                let now = try answers(scene)
                #expect(now == old || now.plan == [])
                #expect(try scene.run("status", "target").code == 0)
            }
        }.expect(0)
        try scene.expectMirrored()
        #expect(try scene.mirror().output.contains("nothing to do"))
    }

    @Test(.needs(.strace))
    func targetThatAnotherRunMadeMeanwhileIsNotWrittenTwice() throws {
        let scene = try MirrorScene(["d": .files(0..<20, "one")], inMemory: true)
        try scene.paused(at: .after("mkdirat", of: "target")) {
            try scene.mirror()
        }.expect(75)
        try scene.expectMirrored()
        #expect(try scene.mirror().output.contains("nothing to do"))
    }

    /// Its lock is that of the old one.
    @Test(.needs(.strace)) func targetThatIsReplacedAtTheLockIsNotWrittenTo() throws {
        let scene = try changingScene()
        try scene.paused(at: .after("flock")) {
            try scene.move("target", to: "was")
            try scene.build([:], at: "target")
        }.expect(75, says: "another directory has just taken this path")
        #expect(try TreeSnapshot(scene.target, withState: true).paths == [])
    }

    // MARK: Readers

    private struct Answers: Equatable {
        var plan: [String]
        var listed: String
        var shown: String
    }

    /// The readers' output for a target at rest.
    private func answers(_ scene: MirrorScene) throws -> Answers {
        Answers(
            plan: try scene.planned().actionLines, listed: try listed(scene).output,
            shown: try scene.run("manifest", "show", "target").output)
    }

    private func listed(_ scene: MirrorScene) throws -> CommandRun {
        try scene.run("manifest", "list", "--null", "target")
    }

    /// The reader stops at each of its calls, while a whole apply runs.
    @Test(
        .needs(.strace),
        arguments: ["plan", "manifest list", "manifest show", "status"])
    func readerOvertakenByAWholeApplyNeverMixes(reader: String) throws {
        let scene = try MirrorScene(
            [
                "edited": .files(0..<5, "old"), "moved": .files(0..<5, "moving"),
                "deep": ["er": .files(0..<3, "x")],
            ],
            inMemory: true)
        // If the history grows, a reader makes more calls each time.
        try scene.mirror("--keep-last", "1")
        let paths = reader == "plan" ? ["--json", "source", "target"] : ["target"]
        let arguments = reader.split(separator: " ").map { String($0) } + paths
        var met = 0
        for (call, name) in [
            ("openat", "target"), ("openat", ".fsync-lite"), ("statx", "journal"), ("statx", "manifest.json"),
            ("openat", "manifest.json"), ("read", "target/.fsync-lite/manifest.json"),
            ("pread64", "target/.fsync-lite/manifest.json"), ("statx", "last-run"), ("statx", "mark"),
            ("openat", "edited"), ("statx", "history"), ("openat", "history"), ("openat", "header.json"),
        ] {
            for number in 1... {
                try scene.append("\(number)", to: "source/edited/file 1")
                let (here, there) = scene.exists("source/moved") ? ("moved", "other") : ("other", "moved")
                try scene.move("source/\(here)", to: "source/\(there)")
                let old = try scene.run(arguments)
                let command = try PausedCommand(
                    arguments, in: scene.directory.path, at: .after(call, of: name, number: number))
                guard try command.waitForPause() else {
                    _ = try command.finish()
                    try scene.mirror()
                    break
                }
                met += 1
                try scene.mirror()
                let run = try command.finish()
                let new = try scene.run(arguments)
                // The age changes.
                let told = [old, new, run].map { $0.output.replacing(/\d+ s ago/, with: "ago") }
                #expect(
                    [6, 75].contains(run.code) || (run.code == 0 && told.dropLast().contains(told[2])),
                    "\(call) of \(name), \(number): exit \(run.code): \(run.errors)\(run.output)")
            }
        }
        #expect(met > 5)
    }

    @Test(
        .needs(.strace),
        arguments: [
            "openat header.json", "openat list.json", "openat manifest.json",
        ])
    func snapshotOvertakenByAnApplyIsPending(moment: String) throws {
        let scene = try MirrorScene(["edited": .files(0..<5, "old")], inMemory: true).mirrored()
        for number in 1...2 {
            try scene.append("\(number)", to: "source/edited/file 1")
            if number == 1 { try scene.mirror() }
        }
        let words = moment.split(separator: " ").map(String.init)
        let command = try scene.paused(
            ["manifest", "list", "--long", "target@latest~1"], at: .after(words[0], of: words[1]))
        try scene.mirror()
        try command.finish().expect(6, says: "target@latest~1: another run has changed it meanwhile")
    }

    /// A directory is read, and has another name when it is looked at again.
    @Test(.needs(.strace))
    func planDuringACommitIsPendingWhateverItMissed() throws {
        let scene = try MirrorScene(["moved": .files(0..<3, "moving"), "z": "z"], inMemory: true).mirrored()
        try scene.move("source/moved", to: "source/elsewhere")
        let plan = try scene.paused(
            ["plan", "source", "target"], at: .after("getdents64", of: "target/moved", number: 2))
        let apply = try scene.paused(at: .after("renameat2", of: "elsewhere"))
        try plan.finish().expect(75, says: "another fsync-lite is writing to this target")
        #expect(try apply.finish().code == 0)
        try scene.expectMirrored()
    }

    /// Without stops, at random moments.
    @Test func readersInALoopBesideAppliesAreConsistent() throws {
        let scene = try scene()
        for round in 0..<8 {
            let oldList = try listed(scene).output
            try change(scene, round)
            let oldPlan = try scene.planned().actionLines
            let running = try RunningCommand(["apply", "source", "target"], in: scene.directory.path)
            var plans: [CommandRun] = []
            var lists: [CommandRun] = []
            while running.isRunning {
                plans.append(try scene.plan("--json"))
                lists.append(try listed(scene))
                let status = try scene.run("status", "target")
                #expect(status.code == 0, "\(status.code): \(status.errors)")
            }
            #expect(try running.finish().code == 0)
            let newList = try listed(scene).output
            for list in lists where ![6, 75].contains(list.code) {
                #expect(list.code == 0, "\(list.code): \(list.errors)")
                #expect(list.output == oldList || list.output == newList, "round \(round)")
            }
            for plan in plans where ![6, 75].contains(plan.code) {
                #expect(plan.code == 0, "\(plan.code): \(plan.errors)")
                let lines = try plan.json().actionLines
                #expect(lines == oldPlan || lines == [], "round \(round)")
            }
            try scene.expectMirrored()
        }
    }
}
