import TestNeeds
import TestSupport
import Testing

/// Restores whose target and destination are on two machines, compared with the same restore on one.
@Suite("Restores between machines")
struct FarRestoreTests {
    enum Way: String, CaseIterable, CustomStringConvertible {
        /// The target is on the other machine.
        case pull
        /// The destination is on the other machine.
        case push

        var description: String { rawValue }
    }

    /// Three versions. `far` reaches a target on the other machine.
    private func scene() throws -> MirrorScene {
        let scene = try FarMachine(has: .target).scene([
            "docs": ["a": "one", "b": .file("b", mode: 0o600), "deep": ["c": "c"], "link": .symlink("a")],
            "pipe": .fifo(), "old name": ["x": "x", "y": .file("", modified: TreeTime(1_600_000_000, 5))],
        ])
        try scene.link("source/docs/a2", to: "source/docs/a")
        try scene.mirror("--digest")
        try scene.append(", two", to: "source/docs/a")
        try scene.remove("source/docs/deep")
        try scene.move("source/old name", to: "source/new")
        try scene.mirror()
        try scene.setMode(0o750, of: "source/docs")
        try scene.build(["mine": "new"], at: "source/mine")
        try scene.mirror()
        return scene
    }

    private func restore(
        _ scene: MirrorScene, _ way: Way, _ words: [String], to directory: String? = nil
    ) throws -> CommandRun {
        try scene.there(
            ["snapshot", "restore", way == .pull ? "far:target" : scene.target] + words
                + (directory.map { ["--to", way == .push ? "far:\($0)" : scene.path($0)] } ?? []))
    }

    private func restoreHere(
        _ scene: MirrorScene, _ words: [String], to directory: String
    ) throws -> CommandRun {
        try scene.here(["snapshot", "restore", scene.target] + words + ["--to", scene.path(directory)])
    }

    /// Compares the outputs, with the paths of the restore on one machine.
    private func expectSame(
        _ far: CommandRun, _ here: CommandRun, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        func plain(_ text: String) -> String {
            // If an error names no path, the other end names the target.
            text.replacing(#/fsync-lite: [\w.:\/-]*\/target(: |\/)/#, with: "fsync-lite: ").replacing(
                #/\b[\w.-]+:(?=\/)/#, with: ""
            ).replacing("/there", with: "/here")
                .replacing(#/ --ssh \S+ --remote-command \S+/#, with: "").replacing("'", with: "")
        }
        #expect(far.code == here.code, "\(far.errors)", sourceLocation: sourceLocation)
        #expect(plain(far.output) == plain(here.output), sourceLocation: sourceLocation)
        #expect(plain(far.errors) == plain(here.errors), sourceLocation: sourceLocation)
    }

    // MARK: Trees

    @Test(
        arguments: Way.allCases,
        [
            ["latest"], ["latest~1"], ["latest~2"], ["latest~2", "docs", "pi*"], ["latest~2", "old name/x"],
            ["latest~1", "docs/a"], ["latest~2", "--dry-run"], ["latest~2", "docs", "--dry-run"],
            ["latest", "nothing"], ["latest~9"], ["latest", "docs/deep"], ["latest", "*.no"],
            ["latest", "dee*"],
        ])
    func aCopyIsTheSameOverALine(way: Way, words: [String]) throws {
        let scene = try scene()
        let before = try scene.wholeTarget()
        let far = try restore(scene, way, words, to: "there")
        expectSame(far, try restoreHere(scene, words, to: "here"))
        #expect(scene.exists("there") == scene.exists("here"))
        if scene.exists("here") {
            try scene.expectSame("there", as: "here")
        }
        #expect(try scene.wholeTarget().differences(from: before) == [])
    }

    @Test(arguments: Way.allCases) func whatIsThereIsGuarded(way: Way) throws {
        let scene = try scene()
        try scene.build(
            ["docs": ["a": "theirs", "b": .file("b", mode: 0o600), "own": "own"], "other": "other"],
            at: "there")
        try HostCommand.run("cp", "-a", scene.path("there"), scene.path("here"))
        for words in [
            ["docs"], ["docs", "--dry-run"], ["docs", "--overwrite", "--dry-run"], ["docs", "--overwrite"],
            ["docs"], [],
        ] {
            let far = try restore(scene, way, ["latest~2"] + words, to: "there")
            expectSame(far, try restoreHere(scene, ["latest~2"] + words, to: "here"))
        }
        #expect(try scene.text("there/docs/a") == "one" && scene.text("there/docs/own") == "own")
        try scene.expectSame("there", as: "here")
    }

    @Test(arguments: Way.allCases) func aPathMayBeAbsolute(way: Way) throws {
        let scene = try scene()
        for path in [scene.path("target/docs/b"), scene.path("source/docs/b"), "./docs/b"] {
            let far = try restore(scene, way, ["latest", path, "--overwrite"], to: "there")
            #expect(far.code == 0 && scene.exists("there/docs/b"), "\(path): \(far.errors)")
            try scene.remove("there")
        }
        #expect(try restore(scene, way, ["latest", "/no/such/place"], to: "there").code != 0)
    }

    @Test(arguments: Way.allCases) func theReportNamesBothEnds(way: Way) throws {
        let scene = try scene()
        let report = try restore(scene, way, ["latest", "--json"], to: "there").json()
        let (target, copy) = (scene.target, scene.path("there"))
        #expect(report.text("source") == (way == .pull ? "far:\(target)" : target))
        #expect(report.text("target") == (way == .push ? "far:\(copy)" : copy))
    }

    // MARK: Back to the source

    @Test func aTargetThereIsRestoredToItsSourceHere() throws {
        let scene = try scene()
        try restore(scene, .pull, ["latest~2", "docs/deep", "--to-source"]).expect(0)
        #expect(try scene.text("source/docs/deep/c") == "c")
        try scene.move("source", to: "aside")
        try scene.build([:], at: "source")
        try restore(scene, .pull, ["latest~2", "docs/deep", "--to-source"]).expect(
            4, says: "is not the directory that was mirrored")
    }

    @Test func aTargetHereIsRestoredToItsSourceThere() throws {
        let scene = try FarMachine(has: .source).scene(["a": "a", "b": "b"])
        try scene.mirror()
        try scene.run("status", "target").expect(prints: "far:\(scene.source)")
        try scene.remove("source/a")
        try scene.mirror()
        func back(_ words: String...) throws -> CommandRun {
            try scene.there(["snapshot", "restore", "target", "latest~1", "a", "--to-source"] + words)
        }
        #expect(try back("--dry-run").code == 0 && !scene.exists("source/a"))
        #expect(try back().code == 0)
        #expect(try scene.text("source/a") == "a")
        try scene.append("2", to: "source/a")
        try back().expect(4, says: "next: fsync-lite snapshot restore target 'latest~1' a --to-source")
        try scene.move("source", to: "aside")
        try scene.build(["b": "b"], at: "source")
        try back().expect(4, says: "is not the directory that was mirrored", "--to 'far:\(scene.source)'")
    }

    /// Source and target are both on the other machine.
    @Test func aSourceBesideItsTargetIsRestoredToThere() throws {
        let scene = try scene()
        try scene.build(["source": ["a": "a", "b": "b"]], at: "box")
        let far = try #require(scene.far)
        let box = scene.path("box")
        #expect(try CommandRun(["apply", "\(box)/source", "\(box)/target"], in: box).code == 0)
        try scene.remove("box/source/a")
        try CommandRun(
            ["snapshot", "restore", "far:\(box)/target", "latest", "a", "--to-source"] + far.options, in: "/"
        ).expect(0)
        #expect(try scene.text("box/source/a") == "a")
    }

    // MARK: Content that is not there

    @Test(arguments: Way.allCases) func whatIsLostIsListed(way: Way) throws {
        let scene = try scene()
        let file = try #require(try scene.inHistory("c"))
        try scene.rot(file, "C")
        try restore(scene, way, ["latest~2"], to: "there").expect(
            3, says: "docs/deep/c: its old content is lost", "digest")
        #expect(!scene.exists("there/docs/deep/c") && scene.exists("there/docs/a"))
        try scene.remove(file)
        for dryRun in [["--dry-run"], []] {
            try? scene.remove("there")
            let far = try restore(scene, way, ["latest~2"] + dryRun, to: "there")
            expectSame(far, try restoreHere(scene, ["latest~2"] + dryRun, to: "here"))
            #expect(far.code == 3 && far.errors.contains("the history no longer has it"), "\(far.errors)")
        }
    }

    /// No later run looks again, as it would for a mirror.
    @Test(.needs(.tool("python3"))) func whatVanishesMeanwhileIsLost() throws {
        let scene = try scene()
        let file = scene.path("target/new/x")
        scene.far = try FarMachine(
            FarMachine.relay(
                there:
                    "if frame[4] == 2 and passed[4].is_set() and os.path.exists(\"\(file)\"): os.unlink(\"\(file)\")"
            ), has: .target)
        try restore(scene, .pull, ["latest"], to: "there").expect(3, says: "new/x: its old content is lost")
        #expect(!scene.exists("there/new/x") && scene.exists("there/new/y"))
    }

    @Test(arguments: Way.allCases) func whatWasPurgedIsSaidToBe(way: Way) throws {
        let scene = try scene()
        #expect(try CommandRun(["snapshot", "purge", scene.target, "docs/deep/c"]).code == 0)
        let far = try restore(scene, way, ["latest~2"], to: "there")
        expectSame(far, try restoreHere(scene, ["latest~2"], to: "here"))
        #expect(far.code == 3 && far.errors.contains("purged"), "\(far.errors)")
    }

    // MARK: Interruptions

    @Test(.needs(.strace), arguments: 1...6) func aKilledRestoreIsEndedByTheSame(rename: Int) throws {
        let scene = try scene()
        let words = ["snapshot", "restore", "far:\(scene.target)", "latest~2", "--to", scene.path("there")]
        _ = try scene.here(
            words + #require(scene.far).options,
            under: Strace.killing(at: "renameat,renameat2", number: rename))
        try restore(scene, .pull, ["latest~2"], to: "there").expect(0)
        #expect(try restoreHere(scene, ["latest~2"], to: "here").code == 0)
        #expect(!scene.exists("there/.fsync-lite"))
        try scene.expectSame("there", as: "here")
    }

    @Test(.needs(.tool("python3"))) func aLostLineLeavesNothing() throws {
        let scene = try scene()
        scene.far = try FarMachine(
            FarMachine.firstly(
                FarMachine.relay(back: "if frame[4] == \(FarMachine.Frame.data): os._exit(1)")),
            has: .target)
        let run = try restore(scene, .pull, ["latest~2"], to: "there")
        #expect(run.code == 69 && !scene.exists("there/docs"), "\(run.code) \(run.errors)")
        #expect(try restore(scene, .pull, ["latest~2"], to: "there").code == 0)
        #expect(try scene.text("there/docs/deep/c") == "c" && !scene.exists("there/.fsync-lite"))
    }

    /// An apply would remove the old versions that are read. A key that may only serve does not delay a run.
    @Test(.needs(.tool("python3")), arguments: [false, true])
    func noRunChangesTheTargetMeanwhile(isOfKey: Bool) throws {
        let scene = try scene()
        let (command, code) = (try BuiltCommand.path(), scene.path("code"))
        let words = "[\"\(command)\", \"apply\", \"\(scene.source)\", \"\(scene.target)\"]"
        scene.far = try FarMachine(
            FarMachine.relay(
                back: """
                    if frame[4] == \(FarMachine.Frame.data) and not os.path.exists("\(code)"):
                        open("\(code)", "w").write(str(subprocess.call(\(words), stdout=subprocess.DEVNULL)))
                    """
            ).replacing("exec python3", with: "\(isOfKey ? "SSH_ORIGINAL_COMMAND=x " : "")exec python3"),
            has: .target)
        let run = try restore(scene, .pull, ["latest~2"], to: "there")
        // Files that disappear meanwhile are listed.
        let isListed = run.code == 3 && run.errors.contains("its old content is lost")
        #expect(run.code == 0 || isOfKey && isListed, "\(run.code) \(run.errors)")
        #expect(try scene.text("code") == (isOfKey ? "0" : "75"))
    }

    // MARK: Refusals

    @Test func keysSayWhatIsRead() throws {
        let scene = try scene()
        let parent = scene.directory.path
        func serve(_ options: String) throws {
            scene.far = try FarMachine(serving: options, in: parent)
        }
        try serve("--read-only")
        #expect(try restore(scene, .pull, ["latest~2"], to: "there").code == 0)
        try restore(scene, .push, ["latest"], to: "more").expect(4, says: "for reading only")
        try scene.remove("there")
        try serve("--read-only --restrict \(parent)")
        #expect(try restore(scene, .pull, ["latest~2"], to: "there").code == 0)
        try scene.build([:], at: "box")
        try serve("--read-only --restrict \(parent)/box")
        try restore(scene, .pull, ["latest~2"], to: "more").expect(4, says: "outside of the served directory")
        #expect(!scene.exists("more"))
    }

    /// The key may write only beneath a directory, and the list is in a file without a name there.
    @Test(arguments: ["--restrict", "--append-only --restrict"]) func aRestrictedKeyGetsACopy(key: String)
        throws
    {
        let scene = try scene()
        try scene.build(.directory([], mode: 0o700, modified: nil), at: "box")
        scene.far = try FarMachine(serving: "\(key) \(scene.path("box"))", in: "/")
        try restore(scene, .push, ["latest~2"], to: "box/copy").expect(0)
        #expect(try scene.text("box/copy/docs/deep/c") == "c")
        try scene.append("!", to: "box/copy/docs/a")
        let refused = try restore(scene, .push, ["latest~2", "docs/a"], to: "box/copy").expect(4)
        // The key refuses `--overwrite`.
        #expect(
            refused.errors.contains(
                key == "--restrict" ? " --overwrite" : "next: on that machine, or with another key"),
            "\(refused.errors)")
        let outside = try restore(scene, .push, ["latest~2"], to: "copy")
        #expect(outside.code == 4 && !scene.exists("copy"), "\(outside.errors)")
    }

    @Test func whatMakesNoSenseIsRefused() throws {
        let scene = try scene()
        try restore(scene, .pull, ["latest", "--to", "other:\(scene.path("copy"))"]).expect(
            64, says: "on two other machines")
        try scene.run("apply", "source", "other").expect(0)
        try restore(scene, .push, ["latest"], to: "other").expect(4, says: "is a target; give")
        #expect(try restore(scene, .pull, ["latest"], to: "no/such").code == 4)
    }
}
