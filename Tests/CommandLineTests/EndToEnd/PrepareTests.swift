import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("An apply that is prepared, and committed later")
struct PrepareTests {
    private static let tree: TreeLiteral = [
        "a": "one", "d": ["x": "x", "y": "y"], "gone": ["deep": ["z": "z"], "w": "w"], "kept": ["k": "k"],
        "stays": "s", "type": "t",
    ]

    /// A mirror, and changes of every kind in its source.
    private func scene() throws -> MirrorScene {
        let scene = try MirrorScene(Self.tree)
        try scene.directory.makeHardLink("source/kept/link", to: "source/stays")
        try scene.mirror()
        try change(scene)
        return scene
    }

    private func change(_ scene: MirrorScene) throws {
        try scene.append("+", to: "source/a")
        try scene.move("source/d", to: "source/moved")
        try scene.remove("source/gone")
        try scene.remove("source/type")
        try scene.build(["new": ["n": "n"], "type": ["in": "it"]], at: "source")
        try scene.append("+", to: "source/kept/k")
        try scene.setMode(0o600, of: "source/stays")
    }

    private func prepare(
        _ scene: MirrorScene, _ options: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        let run = try scene.run(["apply", "source", "target", "--prepare"] + options).expect(
            0, sourceLocation: sourceLocation)
        return run.output.trimmingCharacters(in: .newlines)
    }

    /// A commit and its trial are refused with each of these paths, and nothing is written.
    private func expectStale(
        _ scene: MirrorScene, _ id: String, _ paths: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try scene.wholeTarget()
        for options in [["--dry-run"], [], ["--json"]] {
            let run = try scene.run(["commit", "target", id] + options).expect(
                5, sourceLocation: sourceLocation)
            for path in paths {
                #expect(
                    run.errors.contains("refused: \(path) "), "\(run.errors)",
                    sourceLocation: sourceLocation)
            }
            if options == ["--json"], !paths.isEmpty {
                #expect(try run.json().text("outcome") == "refused", sourceLocation: sourceLocation)
            }
        }
        #expect(try scene.wholeTarget().touched(since: before) == [], sourceLocation: sourceLocation)
    }

    private func commit(
        _ scene: MirrorScene, _ id: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try scene.run("commit", "target", id).expect(0, sourceLocation: sourceLocation)
        try scene.expectMirrored(sourceLocation: sourceLocation)
    }

    // MARK: What it does

    @Test(.needs(.root)) func targetKeepsItsTreeUntilTheCommit() throws {
        let scene = try scene()
        let planned = try scene.planned()
        let old = try TreeSnapshot(scene.target)
        let prepared = try scene.run("apply", "--prepare", "source", "target", "--json").json()
        #expect(prepared.text("outcome") == "prepared")
        let id = try #require(prepared.text("transaction"))
        #expect(try TreeSnapshot(scene.target).touched(since: old) == [])
        try scene.run("commit", "--dry-run", "target", id).expect(0, prints: "to create")
        #expect(try TreeSnapshot(scene.target).touched(since: old) == [])
        let status = try scene.run("status", "target", "--json").json()
        #expect(status.text("prepared") == id)
        #expect(try scene.run("status", "target").output.contains("prepared   \(id), of "))

        let report = try scene.run("commit", "target", id, "--json").json()
        #expect(report.text("outcome") == "committed" && report.text("source") == "\(scene.source)")
        #expect(report.actionLines == planned.actionLines && prepared.actionLines == planned.actionLines)
        try scene.expectMirrored()
        #expect(try scene.stateNames() == ["history", "last-run", "manifest.json", "mark"])
        #expect(
            try scene.status("target/stays").st_ino == scene.status("target/kept/link").st_ino)
        try scene.settle()
        #expect(try scene.run("snapshot", "verify", "target").code == 0)
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try TreeSnapshot(scene.target).differences(from: old) == [])
    }

    @Test func firstApply() throws {
        let scene = try MirrorScene(Self.tree, inMemory: true)
        let id = try prepare(scene)
        #expect(try TreeSnapshot(scene.target).paths.isEmpty)
        try commit(scene, id)
        try scene.mirror()
    }

    /// A script commits the id that every host has printed.
    @Test func nothingToDoHasAnIDThatChangesNothing() throws {
        let scene = try MirrorScene(Self.tree, inMemory: true).mirrored()
        let id = try prepare(scene)
        #expect(id.hasPrefix("unchanged-"))
        let before = try scene.wholeTarget()
        for _ in 0..<2 {
            let run = try scene.run("commit", "target", id)
            #expect(run.code == 0 && run.output.hasPrefix("nothing to do; 12 unchanged"), "\(run.output)")
            #expect(try scene.run("abandon", "target", id).output == "nothing to abandon\n")
        }
        #expect(try scene.wholeTarget().touched(since: before) == [])
        try change(scene)
        try scene.mirror()
        try expectStale(scene, id)
    }

    @Test func aCommitWhoseAnswerWasLostCanBeAskedForAgain() throws {
        let scene = try scene()
        let id = try prepare(scene)
        try commit(scene, id)
        try scene.run("commit", "target", id).expect(0, says: "committed already")
        try scene.run("abandon", "target", id).expect(5, says: "fsync-lite undo")
        #expect(try scene.run("undo", "target").code == 0)
        let undone = try scene.run("abandon", "target", id)
        #expect(undone.code == 5 && !undone.errors.contains("fsync-lite undo"), "\(undone.errors)")
        try scene.append("+", to: "source/a")
        try scene.mirror()
        try expectStale(scene, id)
    }

    @Test func abandonedLeavesNothing() throws {
        let scene = try scene()
        let (before, state) = (try TreeSnapshot(scene.target), try scene.stateNames())
        let id = try prepare(scene)
        #expect(try scene.run("abandon", "target", "20261121T090000.123456Z-3f2a").code == 5)
        #expect(try scene.run("abandon", "target", id).code == 0)
        #expect(try TreeSnapshot(scene.target).touched(since: before) == [])
        #expect(try scene.stateNames() == state)
        try expectStale(scene, id)
        #expect(try scene.run("abandon", "target", id).code == 5)

        try scene.remove("target")
        let first = try prepare(scene)
        #expect(try scene.run("abandon", "target", first).code == 0)
        #expect(try scene.names(in: "target") == [])
        try scene.mirror()
    }

    @Test func aLaterRunTakesItOver() throws {
        let scene = try scene()
        let first = try prepare(scene)
        try scene.append("+", to: "source/a")
        let prepared = try scene.run("apply", "--prepare", "source", "target")
        #expect(
            prepared.errors.contains("prepared as \(first), which can no longer be committed"),
            "\(prepared.errors)")
        try expectStale(scene, first)
        try scene.apply().expect(0, says: "can no longer be committed")
        try scene.expectMirrored()
        #expect(try scene.stateNames() == ["history", "last-run", "manifest.json", "mark"])
        try expectStale(scene, prepared.output.trimmingCharacters(in: .newlines))
    }

    /// Staged files are used again.
    @Test func aLaterRunCopiesNothingAnew() throws {
        let scene = try MirrorScene(["large": .file(String(repeating: "x", count: 100_000))])
        let id = try prepare(scene)
        let stage = "target/.fsync-lite/stage/\(id)"
        let staged = try TreeSnapshot(scene.path(stage)).inode("0/0")
        try scene.mirror()
        #expect(try TreeSnapshot(scene.target).inode("large") == staged)
    }

    /// A staged file is edited and its time restored. Only the change time shows it.
    @Test(arguments: [[], ["--digest"]]) func whatWasTouchedInTheStageIsCopiedAnew(options: [String]) throws {
        let scene = try MirrorScene(["a": "right"])
        let id = try prepare(scene, options)
        try scene.editInSecret("target/.fsync-lite/stage/\(id)/0/0", "wrong")
        #expect(try scene.run(["apply", "source", "target"] + options).code == 0)
        try scene.expectMirrored()
    }

    @Test func onlyTheCommitPrunes() throws {
        let scene = try scene()
        try scene.mirror("--keep-last", "1")
        try scene.append("+", to: "source/a")
        #expect(try scene.snapshots().count == 2)
        let id = try prepare(scene, ["--keep-last", "0"])
        #expect(try scene.snapshots().count == 2)
        #expect(try scene.run("snapshot", "create", "target", "--label", "good").code == 0)
        #expect(try scene.run("snapshot", "prune", "target").code == 0)
        try commit(scene, id)
        // The label keeps one, and the rule none.
        #expect(try scene.snapshots().count == 2)
        #expect(try scene.run("snapshot", "list", "target").output.contains("good"))
    }

    @Test func aSavedPlanIsPrepared() throws {
        let scene = try scene()
        #expect(try scene.run("plan", "source", "target", "--out", "plan").code == 0)
        let run = try scene.run("apply", "--prepare", "--plan", "plan").expect(0)
        try commit(scene, run.output.trimmingCharacters(in: .newlines))
    }

    @Test(.needs(.root)) func whatCannotBeMirroredIsToldTwice() throws {
        let scene = try MirrorScene(["a": "a", "b": "b"], as: .ordinary)
        try scene.setMode(0, of: "source/a")
        let run = try scene.run("apply", "--prepare", "source", "target", "--keep-going").expect(3)
        let id = run.output.trimmingCharacters(in: .newlines)
        try scene.run("commit", "target", id).expect(3, says: "a: ")
        #expect(try scene.text("target/b") == "b" && !scene.exists("target/a"))
    }

    @Test(.needs(.root)) func aDirectoryThatIsClosedToItsOwnerIsNamed() throws {
        let scene = try MirrorScene(["a": "a", "d": ["x": "x"]], as: .ordinary).mirrored()
        try scene.append("+", to: "source/a")
        try scene.setMode(0, of: "target/d")
        try scene.run("apply", "--prepare", "source", "target").expect(
            1, says: "target/d: its owner may not read")
        #expect(try scene.status("target/d").st_mode & 0o777 == 0)
    }

    // MARK: Drift

    /// A change, and the message about it.
    private static let changes: [(change: @Sendable (MirrorScene) throws -> Void, told: [String])] = [
        ({ try $0.append("theirs", to: "target/a") }, ["a: changed"]),
        ({ try $0.editInSecret("target/a", "eno") }, ["a: changed"]),
        ({ try $0.remove("target/a") }, ["a: changed"]),
        ({ try $0.setMode(0o755, of: "target/stays") }, ["stays: changed"]),
        ({ try $0.editInSecret("target/gone/deep/z", "q") }, ["gone/deep/z: changed"]),
        (
            { try $0.build(["late": "l"], at: "target/gone/deep") },
            ["gone/deep: changed", "gone/deep/late: new"]
        ),
        ({ try $0.remove("target/gone/w") }, ["gone: changed", "gone/w: gone"]),
        ({ try $0.build("theirs", at: "target/new") }, ["new: new"]),
        ({ try $0.build("theirs", at: "target/moved") }, ["moved: new"]),
        ({ try $0.move("target/d", to: "target/other") }, ["d: changed"]),
        ({ try $0.move("target/kept", to: "target/other") }, ["kept: changed", "kept/k: changed"]),
        ({ try $0.setMode(0o700, of: "target") }, [".: changed"]),
    ]

    @Test(arguments: 0..<changes.count) func whatTakesPartMustBeAsItWas(_ number: Int) throws {
        let scene = try scene()
        let id = try prepare(scene)
        let (change, told) = Self.changes[number]
        try change(scene)
        try expectStale(scene, id, told)
        // The next command.
        _ = try? scene.setMode(0o755, of: "target")
        try commit(scene, try prepare(scene))
    }

    @Test(.needs(.root)) func whatTakesNoPartWaits() throws {
        let scene = try MirrorScene(["d": ["a": "one", "b": "b"], "e": "e"]).mirrored()
        let before = try scene.status("source/d").st_mtim
        try scene.append("+", to: "source/d/a")
        try scene.setTime(TreeTime(before), of: "source/d")
        let id = try prepare(scene)
        try scene.append("theirs", to: "target/d/b")
        try scene.build("late", at: "target/d/c")
        try scene.setAttribute("user.note", "theirs", of: "target/d")
        try scene.append("theirs", to: "target/e")
        try scene.build("late", at: "target/f")
        try scene.run("commit", "target", id).expect(0)
        #expect(try scene.text("target/d/a") == "one+")
        let rest = try scene.planned().actionLines
        for line in ["= d (", "~ d/b (", "- d/c (", "~ e (", "- f ("] {
            let verb = ["=": "attributes", "~": "update", "-": "delete"][String(line.prefix(1))] ?? ""
            #expect(rest.contains { $0.hasPrefix(verb + line.dropFirst()) }, "\(line): \(rest)")
        }
        #expect(rest.contains { $0.hasPrefix("attributes d (") && $0.contains("xattrs") }, "\(rest)")
        try scene.mirrorAll()
    }

    /// The commit knows the change times of its own, but not others since the preparation.
    @Test(.needs(.root)) func editsBetweenAreNotTakenForTheCommits() throws {
        let scene = try MirrorScene(Self.tree).mirrored()
        try scene.append("+", to: "source/a")
        // So the manifest gets no change times of untouched objects.
        let id = try prepare(scene, ["--trust-manifest"])
        // Wait for a time between the two spans: the clock advances in steps of some milliseconds.
        ClockTick.pass()
        try scene.editInSecret("target/d/x", "q")
        ClockTick.pass()
        #expect(try scene.run("commit", "target", id).code == 0)
        #expect(try scene.planned().actionLines.contains { $0.hasPrefix("update d/x (content") })
        try scene.mirror()
    }

    // MARK: Kills

    /// At each rename and sync of a preparation, which makes no others.
    @Test(.needs(.strace), arguments: ["renameat2", "syncfs", "fsync", "mkdirat", "fallocate"])
    func aPrepareThatIsKilledLeavesTheOldTree(call: String) throws {
        let scene = try scene()
        let before = try TreeSnapshot(scene.target)
        for number in 1...40 {
            do {
                let command = try PausedCommand(
                    ["apply", "--prepare", "source", "target"], in: scene.directory.path,
                    at: .after(call, number: number))
                guard try command.waitForPause() else { break }
            }
            #expect(try TreeSnapshot(scene.target).touched(since: before) == [], "\(call) \(number)")
            #expect(!scene.exists("target/.fsync-lite/journal"))
            if let id = try scene.run("status", "target", "--json").json().text("prepared") {
                #expect(try scene.run("commit", "--dry-run", "target", id).code == 0, "\(call) \(number)")
            }
        }
        try commit(scene, try prepare(scene))
        #expect(try scene.stateNames() == ["history", "last-run", "manifest.json", "mark"])
    }

    @Test(.needs(.strace), arguments: ["journal", "gone", "a", "manifest.json"], [false, true])
    func aCommitThatIsKilledIsRecovered(name: String, goesBack: Bool) throws {
        let scene = try scene()
        let before = try TreeSnapshot(scene.target)
        let id = try prepare(scene)
        try scene.paused(["commit", "target", id], at: .after("renameat2", of: name)).kill()
        #expect(try scene.run("commit", "--dry-run", "target", id).code == 6)
        if goesBack {
            try scene.unlocked(["recover", "--back", "target"]).expect(0)
            #expect(try TreeSnapshot(scene.target).differences(from: before) == [])
            try expectStale(scene, id)
            try scene.mirror()
        } else {
            _ = try scene.unlocked(["abandon", "target", id])
            try scene.run("commit", "target", id).expect(0, says: "committed already")
            try scene.expectMirrored()
        }
    }

    /// After the stage has lost its last name, and before the first new one.
    @Test(.needs(.strace)) func aTakeOverThatIsKilledLeavesNothingToCommit() throws {
        let scene = try scene()
        let id = try prepare(scene)
        try scene.paused(at: .after("unlinkat", of: "prepared.json")).kill()
        try scene.unlocked(["commit", "target", id]).expect(5)
        try scene.mirror()
    }

    // MARK: On another machine

    @Test func aPushIsPreparedAndCommittedThere() throws {
        let scene = try scene()
        scene.far = try FarMachine(has: .target)
        let id = try prepare(scene)
        #expect(try scene.there("status", "far:target").output.contains("prepared   \(id)"))
        #expect(try scene.there("commit", "--dry-run", "far:target", id).code == 0)
        try scene.there("commit", "-v", "far:target", id, "--log-file", "log").expect(
            0, prints: "> d -> moved")
        let again = try scene.there("commit", "--json", "far:target", id)
        #expect(try again.json().text("target") == "far:\(scene.target)")
        try scene.there("abandon", "far:target", id).expect(says: "fsync-lite undo far:\(scene.target)")
        #expect(try scene.text("log").contains("commit committed: "))
        try scene.expectMirrored()
        try scene.append("+", to: "source/a")
        try scene.there("abandon", "far:target", prepare(scene)).expect(0)
        #expect(try scene.there("commit", "far:target", id).code == 0)
    }

    @Test func keysLimitIt() throws {
        let scene = try scene()
        scene.far = try FarMachine(serving: "--read-only", in: scene.directory.path)
        for command in [
            ["apply", "source", "far:target"], ["apply", "--prepare", "source", "far:target"],
            ["commit", "far:target", "x"], ["abandon", "far:target", "x"],
        ] {
            try scene.there(command).expect(4, says: "for reading only")
        }
        try scene.plan().expect(0, prints: "~ a")
        #expect(try scene.text("target/a") == "one")
        scene.far = try FarMachine(serving: "--append-only", in: scene.directory.path)
        try scene.build(
            ["settings.json": .file(#"{"keep_last": 0}"#, mode: 0o600)], at: "target/.fsync-lite")
        let id = try prepare(scene)
        #expect(try scene.there("commit", "far:target", id).code == 0)
        try scene.expectMirrored()
        #expect(try scene.run("undo", "target").code == 0)
    }
}
