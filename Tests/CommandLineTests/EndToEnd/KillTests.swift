import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("A run that is killed leaves the old tree or the new one")
struct KillTests {
    /// Starts an apply and kills it after some time.
    ///
    /// - Parameter isCommitting: the time begins when the journal exists.
    private func killedApply(_ scene: MirrorScene, after delay: Duration, isCommitting: Bool = false) throws {
        let running = try RunningCommand(["apply", "source", "target"], in: scene.directory.path)
        if isCommitting { while running.isRunning, !scene.exists("target/.fsync-lite/journal") {} }
        let start = ContinuousClock.now
        while ContinuousClock.now - start < delay {}
        running.kill()
        let run = try running.finish()
        #expect(run.code == 0 || run.code == -9, "\(run.errors)")
    }

    @Test func atRandomMomentsOfAnApply() throws {
        let scene = try MirrorScene([
            "edited": .files(0..<100, "old"), "moved": .files(0..<100, "moving"), "flip": ["x": "x"],
            "flop": "f",
        ]).mirrored("--keep-last", "1")
        var random = SplitMix64(seed: 2)
        var (pending, old, new) = (0, 0, 0)
        var longest = Duration.milliseconds(50)
        // Adds rounds until each moment was hit.
        for round in 0..<300 where round < 36 || min(pending, old, new) == 0 {
            // Every kind of change: edits, moved, new and deleted directories, a file and a directory
            // swapped.
            for index in (0..<100).shuffled(using: &random).prefix(60) {
                try scene.append(" \(round)", to: "source/edited/file \(index)")
            }
            let (here, there) = round.isMultiple(of: 2) ? ("moved", "elsewhere") : ("elsewhere", "moved")
            try scene.move("source/\(here)", to: "source/\(there)")
            try scene.build(.files(0..<40, "round \(round)"), at: "source/new \(round)")
            if round > 0 { try scene.remove("source/new \(round - 1)") }
            try scene.swap("source/flip", "source/flop")

            let before = try TreeSnapshot(scene.target)
            let after = try TreeSnapshot(scene.source)
            let isCommitting = !round.isMultiple(of: 3)
            let range = isCommitting ? Duration.milliseconds(12) : longest
            let delay = Duration.microseconds(
                Int.random(in: 0...Int(range / .microseconds(1)), using: &random))
            try killedApply(scene, after: delay, isCommitting: isCommitting)

            let isPending = scene.exists("target/.fsync-lite/journal")
            if isPending {
                pending += 1
                #expect(try scene.plan().code == 6)
                #expect(try scene.run("status", "target").code == 6)
            }
            let goesBack = round.isMultiple(of: 4)
            try scene.run(["recover", "target"] + (goesBack ? ["--back"] : [])).expect(
                0, of: "round \(round)")
            let found = try TreeSnapshot(scene.target)
            if found == before { old += 1 } else { new += 1 }
            let wanted = isPending ? [goesBack ? before : after] : [before, after]
            #expect(
                wanted.contains(found),
                "round \(round), killed after \(delay): \(found.differences(from: after).prefix(9))")

            let time = try ContinuousClock().measure { _ = try scene.mirror() }
            if found == before { longest = max(longest, time) }
            #expect(
                try scene.stateNames() == ["history", "last-run", "manifest.json", "mark"], "round \(round)")
            let kept = try TreeSnapshot(scene.path("target/.fsync-lite/history")).paths.filter {
                !$0.contains("/")
            }
            #expect(kept.count == 1, "round \(round)")
        }
        #expect(pending > 0 && old > 0 && new > 0, "\(pending) pending, \(old) old, \(new) new")
    }

    @Test func applyItselfFinishesWhatWasCutShort() throws {
        let scene = try MirrorScene(["d": .files(0..<150, "one")]).mirrored()
        for round in 0..<6 {
            for index in 0..<150 { try scene.append(" \(round)", to: "source/d/file \(index)") }
            try killedApply(scene, after: .microseconds(round * 1500), isCommitting: true)
            try scene.append("later", to: "source/d/file \(round)")
            try scene.mirror()
        }
    }

    @Test func duringTheFirstApply() throws {
        let scene = try MirrorScene(["d": .files(0..<150, "one"), "e": ["f": .files(0..<50, "two")]])
        var random = SplitMix64(seed: 3)
        let first = try ContinuousClock().measure { _ = try scene.mirror() }
        let whole = try TreeSnapshot(scene.source)
        for round in 0..<10 {
            try scene.remove("target")
            let delay = Duration.microseconds(
                Int.random(in: 0...Int(first / .microseconds(1)), using: &random))
            _ = try killedApply(scene, after: delay)
            // A state that has no file yet may lack its mark. Then it is none.
            if scene.exists("target/.fsync-lite"), try !scene.stateNames().isEmpty {
                try scene.run("recover", "target").expect(0, of: "round \(round)")
                let found = try TreeSnapshot(scene.target)
                #expect(found.paths.isEmpty || found == whole, "round \(round): \(found.paths.prefix(9))")
            }
            try scene.mirror()
            #expect(
                try scene.stateNames() == ["history", "last-run", "manifest.json", "mark"], "round \(round)")
        }
    }

    @Test(.needs(.strace))
    func displacingWithSomethingMissingIs3AndNamesIt() throws {
        let scene = try MirrorScene(["edited": "one", "kept": "k"]).mirrored()
        try scene.append(" two", to: "source/edited")
        try scene.build(["new": "n"], at: "source")
        try scene.paused(at: .after("renameat2", of: "journal")).kill()
        try scene.remove("target/edited")
        try scene.unlocked(["recover", "target"]).expect(6, says: "--displace")
        try scene.run("recover", "target", "--displace").expect(3, says: "edited", "missing")
        #expect(try scene.text("target/new") == "n")
        try scene.mirrorAll()
    }

    /// The time is the source's. A write by another program would have set the present time.
    @Test(.needs(.strace)) func aStagedFileWithATimeInTheFutureIsNoConflict() throws {
        let scene = try MirrorScene(["a": "a"]).mirrored()
        try scene.build(["new": "n"], at: "source")
        try HostCommand.run("touch", "-d", "2100-01-01", scene.path("source/new"))
        try scene.paused(at: .after("renameat2", of: "journal")).kill()
        try scene.unlocked(["recover", "--back", "target"]).expect(0)
        let state = try FileManager.default.subpathsOfDirectory(atPath: scene.path("target/.fsync-lite"))
        #expect(!state.contains { $0.contains("conflicts") }, "\(state)")
    }

    /// One name of a file arrives where another one leaves.
    @Test(.needs(.strace), arguments: [[], ["--back"]])
    func namesOfOneFileAreToldApart(_ direction: [String]) throws {
        let scene = try MirrorScene(["d": ["other": "o"], "file": "one"])
        try scene.directory.makeHardLink("source/d/name", to: "source/file")
        try scene.mirror("--keep-last", "9")
        let wanted = try TreeSnapshot(scene.target)
        try scene.remove("source/d/name")
        try scene.mirror()
        try scene.directory.makeHardLink("source/d/name", to: "source/file")
        try scene.move("source/d", to: "source/e")
        try scene.mirror()
        let before = try TreeSnapshot(scene.target)
        try scene.paused(
            ["snapshot", "restore", "target", "latest~2", "--in-place"],
            at: .after("renameat2", of: "journal")
        ).kill()
        try scene.unlocked(["recover", "target"] + direction).expect(0)
        let after = try TreeSnapshot(scene.target)
        #expect(after.differences(from: direction.isEmpty ? wanted : before) == [])
        try scene.mirror()
        try scene.settle()
    }

    /// The directory is removed while an old and a new entry of it wait. It is made again, both ways.
    @Test(.needs(.strace), arguments: [[], ["--back"]])
    func aDirectoryThatIsMissingIsMadeAnew(_ direction: [String]) throws {
        let scene = try MirrorScene(["d": ["old": "old"], "kept": "k"]).mirrored()
        try scene.remove("source/d/old")
        try scene.build(["new": "new"], at: "source/d")
        try scene.paused(at: .after("renameat2", of: "old")).kill()
        try scene.remove("target/d")
        try scene.unlocked(["recover", "target"] + direction).expect(6)
        try scene.run(["recover", "target", "--displace"] + direction).expect(
            3, says: "target/d: it is missing")
        #expect(
            try scene.text(direction == [] ? "target/d/new" : "target/d/old")
                == (direction == [] ? "new" : "old"))
        try scene.mirrorAll()
    }
}
