import Foundation
import TestSupport
import Testing

struct UndoTests {
    private func disaster() throws -> (scene: MirrorScene, before: TreeSnapshot) {
        let scene = try MirrorScene([
            "keep": "keep", "d": ["a": "a", "b": ["c": "c"]], "e": "e", "f": "f",
        ]).mirrored()
        let before = try TreeSnapshot(scene.target)
        try scene.remove("source/d")
        try scene.append("!", to: "source/f")
        try scene.mirror("--max-delete", "unlimited")
        return (scene, before)
    }

    @Test func bringsBackAndAgain() throws {
        let (scene, before) = try disaster()
        let after = try TreeSnapshot(scene.target)
        let dryRun = try scene.run("undo", "target", "--dry-run")
        #expect(
            dryRun.lines.dropFirst().filter { !$0.hasPrefix("=") } == [
                "+ d/  (new)", "+ d/a  1 B  (new)", "+ d/b/  (new)", "+ d/b/c  1 B  (new)",
                "~ f  1 B  (size, modified)",
                "4 to create, 1 to update, 1 to set attributes of; 2 unchanged",
            ])
        #expect(try TreeSnapshot(scene.target).differences(from: after) == [])
        #expect(try scene.run("undo", "target").code == 0)
        let back = try TreeSnapshot(scene.target)
        #expect(back.differences(from: before) == [])
        // Old objects are moved back, so a directory of terabytes needs no space.
        #expect(back.inode("d/a") == before.inode("d/a"))
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try TreeSnapshot(scene.target).differences(from: after) == [])
        // The mirror continues from there.
        #expect(try scene.apply().lines == ["nothing to do; 3 unchanged"])
    }

    /// An object that returns from the history is still known by its object in the source.
    @Test func aRenameIsFoundAfterARunWasTakenBackAndMadeAgain() throws {
        let scene = try MirrorScene(["edited": "one", "keep": "keep"]).mirrored()
        try scene.append("two", to: "source/edited")
        try scene.build("new", at: "source/new")
        try scene.mirror()
        for _ in 1...2 { try scene.run("undo", "target").expect(0) }
        try scene.move("source/edited", to: "source/a")
        try scene.move("source/new", to: "source/b")
        #expect(
            try scene.planned().actionLinesButTimes == [
                "move edited -> a (renamed)", "move new -> b (renamed)",
            ])
    }

    /// An undo of an exchange copies directories, and tells the same.
    @Test(arguments: [[], ["--exchange"]]) func tellsTheCausesThatTheHistoryTells(exchange: [String]) throws {
        let scene = try MirrorScene(["a": "one", "link": .symlink("x"), "d": ["f": "one"]]).mirrored()
        try scene.append("more", to: "source/a")
        try HostCommand.run("chmod", "600", scene.path("source/a"))
        try HostCommand.run("ln", "-sfn", "another", scene.path("source/link"))
        try scene.append("more", to: "source/d/f")
        try scene.move("source/d", to: "source/D")
        try scene.run(["apply", "source", "target"] + exchange).expect(0)
        let undo = try scene.run("undo", "--dry-run", "--json", "target").expect(0).json()
        #expect(
            undo.actionLinesButTimes == [
                "update a (size, modified, mode)", "move D -> d (renamed)", "update d/f (size, modified)",
                "update link (modified, destination)",
            ])
    }

    /// The source may contain a mirror. The state's name is reserved only at the root.
    @Test func aDeletedMirrorComesBackWhole() throws {
        let scene = try MirrorScene([
            "mirror": [".fsync-lite": ["manifest.json": "{}"], "x": "x"], "keep": "k",
        ]).mirrored()
        let before = try TreeSnapshot(scene.target)
        try scene.remove("source/mirror")
        try scene.mirror("--max-delete", "unlimited")
        try scene.run("undo", "target").expect(0)
        #expect(try TreeSnapshot(scene.target).differences(from: before) == [])
    }

    @Test func aDirectoryComesBackFromBeforeItBecameAMirror() throws {
        let scene = try MirrorScene(["mirror": ["x": "x"], "keep": "k"]).mirrored()
        let before = try TreeSnapshot(scene.target)
        try scene.build(["manifest.json": "{}"], at: "source/mirror/.fsync-lite")
        try scene.mirror()
        try scene.remove("source/mirror")
        try scene.mirror("--max-delete", "unlimited")
        try scene.run("snapshot", "restore", "target", "latest~2", "--in-place").expect(0)
        #expect(try TreeSnapshot(scene.target).differences(from: before) == [])
    }

    @Test func keepsWhatSomebodyChangedSince() throws {
        let (scene, _) = try disaster()
        try scene.append(" by hand", to: "target/f")
        try scene.append(" by hand", to: "target/keep")
        try scene.build(["mine": "mine"], at: "target")
        #expect(try scene.run("undo", "--dry-run", "target").code == 3)
        try scene.run("undo", "target").expect(
            3, says: "f: it was changed in the target since; it is left unchanged (drift)",
            "keep: it was changed in the target since; it is left unchanged (drift)",
            "excluded files and files that no run copied are left unchanged: mine")
        #expect(try scene.text("target/f") == "f! by hand")
        #expect(try scene.text("target/keep") == "keep by hand")
        #expect(try scene.text("target/mine") == "mine")
        #expect(try scene.text("target/d/b/c") == "c")
    }

    /// A change by hand in a directory whose rename is undone.
    enum HandChange: CaseIterable {
        case append, replacement, otherType, directory, mode

        func make(in scene: MirrorScene) throws {
            let path = "target/new/a"
            switch self {
            case .append: return try scene.append(" by hand", to: path)
            case .mode: return try scene.setMode(0o600, of: path)
            case .replacement, .otherType, .directory: try scene.remove(path)
            }
            let edit: TreeLiteral =
                switch self {
                case .otherType: .symlink("by hand")
                case .directory: ["mine": "by hand"]
                default: "by hand"
                }
            try scene.build(["a": edit], at: "target/new")
        }
    }

    @Test(arguments: HandChange.allCases)
    func aChangeMovesAlongWithItsDirectory(_ change: HandChange) throws {
        let scene = try MirrorScene(["old": ["a": "a", "b": "b"]]).mirrored()
        try scene.move("source/old", to: "source/new")
        try scene.mirror()
        try change.make(in: scene)
        // The undo sets the directory's time.
        let time = TreeTime(1_600_000_000)
        try time.set(on: scene.path("target/new"))
        let changed = try TreeSnapshot(scene.path("target/new"))
        try undo(scene, 3).expect(
            says: "old/a: it was changed in the target since; it is left unchanged (drift)")
        try time.set(on: scene.path("target/old"))
        #expect(try TreeSnapshot(scene.path("target/old")).differences(from: changed) == [])
        #expect(!scene.exists("target/new"))
        try scene.mirror()
    }

    /// Objects of the history were removed by hand. The rest is restored.
    @Test(arguments: ["", "d", "d/b"]) func whatTheHistoryNoLongerHasIsNamed(removed: String) throws {
        let (scene, _) = try disaster()
        let history = scene.path("target/.fsync-lite/history")
        let record = try #require(try FileManager.default.contentsOfDirectory(atPath: history).max())
        let slots = "target/.fsync-lite/history/\(record)/0"
        let slot = try #require((0...2).first { scene.exists("\(slots)/\($0)/b") })
        try scene.remove(slots + (removed.isEmpty ? "" : "/\(slot)\(removed.dropFirst())"))
        try undo(scene, 3).expect(
            says: "d/b/c: its old content is lost: the history no longer has it (drift)")
        #expect(try scene.text("target/f") == (removed.isEmpty ? "f!" : "f"))
        #expect(scene.exists("target/d/a") == (removed == "d/b"))
        #expect(scene.exists("target/d/b"))
        #expect(try scene.run("manifest", "verify", "target", "target").code == 0)
        try scene.mirror("--max-delete", "unlimited")
    }

    /// The dry run of an undo also lists what it cannot restore, because it was removed by hand.
    @Test func whatWasRemovedFromARenamedDirectoryIsNamed() throws {
        let scene = try MirrorScene(["old": ["a": "a", "b": "b"]]).mirrored()
        try scene.move("source/old", to: "source/new")
        try scene.mirror()
        try scene.remove("target/new/a")
        try undo(scene, 3).expect(
            says: "old/a: its old content is lost: it was changed in the target since (drift)")
        #expect(try scene.text("target/old/b") == "b")
        try scene.mirror()
    }

    // MARK: Changes by hand that meet renames and hard links

    private func undo(_ scene: MirrorScene, _ code: Int32, sourceLocation: SourceLocation = #_sourceLocation)
        throws -> CommandRun
    {
        let dryRun = try scene.run("undo", "--dry-run", "target")
        let undo = try scene.run("undo", "target").expect(code, sourceLocation: sourceLocation)
        // The dry run has reported it.
        #expect(dryRun.code == code && dryRun.errors == undo.errors, sourceLocation: sourceLocation)
        return undo
    }

    /// An excluded entry returns with its directory to a path of an entry that was made by hand.
    @Test func whatReturnsDisplacesWhatWasMadeByHand() throws {
        let scene = try MirrorScene(["a": ["b": "1"]]).mirrored()
        try scene.move("source/a", to: "source/c")
        try scene.build([:], at: "source/a")
        #expect(try scene.apply("--exclude", "b").code == 0)
        try scene.build(["b": "by hand"], at: "target/a")
        let present = try TreeSnapshot(scene.target)
        try undo(scene, 0).expect(
            says: "excluded files and files that no run copied are moved to the history: a/b")
        #expect(try scene.text("target/a/b") == "1")
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try TreeSnapshot(scene.target).differences(from: present) == [])
    }

    /// A removed name of a file comes back. The file has the changes by hand, and the record has both names.
    @Test(arguments: [true, false])
    func aNameThatComesBackDoesNotTakeBackAnEdit(ofContent: Bool) throws {
        let scene = try MirrorScene(["b": "abc"])
        try scene.link("source/c", to: "source/b")
        try scene.mirror("--keep-last", "9")
        try scene.remove("source/c")
        try scene.mirror()
        if ofContent {
            try scene.append("", to: "target/b")
            try Data("xyz".utf8).write(to: URL(fileURLWithPath: scene.path("target/b")), options: [])
        } else {
            try scene.setMode(0o600, of: "target/b")
        }
        let edited = try TreeSnapshot(scene.target).entries[Array("b".utf8)]
        let undo = try undo(scene, 3)
        #expect(undo.errors.contains("b: it was changed in the target since; it is left unchanged (drift)"))
        #expect(undo.errors.contains("c: its old content is lost") == ofContent)
        #expect(scene.exists("target/c") == !ofContent)
        let after = try TreeSnapshot(scene.target).entries
        #expect(
            after[Array("b".utf8)]?.mode == edited?.mode && after[Array("b".utf8)]?.content == edited?.content
        )
        let run = try scene.run("snapshot", "restore", "target", "latest~2", "--to", "copy")
        #expect(run.code == (ofContent ? 3 : 0))
        for name in ["b", "c"] {
            #expect(run.errors.contains("\(name): its old content is lost") == ofContent)
            #expect(scene.exists("copy/\(name)") == !ofContent)
        }
        try scene.mirror()
    }

    /// Renames that were undone by hand are noticed. An object that is in its old place remains there.
    @Test func renamesTakenBackByHandAreDone() throws {
        let scene = try MirrorScene(["log1": "1", "log2": "2", "log3": "3", "d": ["x": "4"], "e": ["x": "5"]])
            .mirrored()
        for (name, other) in [("log3", "log4"), ("log2", "log3"), ("log1", "log2")] {
            try scene.move("source/\(name)", to: "source/\(other)")
        }
        try scene.build(["log1": "new"], at: "source")
        try scene.swap("source/d", "source/e")
        let names = try TreeSnapshot(scene.target)
        try scene.mirror()
        for (name, other) in [("log2", "log1"), ("log3", "log2"), ("log4", "log3")] {
            try? scene.remove("target/\(other)")
            try scene.move("target/\(name)", to: "target/\(other)")
        }
        try scene.swap("target/d", "target/e")
        _ = try undo(scene, 0)
        #expect(try TreeSnapshot(scene.target).differences(from: names) == [])
        try scene.mirror()
    }

    /// Directories are swapped back. A file that was made by hand moves along, and is not in the way.
    @Test func whatWasMadeByHandTravelsAlong() throws {
        let scene = try MirrorScene(["a": ["k": "ka"], "b": ["1": "1"]]).mirrored()
        try scene.swap("source/a", "source/b")
        try scene.mirror()
        try scene.build(["k": "by hand"], at: "target/a")
        try undo(scene, 0).expect(says: "and files that no run copied are left unchanged: b/k")
        #expect(try scene.text("target/a/k") == "ka")
        #expect(try scene.text("target/b/k") == "by hand")
        try scene.mirror()
    }

    /// If its content was removed by hand, a file cannot come back. The object in its place remains.
    @Test func whatWasRemovedUnderItsNewNameIsLost() throws {
        let scene = try MirrorScene(["x": "1"]).mirrored()
        try scene.move("source/x", to: "source/y")
        try scene.build(["x": "2"], at: "source")
        try scene.mirror()
        try scene.remove("target/y")
        try undo(scene, 3).expect(says: "x: its old content is lost")
        #expect(try scene.text("target/x") == "2")
        try scene.mirror()
    }

    /// A file that returned to its old place is the recorded one. Nothing is moved into the history for it.
    @Test func aFileAndADirectorySwappedByHandComeBack() throws {
        let scene = try MirrorScene(["c": "1", "d": [:]]).mirrored()
        try scene.append("2", to: "source/c")
        try scene.mirror()
        _ = try undo(scene, 0)
        try scene.swap("target/c", "target/d")
        try scene.build(["mine": "by hand"], at: "target/c")
        let before = try TreeSnapshot(scene.target)
        #expect(try scene.run("snapshot", "restore", "target", "latest~2", "--in-place").code == 3)
        try undo(scene, 3).expect(says: "c: it was changed in the target since; it is left unchanged (drift)")
        #expect(try TreeSnapshot(scene.target).differences(from: before) == [])
        try scene.mirror()
    }

    @Test(arguments: ["old", "."]) func theModeOfADirectoryStays(path: String) throws {
        let scene = try MirrorScene(["old": ["a": "a"]]).mirrored()
        try scene.move("source/old", to: "source/new")
        try scene.mirror()
        try scene.setMode(0o700, of: path == "." ? "target" : "target/new")
        try undo(scene, 3).expect(
            says: "\(path): it was changed in the target since; it is left unchanged (drift)")
        #expect(try TreeSnapshot(scene.target)[path]?.mode == 0o700)
        try scene.mirror()
    }

    /// A run without changes adds entries that were made by hand to the manifest.
    @Test func whatAnApplyTookInStays() throws {
        let scene = try MirrorScene(["a": "1"]).mirrored()
        try scene.build(["b": "2", "d": ["x": "x"]], at: "source")
        try scene.mirror()
        try scene.build(["mine": ["f": "by hand", "empty": [:]]], at: "target")
        try scene.build(["own": "own"], at: "target/d")
        try scene.remove("source/b")
        try scene.remove("source/d")
        // Nothing is left to do.
        for tree in ["source", "target"] { try scene.setTime(TreeTime(1_700_000_000, 0), of: tree) }
        #expect(try scene.apply("--no-delete").lines.last?.hasPrefix("nothing to do") == true)
        try undo(scene, 0).expect(says: "files that no run copied are left unchanged: d/own and ")
        #expect(try scene.text("target/mine/f") == "by hand" && scene.exists("target/mine/empty"))
        #expect(try scene.text("target/d/own") == "own")
        #expect(!scene.exists("target/b") && !scene.exists("target/d/x"))
    }

    /// A removal by hand is no reason for a step, which the next undo would undo with the present files.
    @Test func anUndoBesideARemovalIsNoStep() throws {
        let scene = try MirrorScene(["a": "1", "b": "2"]).mirrored()
        try scene.remove("target/a")
        try scene.remove("target/b")
        try scene.build(["b": "by hand"], at: "target")
        for _ in 0..<2 {
            try undo(scene, 3).expect(
                says: "b: it was changed in the target since; it is left unchanged (drift)")
        }
        #expect(try scene.text("target/b") == "by hand")
    }

    /// An old file was written to by a name outside of the target. It comes back with its directory, and
    /// leaves with it.
    @Test(arguments: [[], ["--exchange"]])
    func whatWasWrittenToInTheHistoryIsRecorded(_ options: [String]) throws {
        let scene = try MirrorScene(["d": ["a": "a", "b": "b"], "k": "k"])
        #expect(try scene.run(["apply", "source", "target"] + options).code == 0)
        try scene.link("outside", to: "target/d/a")
        try scene.remove("source/d")
        try scene.run(["apply", "source", "target", "--max-delete", "unlimited"] + options).expect(0)
        let after = try TreeSnapshot(scene.target)
        try scene.append(" written", to: "outside")
        try undo(scene, 3).expect(says: "d/a: its old content is lost")
        #expect(try scene.text("target/d/b") == "b")
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try TreeSnapshot(scene.target).differences(from: after) == [])
        try scene.mirror()
    }

    /// The undo has not looked at the source. A change there with a restored time is still found.
    @Test func doesNotVouchForTheSource() throws {
        let scene = try MirrorScene(["a": "one", "b": "b"]).mirrored()
        try scene.append("!", to: "source/b")
        try scene.mirror()
        try scene.editInSecret("source/a", "two")
        #expect(try scene.run("undo", "target").code == 0)
        try scene.mirror()
        #expect(try scene.text("target/a") == "two")
    }

    /// No time that an undo can use shows a change of extended attributes.
    @Test func extendedAttributesOnly() throws {
        let scene = try MirrorScene(["a": "a", "b": "b"]).mirrored()
        try RawPath.setAttribute("user.note", [1], on: scene.path("source/a"))
        try scene.mirror()
        for _ in 0..<3 {
            #expect(try scene.run("undo", "target").code == 0)
            #expect(try RawPath.attributes(of: Array(scene.path("target/a").utf8)).isEmpty)
            #expect(try scene.run("undo", "target").code == 0)
            #expect(try RawPath.attributes(of: Array(scene.path("target/a").utf8)).count == 1)
        }
    }

    /// The attempts are recorded on the machine that began them.
    @Test(arguments: [false, true]) func itSaysWhichRunItTakesBack(isThere: Bool) throws {
        let scene = try MirrorScene(["a": "one"], inMemory: true)
        let far = try FarMachine(has: .target)
        let target = isThere ? "far:\(scene.target)" : scene.target
        func run(_ words: String...) throws -> CommandRun {
            try scene.here(words + far.options, environment: ["FSYNC_LITE_STATE": scene.path("known")])
        }
        #expect(try run("apply", "source", target).code == 0)
        try scene.append(", two", to: "source/a")
        #expect(try run("apply", "source", target).code == 0)
        try scene.remove("source/a")
        #expect(try run("apply", "source", target).code == 4)
        let undo = try run("undo", target).expect(0)
        #expect(undo.output.hasPrefix("takes back the run of 20"), "\(undo.output)")
        let told = isThere ? undo.errors : undo.output
        #expect(told.contains(#/the attempt of today \d\d:\d\d changed nothing/#), "\(told)")
        #expect(try scene.text("target/a") == "one")
        let ids = try scene.run(["snapshot", "list", target, "--json"] + far.options).json()
            .objects("snapshots").compactMap { $0.text("id") }
        let dry = try run("undo", target, "--dry-run", "--json", "--steps", "2").json()
        #expect(dry.texts("takes_back") == Array(ids.prefix(2)))
        #expect(try run("undo", target, "--json").json().texts("takes_back") == Array(ids.prefix(1)))
    }

    /// The old file was written to since then, so it does not replace the present one.
    @Test(arguments: [[], ["--exchange"]]) func whatIsLostLeavesThePresentFile(options: [String]) throws {
        let scene = try MirrorScene(["e": "older", "x": "x"], inMemory: true)
        #expect(try scene.run(["apply", "source", "target"] + options).code == 0)
        try scene.rewrite("source/e", "newer content")
        try scene.build(["x": "y"], at: "source")
        #expect(try scene.run(["apply", "source", "target"] + options).code == 0)
        let displaced = try HostCommand.output("grep", "-rl", "older", scene.directory.path)
            .split(separator: "\n").filter { $0.contains(".fsync-lite/") && !$0.hasSuffix(".json") }
        try #require(!displaced.isEmpty)
        for path in displaced { try HostCommand.run("sh", "-c", "echo more >> '\(path)'") }
        try scene.run("snapshot", "restore", "target", "latest~1", "--in-place").expect(
            3, says: "e: its old content is lost")
        #expect(try scene.text("target/e") == "newer content" && scene.text("target/x") == "x")
        let record = try scene.run("manifest", "list", "target", "--json").output
        #expect(record.contains("\"path\":\"e\",\"type\":\"file\",\"size\":13,"), "\(record)")
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.text("target/e") == "newer content" && scene.text("target/x") == "y")
    }

    /// A file left with its directory, came back with it, and was overwritten by hand. Another file of the
    /// same size and time has its path now, or its place in the history. It is no version of the first one.
    @Test(arguments: [false, true])
    func whatStandsInAReturnedDirectoryIsNotTakenForWhatCameBack(leavesAgain: Bool) throws {
        let scene = try MirrorScene(["d": ["f": "version 1"], "other": "file"], inMemory: true)
        try scene.mirror()
        for _ in 1...2 { #expect(try scene.run("undo", "target").code == 0) }
        try scene.rewrite("target/d/f", "by hand")
        try scene.mirror()
        try scene.editInSecret("source/d/f", "version 2")
        try scene.mirror()
        try #require(try scene.text("target/d/f") == "version 2")
        if leavesAgain {
            try scene.remove("source/d")
            try scene.mirror()
        }
        let ids = try scene.run("snapshot", "list", "target", "--json").json().objects("snapshots")
            .compactMap { $0.text("id") }
        for id in ids.dropFirst(leavesAgain ? 2 : 1) {
            let copy = try scene.run("snapshot", "restore", "target", id, "--to", "copy of \(id)")
            guard copy.code == 0, scene.exists("copy of \(id)/d/f") else { continue }
            #expect(try scene.text("copy of \(id)/d/f") != "version 2", "\(id)")
        }
    }

    /// After its commit is finished, `latest~2` is another snapshot.
    @Test(.needs(.strace)) func aRestoreThatWasCutShortIsNotTriedAgainUnasked() throws {
        let scene = try MirrorScene(["a": "v1", "b": "v1"], inMemory: true)
        for version in 1...4 {
            try scene.rewrite("source/a", "version \(version)")
            try scene.mirror()
        }
        let words = ["snapshot", "restore", "target", "latest~2", "--in-place"]
        let killed = try CommandRun(
            words, in: scene.directory.path,
            under: Strace.killing(at: "renameat2", number: 4))
        try #require(killed.code != 0 && scene.exists("target/.fsync-lite/journal"))
        try scene.run(words).expect(6, says: "fsync-lite recover target")
        #expect(scene.exists("target/.fsync-lite/journal"))
        #expect(try scene.run("recover", "target").code == 0)
        #expect(try scene.text("target/a") == "version 2")
    }

    @Test func nothingToUndo() throws {
        let scene = try MirrorScene(["a": "a"])
        #expect(try scene.run("undo", "target").code == 66)
        try scene.mirror()
        try scene.build(["settings.json": "{\"keep_last\": 0}"], at: "target/.fsync-lite")
        try scene.setMode(0o600, of: "target/.fsync-lite/settings.json")
        #expect(try scene.apply().code == 0)
        try scene.run("undo", "target").expect(66, says: "keep_last 0 turns the history off")
        try scene.remove("target/.fsync-lite/settings.json")
        try scene.mirror()
        try scene.remove("target/.fsync-lite/history")
        try scene.run("undo", "target").expect(66, says: "the history has no older tree")
    }

    // MARK: Several steps

    @Test func stepsAreTakenBackTogether() throws {
        let scene = try MirrorScene(["a": "0", "dir": ["stays": "s"]]).mirrored()
        let trees = try (1...3).map { step in
            let tree = try TreeSnapshot(scene.path("target"))
            try scene.append("\(step)", to: "source/a")
            try scene.build(["x": .file("\(step)")], at: "source/new\(step)")
            try scene.mirror()
            return tree
        }
        let last = try TreeSnapshot(scene.path("target"))
        #expect(try scene.run("undo", "--steps", "3", "target").code == 0)
        #expect(try TreeSnapshot(scene.path("target")).differences(from: trees[0]).isEmpty)
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try TreeSnapshot(scene.path("target")).differences(from: last).isEmpty)
    }

    @Test func whatWasChangedByHandBetweenStepsGoesToTheHistory() throws {
        let scene = try MirrorScene(["a": "0", "b": "b"]).mirrored()
        try scene.build(["a": "1"], at: "source")
        try scene.mirror()
        try scene.build(["hand": "made"], at: "target")
        try scene.build(["a": "2", "hand": "made"], at: "source")
        try scene.mirror()
        try scene.run("undo", "--steps", "2", "target").expect(
            0, says: "changed in the target between these runs", "hand")
        #expect(try scene.text("target/a") == "0")
        #expect(!scene.exists("target/hand"))
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.text("target/hand") == "made")
    }

    @Test func moreStepsThanAreKeptAreRefused() throws {
        let scene = try MirrorScene(["a": "0"]).mirrored()
        try scene.build(["a": "1"], at: "source")
        try scene.mirror()
        try scene.run("undo", "--steps", "3", "target").expect(
            4, says: "only 2 runs can be taken back\n", "next: fsync-lite undo target --steps 2")
        try scene.expectMirrored()
        for steps in ["0", "-1", "x", "99999999999999999999"] {
            #expect(try scene.run("undo", "--steps", steps, "target").code == 64)
        }
    }
}
