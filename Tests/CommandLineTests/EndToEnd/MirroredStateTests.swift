import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("Nothing that was mirrored is a state")
struct MirroredStateTests {
    private static let mark = "user.fsync-lite.state"

    /// A target `source/k` with one snapshot, and `target`, the mirror of its source.
    private func nested() throws -> MirrorScene {
        let scene = try MirrorScene(["own": "1"])
        try scene.build(["a": "1"], at: "content")
        #expect(try scene.run("apply", "content", "source/k").code == 0)
        try scene.append("2", to: "content/a")
        #expect(try scene.run("apply", "content", "source/k").code == 0)
        return scene
    }

    private func mark(_ scene: MirrorScene, _ path: String) -> String {
        let words = ["getfattr", "--only-values", "-n", Self.mark, scene.path(path)]
        return (try? HostCommand.output(words)) ?? ""
    }

    private func unmark(_ scene: MirrorScene, _ path: String) throws {
        try HostCommand.run("setfattr", "-x", Self.mark, scene.path(path))
    }

    /// Every command refuses the state, and says how its owner can claim it.
    private func expectRefused(
        _ scene: MirrorScene, _ target: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try TreeSnapshot(scene.path(target))
        for words in [
            ["status", target], ["recover", target], ["undo", target], ["snapshot", "list", target],
            ["snapshot", "prune", target, "--keep-last", "0"], ["snapshot", "verify", target],
            ["snapshot", "restore", target, "latest", "--to", "elsewhere"], ["plan", "content", target],
            ["apply", "content", target], ["apply", "content", target, "--adopt"],
            ["commit", target, "20260101T000000.000000Z-0000"],
        ] {
            try scene.run(words).expect(
                4, says: "recover --claim", "next: fsync-lite recover --claim \(target)",
                sourceLocation: sourceLocation)
        }
        #expect(
            try TreeSnapshot(scene.path(target)).differences(from: before) == [],
            sourceLocation: sourceLocation)
    }

    @Test(.needs(.tool("getfattr", package: "attr")))
    func aStateThatWasMirroredIsRefusedAndCanBeClaimed() throws {
        let scene = try nested()
        try scene.mirror()
        #expect(mark(scene, "source/k/.fsync-lite") == "state")
        #expect(mark(scene, "target/.fsync-lite") == "state")
        #expect(mark(scene, "target/k/.fsync-lite") == "mirrored")
        try expectRefused(scene, "target/k")
        // A restore brings it as no state.
        #expect(try scene.run("snapshot", "restore", "target", "latest", "--to", "restored").code == 0)
        #expect(mark(scene, "restored/k/.fsync-lite") == "mirrored")
        try expectRefused(scene, "restored/k")
        #expect(try scene.run("snapshot", "restore", "target", "latest", "k", "--to", "single").code == 0)
        try expectRefused(scene, "single/k")
        // The next runs update it.
        try scene.append("3", to: "content/a")
        #expect(try scene.run("apply", "content", "source/k").code == 0)
        try scene.mirror()
        try expectRefused(scene, "target/k")
        // Moved out of the mirror, it is still no state, unless its owner claims it.
        try scene.move("target/k", to: "moved")
        try expectRefused(scene, "moved")
        #expect(try scene.run("recover", "--claim", "moved").code == 0)
        #expect(try scene.run("apply", "content", "moved").code == 0)
        #expect(try scene.run("snapshot", "verify", "moved").code == 0)
    }

    @Test(.needs(.tool("getfattr", package: "attr")))
    func aDirectoryThatIsRenamedToAStateIsMarked() throws {
        let scene = try MirrorScene(["k": ["a": "1"], "work": ["history": [:], "journal": "{}"]]).mirrored()
        try scene.move("source/work", to: "k-state")
        try scene.move("k-state", to: "source/.k.fsync-lite")
        try scene.mirror()
        #expect(mark(scene, "target/.k.fsync-lite") == "mirrored")
        try scene.move("source/.k.fsync-lite", to: "source/k/.fsync-lite")
        try scene.mirror("--exchange")
        #expect(mark(scene, "target/k/.fsync-lite") == "mirrored")
        #expect(try scene.run("undo", "target").code == 0)
        #expect(mark(scene, "target/.k.fsync-lite") == "mirrored")
    }

    @Test(.needs(.tool("setfattr", package: "attr")))
    func theStateOfAnEarlierVersionGetsTheMark() throws {
        let scene = try MirrorScene(["a": "1"]).mirrored()
        try unmark(scene, "target/.fsync-lite")
        #expect(try scene.run("status", "target").code == 0)
        #expect(mark(scene, "target/.fsync-lite") == "")
        try scene.mirror()
        #expect(mark(scene, "target/.fsync-lite") == "state")
        // The same beside a target.
        try scene.append("2", to: "source/a")
        try scene.mirror("--exchange")
        try unmark(scene, ".target.fsync-lite")
        #expect(try scene.run("undo", "target").code == 0)
        #expect(mark(scene, ".target.fsync-lite") == "state")
    }

    @Test(.needs(.tool("setfattr", package: "attr")))
    func aStateWithoutMarkIsRefusedInTheTreeOfAnotherTarget() throws {
        let scene = try nested()
        try scene.mirror()
        // As an earlier version mirrored it.
        try unmark(scene, "target/k/.fsync-lite")
        try expectRefused(scene, "target/k")
        try scene.run("status", "target/k").expect(says: "out of that target")
        // Its documents name no object of this directory.
        try scene.move("target/k", to: "moved")
        try expectRefused(scene, "moved")
    }

    @Test(.needs(.tool("setfattr", package: "attr")))
    func aCopyWithoutAttributesIsRefused() throws {
        let scene = try MirrorScene(["a": "1"])
        try scene.build(["a": "1"], at: "content")
        try scene.mirror()
        try HostCommand.run("cp", "-r", scene.target, scene.path("copy"))
        try expectRefused(scene, "copy")
        // With its objects it is followed.
        try HostCommand.run("cp", "-a", scene.target, scene.path("whole"))
        #expect(try scene.run("status", "whole").code == 0)
        #expect(try scene.run("apply", "source", "whole").code == 0)
    }

    @Test func aRunThatWasKilledAsItBeganAStateIsNoObstacle() throws {
        let scene = try MirrorScene(["a": "1"])
        try scene.build([".fsync-lite": .directory([:], mode: 0o700, modified: nil)], at: "target")
        try scene.mirror()
    }

    // MARK: Targets within targets

    @Test func noTargetIsMadeInTheTreeOfAnother() throws {
        let scene = try MirrorScene(["d": ["a": "1"]]).mirrored()
        for target in ["target/d", "target/new", "target/new/deeper"] {
            try scene.run("apply", "source/d", target, "--create-parents", "--adopt").expect(
                4, says: "is inside the target")
        }
        try scene.expectMirrored()
    }

    @Test func aTargetInTheTreeOfAnotherIsLeftAlone() throws {
        let scene = try MirrorScene(["own": "1"])
        try scene.build(["a": "1"], at: "content")
        try scene.build([:], at: "target")
        #expect(try scene.run("apply", "content", "target/d/k", "--create-parents").code == 0)
        let before = try TreeSnapshot(scene.path("target/d/k"))
        try scene.apply("--adopt").expect(3, says: "d/k: it is another target")
        #expect(try scene.text("target/own") == "1")
        // Also if the source has an entry of this name, and if excluded files are deleted.
        try scene.build(["k": ["b": "2"]], at: "source/d")
        for options in [[], ["--delete-excluded", "--exclude", "k"], ["--checksum"]] {
            let run = try scene.run(["apply", "source", "target"] + options)
            #expect(run.code == 3 && !run.output.contains("k/b"), "\(options): \(run.output) \(run.errors)")
        }
        #expect(try TreeSnapshot(scene.path("target/d/k")).differences(from: before) == [])
        try scene.apply("--exchange").expect(4, says: "another target")
        // It is followed, with a note.
        try scene.append("2", to: "content/a")
        try scene.run("apply", "content", "target/d/k").expect(0, says: "is inside another one")
        #expect(try scene.run("undo", "target/d/k").code == 0)
        // With the option it is moved into the history.
        try scene.apply("--delete-targets", "--max-delete", "unlimited").expect(0)
        #expect(try scene.text("target/d/k/b") == "2" && !scene.exists("target/d/k/.fsync-lite"))
        // It comes back unchanged.
        try scene.run("undo", "target").expect(0)
        #expect(try scene.run("undo", "target/d/k").code == 0)
    }

    // MARK: Names

    @Test(arguments: [
        ".m.fsync-lite", ".m.fsync-lite-trees", "x/.fsync-lite/y", ".M.Fsync-Lite", ".fsync-l\u{AD}ite",
    ])
    func noTargetIsMadeUnderAReservedName(name: String) throws {
        let scene = try MirrorScene(["a": "1"])
        try scene.run("apply", "source", name, "--create-parents").expect(4, says: "state of a target")
        #expect(!scene.exists(name))
        try scene.mirror()
        try scene.run("snapshot", "restore", "target", "latest", "--to", name).expect(4)
        #expect(!scene.exists(name))
    }

    @Test(.needs(.root), .needs(.otherUser))
    func theDirectoryOfAnotherUserIsNoState() throws {
        let scene = try MirrorScene(["a": "1"])
        try HostCommand.run("chmod", "1777", scene.directory.path)
        for name in [".target.fsync-lite", ".fsync-lite"] {
            try scene.build(["journal": "{}"], at: name)
            OrdinaryUser.own(scene.path(name))
        }
        try scene.mirror()
        try scene.append("2", to: "source/a")
        try scene.mirror()
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.run("snapshot", "list", "target").code == 0)
        try scene.run("snapshot", "restore", "target", "latest", "--to", "restored").expect(0)
    }

    @Test(.needs(.exfat))
    func aDiskWithoutAttributesGetsNoEntryWithTheNameOfAState() throws {
        let scene = try MirrorScene(
            ["k": [".fsync-lite": ["journal": "{}"], "a": "1"], ".K.Fsync-Lite": ["journal": "{}"]],
            inMemory: true)
        try scene.mounted(.exfat, at: "target") {
            let run = try scene.run("apply", "source", "target/m", "--weak-commit").expect(3)
            for name in ["k/.fsync-lite", ".K.Fsync-Lite"] {
                #expect(
                    run.errors.contains("\(name): ") && !scene.exists("target/m/\(name)"), "\(run.errors)")
            }
            #expect(try scene.text("target/m/k/a") == "1")
            #expect(try scene.run("apply", "source", "target/m", "--weak-commit").code == 3)
        }
    }

    @Test(.needs(.mounts))
    func anotherSpellingOfTheNameIsRefusedWhereItIsTheSame() throws {
        let disk = TestDisk.ext4With(feature: "casefold")
        guard disk.canMount else { return }
        let scene = try MirrorScene([".FSYNC-LITE": ["journal": "{}"], "a": "1"], inMemory: true)
        try scene.mounted(disk, at: "target") {
            try scene.build([:], at: "target/m")
            guard HostCommand.works("chattr", "+F", scene.path("target/m")) else { return }
            try scene.run("apply", "source", "target/m").expect(4, says: "the target can have only one of")
        }
    }

    // MARK: Keys

    @Test(
        .needs(.tool("setfattr", package: "attr")),
        arguments: ["--append-only", "--read-only", "--restrict ."])
    func aKeyFollowsNoStateWithoutMark(key: String) throws {
        let scene = try MirrorScene(["a": "1"]).mirrored()
        try HostCommand.run("chmod", "700", scene.directory.path)
        let far = try FarMachine(serving: key, in: scene.directory.path)
        let options = far.options
        func there(_ words: String...) throws -> CommandRun {
            try scene.here(words + ["far:target"] + options)
        }
        #expect(try there("status").code == 0)
        try unmark(scene, "target/.fsync-lite")
        for words in [["status"], ["recover"], ["undo"], ["snapshot", "list"], ["recover", "--claim"]] {
            try scene.here(words + ["far:target"] + options).expect(4, of: "\(key) \(words)")
        }
        #expect(try there("status").errors.contains("recover --claim target"))
        #expect(mark(scene, "target/.fsync-lite") == "")
        #expect(try scene.run("recover", "--claim", "target").code == 0)
        #expect(try there("status").code == 0)
        withExtendedLifetime(far) {}
    }

    @Test func anAppendOnlyKeyReplacesNoFileThatNoHistoryHas() throws {
        let scene = try MirrorScene(["notes": "evil"]).mirrored()
        try scene.build(["notes": "owner's"], at: "mine")
        let far = try FarMachine(serving: "--append-only", in: scene.directory.path)
        try scene.here(
            ["snapshot", "restore", "far:target", "latest", "notes", "--overwrite", "--to", "far:mine"]
                + far.options
        ).expect(4, says: "append-only")
        #expect(try scene.text("mine/notes") == "owner's")
    }

    @Test func aRestorePutsNoStateBesideATarget() throws {
        let scene = try MirrorScene([".db.fsync-lite": ["journal": "{}"]]).mirrored()
        try scene.build(["a": "1"], at: "content")
        #expect(try scene.run("apply", "content", "group/db", "--create-parents").code == 0)
        try scene.run("snapshot", "restore", "target", "latest", ".db.fsync-lite", "--to", "group").expect(
            4, says: "for the state of a target beside it")
        #expect(!scene.exists("group/.db.fsync-lite"))
    }

    @Test func whatStandsWhereTheStateGoesIsNamedBefore() throws {
        let scene = try MirrorScene(["a": "1"]).mirrored()
        try scene.append("2", to: "source/a")
        try HostCommand.run("ln", "-s", "/etc", scene.path(".target.fsync-lite"))
        try scene.plan("--exchange").expect(4, says: ".target.fsync-lite")
        try scene.mirror()
    }

    @Test(.needs(.root), .needs(.otherUser))
    func aTargetIsNotMadeBehindTheSymlinkOfAnotherUser() throws {
        let scene = try MirrorScene(["a": "1"])
        try scene.build(["empty": [:]], at: "closed")
        try HostCommand.run("chmod", "1777", scene.directory.path)
        for (link, target) in [("target", "target"), ("way", "way/empty")] {
            let goal = link == "way" ? "closed" : "closed/empty"
            try HostCommand.run("ln", "-s", scene.path(goal), scene.path(link))
            try HostCommand.run("chown", "-h", "65534", scene.path(link))
            try scene.run("apply", "source", target).expect(4, says: "symlink belongs to user 65534")
            #expect(!scene.exists("closed/empty/a"))
            // Root's symlink is followed.
            try HostCommand.run("chown", "-h", "0", scene.path(link))
            #expect(try scene.run("apply", "source", target).code == 0)
            try HostCommand.run("rm", "-r", scene.path("closed/empty"), scene.path(link))
            try scene.build([:], at: "closed/empty")
        }
    }
}

@Suite("The lock of a target")
struct TargetLockTests {
    @Test(.needs(.root), .needs(.otherUser), .needs(.tool("flock", package: "util-linux")))
    func anotherUserDoesNotHoldIt() throws {
        let scene = try MirrorScene(["a": "1"])
        try HostCommand.run("chmod", "755", scene.directory.path)
        try scene.mirror()
        try scene.append("2", to: "source/a")
        // If a program's user may not read it, its directory in /proc belongs to root.
        let flock = try HostCommand.output("sh", "-c", "command -v flock").trimmingCharacters(in: .newlines)
        for mode in ["755", "711"] {
            let program = scene.path("flock-\(mode)")
            try HostCommand.run("install", "-m", mode, flock, program)
            // One pipe shows that the holder has the lock. The holder ends when the other is closed.
            let (ready, gate) = (scene.path("ready-\(mode)"), scene.path("gate-\(mode)"))
            try HostCommand.run("mkfifo", "-m", "666", ready, gate)
            let process = try SpawnedProcess(
                OrdinaryUser.prefix + [
                    program, "--shared", scene.target, "sh", "-c", "echo > \"$0\"; read line < \"$1\"; :",
                    ready, gate,
                ])
            _ = try FileHandle(forReadingFrom: URL(fileURLWithPath: ready)).readToEnd()
            let opened = try FileHandle(forWritingTo: URL(fileURLWithPath: gate))
            try scene.apply().expect(0, says: "another user")
            #expect(try scene.run("undo", "target").code == 0)
            try opened.close()
            #expect(process.wait() == 0)
        }
    }
}
