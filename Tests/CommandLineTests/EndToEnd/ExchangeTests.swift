import Glibc
import TestNeeds
import TestSupport
import Testing

@Suite("An exchange: who reads the target sees one whole tree")
struct ExchangeTests {

    /// A mirror made by an exchange, and then a change of every kind.
    private func changedScene() throws -> MirrorScene {
        let time = TreeTime(1_600_000_000, 7)
        let scene = try MirrorScene(
            [
                "edited": "one", "stays": .file("stays", modified: time), "mode": "two", "one": "linked",
                "gone": ["moves out": "three", "goes": "four"],
                "moved": ["with": .file("five", modified: time), "mode": "six"], "link": .symlink("stays"),
                "flip": ["x": "x"], "flop": "f",
            ], inMemory: true)
        try scene.link("source/two", to: "source/one")
        try scene.mirror("--exchange")
        try scene.append(" more", to: "source/edited")
        for name in ["mode", "moved/mode"] { try scene.setMode(0o600, of: "source/\(name)") }
        try scene.move("source/gone/moves out", to: "source/out")
        try scene.remove("source/gone")
        try scene.move("source/moved", to: "source/elsewhere")
        try scene.build(["deep": ["new": "seven"]], at: "source/new")
        try scene.swap("source/flip", "source/flop")
        try scene.setMode(0o700, of: "source/elsewhere")
        try scene.link("source/elsewhere/three", to: "source/one")
        return scene
    }

    /// Stops the command after each of its renames, until `body` says that it is over.
    private func renames(
        of arguments: [String], in scene: MirrorScene, _ body: () throws -> Void
    ) throws -> CommandRun {
        let command = try PausedCommand(arguments, in: scene.directory.path, at: .every("renameat2"))
        while try command.waitForPause() {
            try body()
            command.resume()
        }
        return try command.finish()
    }

    /// Without it, a mixture shows.
    @Test(.needs(.strace), arguments: [["--exchange"], []])
    func oneTreeAfterEveryRename(options: [String]) throws {
        let scene = try changedScene()
        let (old, new) = (try TreeSnapshot(scene.target), try TreeSnapshot(scene.source))
        var seen: [TreeSnapshot] = []
        try renames(of: ["apply", "source", "target"] + options, in: scene) {
            seen.append(try TreeSnapshot(scene.target))
        }.expect(0)
        #expect(seen.allSatisfy { $0 == old || $0 == new } == !options.isEmpty)
        #expect(options.isEmpty || seen.contains(old) && seen.contains(new))
        try scene.expectMirrored()
    }

    @Test func whoHasOpenedTheOldRootReadsTheOldTree() throws {
        let scene = try changedScene()
        let old = try TreeSnapshot(scene.target)
        let root = open(scene.target, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(root) }
        try scene.mirror("--exchange")
        #expect(try TreeSnapshot("/proc/self/fd/\(root)/.") == old)
        try scene.append(" and more", to: "source/edited")
        try scene.mirror("--exchange")
        #expect(try TreeSnapshot("/proc/self/fd/\(root)/.") == old)
    }

    @Test(.needs(.strace), arguments: [true, false])
    func killedAtAnyRenameItIsOneTreeAndStaysOne(goesBack: Bool) throws {
        var number = 0
        var hasBeenPending = false
        while true {
            number += 1
            let scene = try changedScene()
            let (old, new) = (try TreeSnapshot(scene.target), try TreeSnapshot(scene.source))
            do {
                let command = try PausedCommand(
                    ["apply", "source", "target", "--exchange"], in: scene.directory.path,
                    at: .after("renameat2", number: number))
                guard try command.waitForPause() else { break }
            }
            let found = try TreeSnapshot(scene.target)
            #expect(found == old || found == new, "rename \(number)")
            let isPending = scene.exists(".target.fsync-lite/journal")
            #expect(try scene.run("status", "target").code == (isPending ? 6 : 0))
            try scene.run(["recover", "target"] + (goesBack ? ["--back"] : [])).expect(0)
            if isPending {
                hasBeenPending = true
                #expect(try TreeSnapshot(scene.target) == (goesBack ? old : new), "rename \(number)")
            }
            try scene.mirror(number.isMultiple(of: 2) ? "--checksum" : "--exchange")
            #expect(try scene.mirror().output.contains("nothing to do"))
        }
        #expect(hasBeenPending)
    }

    /// The state moves, which moves the time of the root.
    @Test(
        .needs(.strace), arguments: [true, false], [[], ["--back"]])
    func killedWhileTheStateMovesTheRootKeepsItsTime(isBack: Bool, options: [String]) throws {
        var number = 0
        while true {
            number += 1
            let scene = try MirrorScene([:], inMemory: true)
            try scene.build(["f": "1"], at: "source")
            try scene.setTime(TreeTime(1_600_000_000, 7), of: "source")
            try scene.mirror(isBack ? "--exchange" : "--checksum")
            try scene.append("2", to: "source/f")
            #expect(number < 99)
            let run = try scene.here(
                ["apply", "source", "target", isBack ? "--checksum" : "--exchange"],
                under: Strace.killing(at: "utimensat", number: number))
            if run.code == 0 { break }
            #expect(try scene.run(["recover", "target"] + options).code == 0)
            #expect(try scene.status("target").st_mtim.tv_sec == 1_600_000_000, "\(number)")
        }
    }

    @Test func aRenamedTargetLeadsToItsState() throws {
        let scene = try MirrorScene(["a": "one"]).mirrored("--exchange")
        try scene.move("target", to: "other")
        for verb in ["status", "undo", "recover"] {
            try scene.run(verb, "other").expect(66, says: ".target.fsync-lite was not. Rename the state, too")
        }
        let run = try scene.run("apply", "source", "other").expect(4, says: ".target.fsync-lite")
        #expect(!run.errors.contains("--adopt"))
        try scene.move(".target.fsync-lite", to: ".other.fsync-lite")
        #expect(try scene.run("status", "other").code == 0)
        #expect(try scene.run("apply", "source", "other").output.contains("nothing to do"))
    }

    @Test func theStateGoesBesideTheTargetAndBack() throws {
        let scene = try MirrorScene(["a": "one", "d": ["b": "two"]], inMemory: true).mirrored()
        for round in 0..<4 {
            let exchanges = round.isMultiple(of: 2)
            try scene.append(" \(round)", to: "source/a")
            try scene.apply(exchanges ? "--exchange" : "--checksum").expect(0)
            try scene.expectMirrored()
            #expect(scene.exists(".target.fsync-lite") == exchanges)
            #expect(scene.exists("target/.fsync-lite") != exchanges)
            for command in [["status"], ["manifest", "show"], ["recover"]] {
                try scene.run(command + ["target"]).expect(0)
            }
            #expect(try scene.plan("--exit-code").code == 0)
        }
    }

    /// A user who deploys by an exchange also rolls back by one.
    @Test(.needs(.strace), arguments: ["undo", "restore"]) func oneTreeAfterEveryRenameOfTheWayBack(
        _ way: String
    ) throws {
        let scene = try changedScene()
        let old = try TreeSnapshot(scene.target)
        try scene.mirror("--exchange")
        let new = try TreeSnapshot(scene.target)
        let back =
            way == "undo" ? ["undo", "target"] : ["snapshot", "restore", "target", "latest~1", "--in-place"]
        for wanted in [old, new] {
            var seen: [TreeSnapshot] = []
            let run = try renames(of: back, in: scene) { seen.append(try TreeSnapshot(scene.target)) }
            run.expect(0)
            #expect(seen.contains(old) && seen.contains(new) && seen.allSatisfy { $0 == old || $0 == new })
            #expect(try TreeSnapshot(scene.target).differences(from: wanted) == [])
            #expect(scene.exists(".target.fsync-lite") && !scene.exists("target/.fsync-lite"))
            try scene.run("snapshot", "verify", "target").expect(0)
        }
        try scene.mirror("--exchange")
    }

    @Test func optionsDecideOverTheLastApply() throws {
        let scene = try changedScene()
        let old = try TreeSnapshot(scene.target)
        try scene.mirror("--exchange")
        // A run without changes is not a run of another kind.
        try scene.mirror()
        try scene.run("undo", "target", "--no-exchange").expect(0)
        #expect(scene.exists("target/.fsync-lite"))
        #expect(try TreeSnapshot(scene.target).differences(from: old) == [])
        // The last run was still an exchange.
        try scene.run("undo", "target").expect(0)
        #expect(!scene.exists("target/.fsync-lite"))
        try scene.append("more", to: "source/edited")
        try scene.mirror()
        try scene.run("undo", "target").expect(0)
        #expect(scene.exists("target/.fsync-lite"))
        try scene.run("undo", "target", "--exchange").expect(0)
        #expect(!scene.exists("target/.fsync-lite"))
        try scene.expectMirrored()
    }

    @Test(.needs(.strace), arguments: 1...9) func aWayBackThatIsKilledIsOneTree(renames: Int) throws {
        let scene = try changedScene()
        let old = try TreeSnapshot(scene.target)
        try scene.mirror("--exchange")
        let new = try TreeSnapshot(scene.target)
        do {
            let command = try PausedCommand(
                ["undo", "target"], in: scene.directory.path, at: .after("renameat2", number: renames))
            guard try command.waitForPause() else { return }
        }
        let found = try TreeSnapshot(scene.target)
        #expect(found == old || found == new)
        try scene.run("recover", "target").expect(0)
        try scene.run("snapshot", "verify", "target").expect(0)
        let steps = try scene.snapshots().count
        for (step, tree) in [(steps == 4 ? 1 : 0, new), (steps == 4 ? 0 : 1, old)] {
            try scene.run("snapshot", "restore", "target", "latest~\(step)", "--to", "copy\(step)").expect(0)
            #expect(try TreeSnapshot(scene.path("copy\(step)")).differences(from: tree) == [])
        }
    }

    /// A target that can no longer be exchanged.
    @Test(.needs(.otherUser)) func aRefusedWayBackNamesTheOtherOne() throws {
        let scene = try MirrorScene(["a": "one"], as: .ordinary)
        try scene.build(["parent": [:]], at: "p")
        try scene.run("apply", "source", "p/parent/target", "--exchange").expect(0)
        try scene.append("more", to: "source/a")
        try scene.run("apply", "source", "p/parent/target", "--exchange").expect(0)
        try scene.setMode(0o500, of: "p/parent")
        for arguments in [["undo", "p/parent/target", "--dry-run"], ["undo", "p/parent/target"]] {
            try scene.run(arguments).expect(4, says: "--no-exchange\n")
        }
        try scene.setMode(0o700, of: "p/parent")
        #expect(try scene.text("p/parent/target/a") == "onemore")
        try scene.run("undo", "p/parent/target").expect(0)
        #expect(try scene.text("p/parent/target/a") == "one")
    }

    @Test func whatIsUnchangedIsTheSameObjectAndNothingIsReadAgain() throws {
        let scene = try changedScene()
        let kept = try TreeSnapshot(scene.target).inode("stays")
        let inode = try TreeSnapshot(scene.target).inode("mode")
        try scene.link("other name", to: "target/mode")
        try scene.mirror("--exchange")
        #expect(try TreeSnapshot(scene.target).inode("stays") == kept)
        // A foreign name of an object still has the old attributes.
        #expect(try TreeSnapshot(scene.target).inode("mode") != inode)
        #expect(try TreeSnapshot(scene.directory.path)["other name"]?.mode != 0o600)
        for _ in 0..<2 { #expect(try scene.mirror("--exchange").output.contains("nothing to do")) }
    }

    @Test func aSecretEditAfterAnExchangeIsCaught() throws {
        let scene = try changedScene()
        for round in 0..<4 {
            try scene.append("\(round)", to: "source/edited")
            try scene.mirror("--exchange")
            try scene.editInSecret("target/stays", "STAYS")
            if round > 1 { try scene.apply(round == 2 ? "--exchange" : "--checksum").expect(0) }
            try scene.mirror("--exchange")
            #expect(try scene.text("target/stays") == "stays")
        }
    }

    /// The undo first finds a name without a record, and links it.
    @Test func aSecretEditUnderANewNameIsCaughtAfterAnUndo() throws {
        let scene = try MirrorScene(["a": "one", "d": ["f": "stays"]], inMemory: true)
        try scene.link("source/d/h", to: "source/d/f")
        try scene.mirror("--exchange")
        try scene.append("more", to: "source/a")
        try scene.mirror("--exchange")
        try scene.move("target/d/f", to: "target/d/e")
        try scene.editInSecret("target/d/h", "STAYS")
        #expect([0, 3].contains(try scene.run("undo", "target").code))
        try scene.mirror()
        #expect(try scene.text("target/d/h") == "stays")
    }

    @Test func theStateOfAnotherDirectoryIsRefused() throws {
        let scene = try changedScene()
        try scene.move("target", to: "aside")
        for _ in 0..<2 {
            for command in ["apply", "plan"] {
                try scene.run(command, "source", "target", "--adopt").expect(4, says: ".target.fsync-lite")
            }
            if !scene.exists("target") { try scene.build(["theirs": "kept"], at: "target") }
        }
        try scene.remove("target")
        try scene.move("aside", to: "target")
        try scene.mirror("--exchange")
    }

    @Test(.needs(.strace))
    func whatArrivesAtTheLastMomentIsKept() throws {
        let scene = try changedScene()
        try scene.paused(["apply", "source", "target", "--exchange"], at: .after("fallocate")) {
            try scene.build(["late": "theirs"], at: "target/gone")
        }.expect(0)
        try scene.expectMirrored()
        try scene.mirror("--exchange")
        let state = try TreeSnapshot(scene.path(".target.fsync-lite"))
        #expect(state.entries.values.contains { $0.content == Array("theirs".utf8) })
    }

    @Test(.needs(.strace))
    func whatArrivesBeforeThatStopsIt() throws {
        let scene = try changedScene()
        let old = try TreeSnapshot(scene.target)
        try scene.paused(["apply", "source", "target", "--exchange"], at: .after("syncfs", number: 2)) {
            try scene.build(["late": "theirs"], at: "target/gone")
        }.expect(1, says: "target/gone")
        #expect(try scene.text("target/gone/late") == "theirs")
        try scene.remove("target/gone/late")
        #expect(try TreeSnapshot(scene.target).paths == old.paths)
        try scene.mirror("--exchange")
    }

    // MARK: Refusals

    @Test(.needs(.mounts), arguments: ["target", "target/d", "target/d/excluded"])
    func whereSomethingIsMountedItIsRefused(place: String) throws {
        let scene = try MirrorScene(["a": "one", "d": ["b": "two"]]).mirrored()
        try scene.build(["excluded": [:]], at: "target/d")
        try scene.append("more", to: "source/a")
        try TestDisk.tmpfs(options: "size=1m").mounted(at: scene.path(place)) {
            let before = try scene.wholeTarget()
            try scene.apply("--exchange", "--adopt", "--exclude", "excluded").expect(4, says: "mount")
            #expect(
                try scene.wholeTarget().differences(from: before).allSatisfy { $0.contains(".fsync-lite") })
            #expect(!scene.exists(".target.fsync-lite"))
        }
    }

    @Test func newTargetWithTooLongANameIsRefused() throws {
        let scene = try MirrorScene(["a": "a"])
        for (length, code) in [(237, 0), (238, 4)] as [(Int, Int32)] {
            let name = String(repeating: "x", count: length)
            try scene.run("apply", "source", name, "--exchange").expect(code)
            #expect(scene.exists(name) == (length == 237))
        }
    }
}
