import Foundation
import FsyncLite
import TestNeeds
import TestSupport
import Testing

/// If an apply needs the space, snapshots that only the built-in rules keep are removed.
@Suite(.needs(.mounts))
struct GivingWayTests {
    private static let megabyte = 1 << 20

    /// A mirror on a new disk, with a file that has changed completely so many times.
    private func onDisk<Value>(
        _ disk: TestDisk = .tmpfs(options: "size=16m"), applies: Int, _ options: [String] = [],
        _ body: (MirrorScene) throws -> Value
    ) throws -> Value {
        let scene = try MirrorScene(["small": "small"], inMemory: true)
        return try scene.mounted(disk, at: "disk") {
            for round in 0..<applies {
                try change(scene, round)
                let run = try apply(scene, options).expect(0)
                #expect(run.errors == "" || !options.isEmpty, "\(run.errors)")
            }
            return try body(scene)
        }
    }

    /// Writes bytes that no file system can compress.
    private func change(_ scene: MirrorScene, _ round: Int, megabytes: Int = 3) throws {
        var random = SplitMix64(seed: UInt64(round))
        let words = (0..<(megabytes * GivingWayTests.megabyte / 8)).map { _ in random.next() }
        let data = words.withUnsafeBytes { Data($0) }
        try data.write(to: URL(fileURLWithPath: scene.path("source/large")))
    }

    private func apply(_ scene: MirrorScene, _ options: [String] = []) throws -> CommandRun {
        try scene.run(["apply", "source", "disk/target"] + options)
    }

    private func expectMirrored(_ scene: MirrorScene) throws {
        try scene.expectSame("disk/target", as: "source")
    }

    @Test(arguments: [TestDisk.tmpfs(options: "size=16m"), .ext4(megabytes: 18)])
    func theOldestGoesAndTheRunSaysSo(_ disk: TestDisk) throws {
        try onDisk(disk, applies: 5) { scene in
            let before = try scene.snapshots(of: "disk/target")
            #expect(before.count == 6)
            try change(scene, 9)
            let plan = try scene.run("plan", "source", "disk/target", "--json").json()
            let going = plan.texts("gives_way")
            // The tree that the first run found uses no space.
            #expect(going.map { SnapshotName.short($0) } == [before[5], before[4]])
            #expect(
                try scene.run("plan", "source", "disk/target").errors
                    == "fsync-lite: note: to make space, this run will first remove the snapshots: \(before[5]), \(before[4])\n"
            )
            #expect(try scene.snapshots(of: "disk/target") == before)
            let run = try apply(scene, ["--quiet", "--log-file", scene.path("log")]).expect(0)
            #expect(
                run.errors
                    == "fsync-lite: to make space, this run removed the snapshots: \(before[5]), \(before[4])\n"
            )
            #expect(
                try scene.text("log").contains(
                    "; to make space, this run removed the snapshots: \(before[5])"))
            try expectMirrored(scene)
            #expect(try Array(scene.snapshots(of: "disk/target").dropFirst()) == Array(before.prefix(4)))
            #expect(try scene.run("snapshot", "verify", "disk/target").code == 0)
            #expect(try scene.run("undo", "disk/target").code == 0)
        }
    }

    @Test func rulesThatWereGivenNeverGiveWay() throws {
        try onDisk(applies: 5, ["--keep-last", "9"]) { scene in
            try expectRefusedAndKept(scene, megabytes: 3)
        }
    }

    @Test func theLastStepAndWhatHasALabelStay() throws {
        try onDisk(applies: 2) { scene in
            #expect(try scene.run("snapshot", "create", "disk/target", "--label", "x").code == 0)
            try change(scene, 7)
            #expect(try apply(scene).code == 0)
            try change(scene, 8)
            #expect(try apply(scene).code == 0)
            let before = try scene.snapshots(of: "disk/target")
            #expect(before.count == 5)
            // More than the whole space: the run is refused, and nothing is removed.
            try change(scene, 9, megabytes: 11)
            try apply(scene).expect(4)
            #expect(try scene.snapshots(of: "disk/target") == before)
            // The step with the label has only older content.
            try change(scene, 9, megabytes: 5)
            try apply(scene).expect(0)
            let left = try scene.snapshots(of: "disk/target")
            #expect(left.contains(before[2]) && left.contains(before[1]) && !left.contains(before[4]))
            try expectMirrored(scene)
        }
    }

    // MARK: What frees nothing

    /// If a run needs more than can be freed, it is refused at once, and nothing is removed.
    private func expectRefusedAndKept(
        _ scene: MirrorScene, megabytes: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try scene.snapshots(of: "disk/target")
        try change(scene, 9, megabytes: megabytes)
        try apply(scene).expect(4, says: " are needed and ", sourceLocation: sourceLocation)
        #expect(try scene.snapshots(of: "disk/target") == before, sourceLocation: sourceLocation)
    }

    /// It is unknown how much the snapshots behind a label would free. The label's own content remains.
    @Test func whatLiesBehindALabelCountsForNothing() throws {
        try onDisk(applies: 1) { scene in
            #expect(try scene.run("snapshot", "create", "disk/target", "--label", "x").code == 0)
            for round in 2...4 {
                try change(scene, round)
                #expect(try apply(scene).code == 0)
            }
            try expectRefusedAndKept(scene, megabytes: 5)
            #expect(try scene.run("snapshot", "list", "disk/target").output.contains("x"))
        }
    }

    @Test func theLastStepCountsForNothing() throws {
        try onDisk(applies: 2) { scene in try expectRefusedAndKept(scene, megabytes: 12) }
    }

    /// Not even the whole history is large enough, so none of it is removed in vain.
    @Test func noCommandIsPrintedThatDoesNotHelp() throws {
        try onDisk(applies: 2) { scene in
            try change(scene, 9, megabytes: 14)
            let run = try apply(scene)
            #expect(run.code == 4 && run.errors.contains("; its history uses only "), "\(run.errors)")
            #expect(!run.errors.contains("next:"), "\(run.errors)")
            try change(scene, 9, megabytes: 12)
            try apply(scene).expect(says: "next: fsync-lite snapshot prune --keep-last 0")
        }
    }

    @Test func noMoreSnapshotsAreNamedThanNeeded() throws {
        try onDisk(applies: 3) { scene in
            try change(scene, 9, megabytes: 8)
            let refused = try apply(scene, ["--keep-last", "9"]).expect(4)
            let advised = refused.errors.firstMatch(of: #/next: .*snapshot prune --keep-last (\d+) /#)
            let count = try #require(advised?.1)
            #expect(count != "0", "\(refused.errors)")
            #expect(
                refused.errors.contains(
                    "to choose the snapshots to remove: fsync-lite snapshot list disk/target"))
            try scene.run("snapshot", "prune", "disk/target", "--keep-last", String(count)).expect(0)
            try apply(scene, ["--keep-last", "9"]).expect(0)
        }
    }

    /// Two runs have each moved a name of one file into the history. Only both snapshots together free it.
    @Test func aFileWithNamesOfTwoRunsIsPartOfTheHistory() throws {
        try onDisk(applies: 1) { scene in
            try scene.link("source/other", to: "source/large")
            #expect(try apply(scene).code == 0)
            for name in ["other", "large"] {
                try scene.remove("source/\(name)")
                #expect(try apply(scene).code == 0)
            }
            try change(scene, 9, megabytes: 14)
            try apply(scene).expect(says: "frees 3.1 MB of the history")
        }
    }

    /// A saved plan that removes nothing finds a full disk, although old trees could be removed.
    @Test func nothingGoesThatASavedPlanDoesNotName() throws {
        try onDisk(applies: 3) { scene in
            try scene.setMode(0o600, of: "source/large")
            ClockTick.pass()
            #expect(try apply(scene, ["--exchange"]).code == 0)
            try change(scene, 9, megabytes: 2)
            let before = try scene.snapshots(of: "disk/target")
            #expect(try scene.run("plan", "source", "disk/target", "--out", "plan").code == 0)
            try Data(repeating: 1, count: 3_500_000)
                .write(to: URL(fileURLWithPath: scene.path("disk/filler")))
            let run = try scene.run("apply", "--plan", "plan")
            #expect(run.code != 0 && !run.errors.contains("this run removed"), "\(run.errors)")
            #expect(try scene.snapshots(of: "disk/target") == before)
            #expect(try scene.names(in: "disk/.target.fsync-lite/trees").count == 1)
        }
    }

    /// Each file of the history has another name elsewhere, so removing it frees nothing.
    @Test func whatHasANameElsewhereCountsForNothing() throws {
        try onDisk(applies: 4) { scene in
            let history = scene.path("disk/target/.fsync-lite/history")
            try HostCommand.run("cp", "-al", history, scene.path("disk/names"))
            try expectRefusedAndKept(scene, megabytes: 5)
            try scene.remove("disk/names")
            #expect(try apply(scene).code == 0)
            try expectMirrored(scene)
        }
    }

    /// The file is freed with the last of its names, which are in the records of two runs.
    @Test func aFileWithTwoNamesCountsOnce() throws {
        try onDisk(applies: 0) { scene in
            try change(scene, 1, megabytes: 6)
            try HostCommand.run("ln", scene.path("source/large"), scene.path("source/other"))
            #expect(try apply(scene).code == 0)
            for name in ["large", "other"] {
                try scene.remove("source/\(name)")
                #expect(try apply(scene, ["--max-delete", "unlimited"]).code == 0)
            }
            for round in 2...3 {
                try scene.append("\(round)", to: "source/small")
                #expect(try apply(scene).code == 0)
            }
            // Twice its size is not there.
            try expectRefusedAndKept(scene, megabytes: 16)
            try change(scene, 9, megabytes: 12)
            try apply(scene).expect(0, says: "to make space, this run removed the snapshots")
            try expectMirrored(scene)
        }
    }

    /// An object that a recovery moved aside remains in any case.
    @Test func whatWasMovedAsideCountsForNothingAndStays() throws {
        try onDisk(applies: 1) { scene in
            for round in 2...4 {
                try scene.append("\(round)", to: "source/small")
                #expect(try apply(scene).code == 0)
            }
            let history = "disk/target/.fsync-lite/history"
            let aside = try "\(history)/\(scene.names(in: history)[0])/conflicts"
            try scene.build(["0": [:]], at: aside)
            try HostCommand.run("cp", scene.path("source/large"), scene.path("\(aside)/0/theirs"))
            try expectRefusedAndKept(scene, megabytes: 11)
            #expect(try scene.run("snapshot", "prune", "disk/target", "--keep-last", "0").code == 0)
            #expect(scene.exists("\(aside)/0/theirs"))
        }
    }

    /// Beside a record that cannot be read, nothing is removed.
    @Test func besideDamageNothingGoes() throws {
        try onDisk(applies: 5) { scene in
            let history = "disk/target/.fsync-lite/history"
            let names = try scene.names(in: history)
            try scene.append("!", to: "\(history)/\(names[1])/header.json")
            try change(scene, 9)
            try apply(scene).expect(4, says: " are needed and ")
            #expect(try scene.names(in: history) == names)
        }
    }

    /// The source's allocation does not show the content. So the guard allows it, and the disk is full half
    /// way.
    @Test func afterAFullDiskOneStepMoreGoes() throws {
        try onDisk(applies: 5) { scene in
            let before = try scene.snapshots(of: "disk/target")
            let hole = scene.path("source/hole")
            #expect(FileManager.default.createFile(atPath: hole, contents: nil))
            #expect(truncate(hole, off_t(3 * GivingWayTests.megabyte)) == 0)
            try apply(scene, ["--no-sparse"]).expect(
                0, says: "to make space, this run removed the snapshots: \(before[5]), \(before[4])")
            try expectMirrored(scene)
            #expect(try Array(scene.snapshots(of: "disk/target").dropFirst()) == Array(before.prefix(4)))
        }
    }

    /// There is not even an inode for the directory of removed objects.
    @Test func whereNoInodeIsLeft() throws {
        try onDisk(.tmpfs(options: "size=16m,nr_inodes=300"), applies: 0) { scene in
            try scene.build([:], at: "source/d")
            for number in 0..<60 { try scene.build("", at: "source/d/\(number)") }
            #expect(try apply(scene).code == 0)
            try scene.remove("source/d")
            #expect(try apply(scene, ["--max-delete", "unlimited"]).code == 0)
            try scene.append("+", to: "source/small")
            #expect(try apply(scene).code == 0)
            let before = try scene.snapshots(of: "disk/target")
            #expect(before.count == 4)
            var fillers = 0
            while FileManager.default.createFile(atPath: scene.path("disk/\(fillers)"), contents: nil) {
                fillers += 1
            }
            try scene.append("+", to: "source/small")
            let run = try apply(scene).expect(0)
            #expect(
                run.errors
                    == "fsync-lite: to make space, this run removed the snapshots: initial, \(before[2])\n")
            try expectMirrored(scene)
            #expect(try Array(scene.snapshots(of: "disk/target").dropFirst()) == Array(before.prefix(2)))
            #expect(try scene.run("snapshot", "verify", "disk/target").code == 0)
        }
    }

    /// No file system shows how much a quota leaves.
    @Test(.needs(.btrfs)) func aRunThatFailsReportsWhatWent() throws {
        try onDisk(.btrfs, applies: 5) { scene in
            let before = try scene.snapshots(of: "disk/target")
            let tree = try TreeSnapshot(scene.path("disk/target"))
            let disk = scene.path("disk")
            try HostCommand.run("btrfs", "quota", "enable", disk)
            try HostCommand.run("btrfs", "quota", "rescan", "-w", disk)
            try HostCommand.run("btrfs", "qgroup", "limit", "24M", "0/5", disk)
            try Data(repeating: 1, count: 30 * GivingWayTests.megabyte)
                .write(to: URL(fileURLWithPath: scene.path("source/other")))
            let run = try apply(scene, ["--json"]).expect(
                1,
                says:
                    "to make space, this run removed the snapshots: \(before[5]), \(before[4]), \(before[3]), \(before[2])"
            )
            let gone = try run.json().texts("gave_way").map { SnapshotName.short($0) }
            #expect(gone == [before[5], before[4], before[3], before[2]])
            // The last step remains, and can be undone.
            #expect(try scene.snapshots(of: "disk/target") == Array(before.prefix(2)))
            #expect(try TreeSnapshot(scene.path("disk/target")).differences(from: tree) == [])
            #expect(try scene.run("undo", "disk/target").code == 0)
        }
    }

    @Test func aSavedPlanHoldsWhatGoes() throws {
        try onDisk(applies: 5) { scene in
            let before = try scene.snapshots(of: "disk/target")
            try change(scene, 9)
            let saved = ["plan", "source", "disk/target", "--out", "plan"]
            #expect(try scene.run(saved).code == 0)
            #expect(
                try scene.run("plan", "--show", "plan").lines.filter { $0.hasPrefix("removes ") }
                    == ["removes    \(before[5])", "removes    \(before[4])"])
            #expect(try scene.run("snapshot", "prune", "disk/target", "--keep-last", "3").code == 0)
            try scene.run("apply", "--plan", "plan").expect(
                5, says: "to make space, the run would remove other snapshots than the plan says: nothing")
            #expect(try scene.run(saved).code == 0)
            #expect(try scene.run("apply", "--plan", "plan").code == 0)
            try expectMirrored(scene)
        }
    }

    @Test func goingBackNeverMakesRoom() throws {
        try onDisk(applies: 4) { scene in
            let before = try scene.snapshots(of: "disk/target")
            try change(scene, 9)
            try scene.run("snapshot", "restore", "disk/target", "latest~1", "--to", "disk/copy").expect(0)
            let full = try scene.run("snapshot", "restore", "disk/target", "latest~1", "--to", "disk/other")
            #expect([1, 4].contains(full.code), "\(full.errors)")
            #expect(try scene.snapshots(of: "disk/target") == before)
        }
    }

    /// A commit needs space, too, besides its copies.
    @Test(arguments: [3700, 3800, 3900, 3950, 4000, 4050].map { $0 * 1024 })
    func nothingGoesForWhatDoesNotFit(bytes: Int) throws {
        try onDisk(.tmpfs(options: "size=4m"), applies: 1) { scene in
            try scene.remove("source/large")
            for round in 0..<4 {
                try scene.append("\(round)", to: "source/small")
                #expect(try apply(scene, ["--max-delete", "unlimited"]).code == 0)
            }
            let before = try scene.snapshots(of: "disk/target")
            let part = [UInt8](repeating: 1, count: bytes / 10)
            for number in 0..<10 {
                try Data(part).write(to: URL(fileURLWithPath: scene.path("source/part \(number)")))
            }
            let run = try apply(scene)
            #expect(try run.code == 0 || scene.snapshots(of: "disk/target") == before, "\(run.errors)")
            #expect(run.code != 1, "\(run.errors)")
        }
    }

    @Test func theOldTreesOfExchangesGoFirst() throws {
        try onDisk(applies: 1) { scene in
            // A file with new attributes is copied, because the old tree has the only name of the old one.
            try scene.setMode(0o600, of: "source/large")
            // A file changed in the tick in which the exchange begins is protected: it may be another user's.
            ClockTick.pass()
            #expect(try apply(scene, ["--exchange"]).code == 0)
            let trees = try scene.names(in: "disk/.target.fsync-lite/trees")
            #expect(trees.count == 1)
            try change(scene, 3, megabytes: 11)
            let before = try scene.snapshots(of: "disk/target")
            let plan = try scene.run("plan", "source", "disk/target", "--json").json()
            #expect(plan.texts("gives_way") == trees.map { "trees/\($0)" })
            try apply(scene).expect(
                0, says: "to make space, this run removed the snapshots: trees/\(trees[0])\n")
            #expect(try Array(scene.snapshots(of: "disk/target").dropFirst()) == before)
        }
    }

    @Test(.needs(.btrfs))
    func whatIsSharedCountsForNothing() throws {
        let scene = try MirrorScene(["a": "a"], inMemory: true)
        try scene.mounted(.btrfs, at: "disk") {
            for round in 0..<3 {
                try change(scene, round, megabytes: 8)
                #expect(try apply(scene).code == 0)
            }
            let history = scene.path("disk/target/.fsync-lite/history")
            // Makes a second reference to all blocks of the history.
            try HostCommand.run("cp", "-a", "--reflink=always", history, scene.path("disk/copy"))
            try change(scene, 9, megabytes: 28)
            try apply(scene).expect(4)
            try HostCommand.run("rm", "-r", scene.path("disk/copy"))
            try HostCommand.run("sync", "-f", scene.path("disk"))
            try apply(scene).expect(0, says: "to make space, this run removed the snapshots: ")
            try expectMirrored(scene)
        }
    }
}
