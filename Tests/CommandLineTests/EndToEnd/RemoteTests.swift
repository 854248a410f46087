import Foundation
import TestNeeds
import TestSupport
import Testing

/// A source on another machine. A command in ssh's place starts the other end on this one.
@Suite("A source on another machine")
struct RemoteTests {
    private func scene(_ tree: TreeLiteral, _ far: String = FarMachine.connection) throws -> MirrorScene {
        try FarMachine(far).scene(tree)
    }

    // MARK: The same as here

    @Test(.needs(.root), arguments: FarMachine.Side.allCases)
    func everythingThatAnApplyCarriesComesOver(side: FarMachine.Side) throws {
        let scene = try FarMachine(has: side).scene(FarMachine.tree)
        try scene.build(
            .directory(
                [(TreeName([0xFF, 0x0A, 0x5C]), .file([1, 2], mode: 0o4755, modified: nil))], mode: 0o700,
                modified: nil),
            at: "source/odd")
        try scene.link("source/a/deep/link", to: "source/latest")
        try scene.setAttribute("user.note", "directory", of: "source/a/deep")
        try HostCommand.run("setfacl", "-d", "-m", "u:1234:rx", scene.path("source/empty"))
        try scene.buildEverything()
        try scene.mirrorAll()
        #expect(try scene.status("target/sparse").st_blocks < 1000)
        #expect(try scene.status("target/Z").st_ino == scene.status("target/Z2").st_ino)
        try scene.move("source/a", to: "source/b")
        let run = try scene.mirror("--exchange", "--digest", "--verify", "--json")
        #expect(try run.json().actionLinesButTimes == ["move a -> b (renamed)"])
    }

    /// What a run says, without the other machine and the name of the target.
    private func said(
        _ run: CommandRun, _ scene: MirrorScene, _ far: FarMachine, _ target: String
    ) -> [String] {
        let options = far.options.map { " \($0)" }.joined()
        func plain(_ text: String) -> String {
            var text = text.replacing(options, with: "")
            for path in [scene.source, scene.path(target)] {
                text = text.replacing("'far:\(path)'", with: path).replacing("far:\(path)", with: path)
            }
            return text.replacing(scene.path(target), with: "TARGET").replacing(target, with: "TARGET")
        }
        return ["\(run.code)", plain(run.output), plain(run.errors)]
    }

    /// After each change, a run makes the same tree and says the same as one between two directories here.
    @Test(arguments: FarMachine.Side.allCases, 1...6 as ClosedRange<UInt64>)
    func treesAndOutputAreTheSameAsHere(side: FarMachine.Side, seed: UInt64) throws {
        let scene = try MirrorScene([:], inMemory: true)
        let far = try FarMachine(has: side)
        try scene.remove("source")
        var tree = try DiskTree(scene.source, seed: seed)
        try tree.grow(25)
        let ways: [[String]] = [["-v"], ["--json"], [], ["--all", "--exchange", "-v"]]
        for round in 0..<4 {
            for options in [["plan"] + ways[round], ["plan", "--json"], ["apply"] + ways[round]] {
                let limits = ["--max-delete", "unlimited", "--allow-empty-source"]
                var said: [[String]] = []
                for target in ["there", "here"] {
                    scene.far = target == "there" ? far : nil
                    let option =
                        options[0] == "plan" ? options.filter { $0 != "--exchange" && $0 != "-v" } : options
                    let run = try scene.run(
                        [option[0], scene.source, scene.path(target)] + option.dropFirst() + limits)
                    said.append(self.said(run, scene, far, target))
                }
                #expect(said[0] == said[1], "seed \(seed), round \(round), \(options)")
            }
            let trees = try ["there", "here"].map { try TreeSnapshot(scene.path($0)) }
            #expect(try trees[0].differences(from: TreeSnapshot(scene.source)) == [], "seed \(seed)")
            #expect(trees[0].differences(from: trees[1]) == [], "seed \(seed)")
            try tree.change(10)
        }
    }

    @Test(arguments: [
        ["--exclude", "*.o"], ["--ignore-file", ".gitignore"], ["--exclude-caches"], ["--max-size", "3"],
        ["--exclude", "*.o", "--delete-excluded"], ["--one-file-system"],
    ])
    func filtersDecideAsTheyDoHere(options: [String]) throws {
        let scene = try scene([
            "a.o": "o", "keep": "k", "large": "12345", ".gitignore": "/sub/x\n*.tmp\n!b.tmp\n",
            "sub": ["x": "x", "y.tmp": "y", "b.tmp": "b", ".gitignore": "keep\n", "keep": "s"],
            "cache": ["CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55", "c": "c"],
        ])
        // An ignore file of the source excludes an entry of the target.
        let old = TreeLiteral.file("old", modified: TreeTime(1_600_000_000))
        let before: TreeLiteral = [
            "a.o": old, "sub": ["y.tmp": old, "keep": old], "cache": ["c": old], "large": old,
        ]
        for target in ["target", "here"] { try scene.build(before, at: target) }
        // A clock tick between the two must make no difference.
        for directory in ["sub", "cache", "."] {
            try scene.setTime(TreeTime(1_700_000_000), of: "source/\(directory)")
        }
        let there = try scene.run(["apply", "source", "target", "--adopt"] + options).expect(0)
        scene.far = nil
        let here = try scene.run(["apply", "source", "here", "--adopt"] + options)
        #expect(there.output == here.output)
        try scene.expectSame("target", as: "here")
    }

    /// The rules come before more entries than the window can hold.
    @Test func ignoreFilesOfALargeTreeComeFirst() throws {
        let scene = try scene([".gitignore": "*.o\n", "a.o": "o"])
        let long = String(repeating: "x", count: 200)
        let script = "cd \(scene.path("source")) && seq -f '\(long)%05.0f' 24000 | xargs touch"
        try HostCommand.run("sh", "-c", script)
        try scene.build(["b.o": "stays"], at: "target")
        let run = try scene.run("plan", "source", "target", "--adopt", "--ignore-file", ".gitignore").expect(
            0, prints: "24001 to create")
        #expect(!run.output.contains("b.o"), "\(run.output.suffix(200))")
    }

    @Test func aSavedPlanIsCarriedOutOrRefused() throws {
        let scene = try scene(FarMachine.tree)
        try scene.run("plan", "source", "target", "--out", "plan.json").expect(0)
        #expect(try scene.run("apply", "--plan", "plan.json").code == 0)
        try scene.expectMirrored()
        try scene.append("1", to: "source/a/one")
        #expect(try scene.run("plan", "source", "target", "--out", "plan.json").code == 0)
        try scene.append("2", to: "source/a/one")
        try scene.run("apply", "--plan", "plan.json").expect(5)
    }

    @Test func aJobPullsFromThere() throws {
        let scene = try scene(FarMachine.tree)
        try scene.writeJob("web", source: #""source": "me@far:\#(scene.source)""#)
        try scene.there("run", "web", "--create-target", "--settings", "settings.json").expect(0)
        try scene.expectMirrored()
    }

    @Test(arguments: FarMachine.Side.allCases)
    func hundredsOfFilesAndALargeOneGoThroughASmallWindow(side: FarMachine.Side) throws {
        let scene = try FarMachine(has: side).scene([
            "many": .files(0..<700, named: "f") { String(repeating: "\($0) ", count: $0) }
        ])
        try HostCommand.run("sh", "-c", "head -c 30000000 /dev/urandom > \(scene.path("source/large"))")
        for threads in ["1", "16"] {
            try scene.mirror("--threads", threads)
            try scene.remove("target")
        }
    }

    // MARK: What cannot be read there

    @Test(.needs(.root, .otherUser)) func whatTheFarUserCannotReadIsListed() throws {
        let scene = try scene(
            FarMachine.tree, #"exec setpriv --reuid 65534 --regid 65534 --clear-groups -- sh -c "$far""#)
        try scene.setMode(0o755, of: "source")
        try scene.setMode(0o755, of: ".")
        try HostCommand.run("install", "-m", "755", try BuiltCommand.path(), scene.path("command"))
        let far = try #require(scene.far)
        let options = ["--ssh", far.ssh, "--remote-command", scene.path("command")]
        scene.far = nil
        defer { withExtendedLifetime(far) {} }
        let pull = ["apply", "far:\(scene.source)", "target"] + options
        try scene.run(pull).expect(1, says: "a/two: Permission denied")
        #expect(!scene.exists("target"))
        try scene.run(pull + ["--keep-going"]).expect(3)
        #expect(try scene.text("target/a/one") == "1")
        #expect(!scene.exists("target/a/two"))
        // Attributes that the source's user cannot see are not removed here.
        try scene.setAttribute("trusted.note", "root", of: "target/a/one")
        try scene.append("more", to: "source/Z")
        try scene.setMode(0o640, of: "source/a/one")
        try scene.setMode(0o644, of: "source/a/one")
        #expect(try scene.run(pull + ["--keep-going"]).code == 3)
        let kept = try AttributeSnapshot(scene.target).entries[Array("a/one".utf8)]
        #expect(kept?.attributes[Array("trusted.note".utf8)] == Array("root".utf8))
    }

    // MARK: Messages

    private func refusal(
        _ scene: MirrorScene, _ code: Int32, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for command in ["plan", "apply"] {
            let run = try scene.run(command, "source", "target").expect(
                code, says: text, sourceLocation: sourceLocation)
            #expect(!run.errors.contains("\u{1B}"), sourceLocation: sourceLocation)
        }
        #expect(!scene.exists("target"), sourceLocation: sourceLocation)
    }

    @Test(arguments: [
        (
            "echo 'ssh: Could not resolve hostname far' >&2; exit 255",
            "ssh could not connect: ssh: Could not resolve hostname far"
        ),
        ("echo 'Host key verification failed.' >&2; exit 255", "Host key verification failed."),
        ("exec sh -c /nowhere/fsync-lite", "; give its path with --remote-command"),
        ("echo \"fsync-lite: 'serve' is no command\" >&2; exit 64", "is another version"),
        (
            "printf 'Welcome \\033[31m to far\\n'; exec sh -c \"$far\"",
            "the shell of that machine prints \"Welcome \" before"
        ),
        ("printf '\\n\\033[31m'; exec sh -c \"$far\"", "the shell of that machine prints \"\\x1B[31m"),
        ("printf '\\015'", "the connection was lost before fsync-lite answered"),
        (#"printf '\015\000\000\000\001fsync-li'"#, " --version"),
        (
            #"printf '\015\000\000\000\001fsync-lite\n\007\011'; cat >/dev/null"#,
            "speaks versions 7 to 9 of the protocol, and this one 5 to 5"
        ),
        (
            #"printf '\015\000\000\000\001fsync-bait\n\007\011'; cat >/dev/null"#,
            "this is not a greeting of fsync-lite"
        ),
        (
            #"printf '\015\000\000\000\001fsync-lite\n\005\005\377\377\377\377\003'; cat >/dev/null"#,
            "a frame of 4294967295 bytes"
        ),
        (
            #"printf '\015\000\000\000\001fsync-lite\n\005\005'; head -c 40 >/dev/null; printf '\003\000\000\000\003\001\001\200'; cat >/dev/null"#,
            "a frame is too short"
        ),
        (
            #"printf '\015\000\000\000\001fsync-lite\n\005\005\002\000\000\000\003\007\001'; cat >/dev/null"#,
            "an answer that was not asked for"
        ),
        (
            #"printf '\015\000\000\000\001fsync-lite\n\005\005'; head -c 40 >/dev/null; printf '\002\000\000\000\004\001\001'; cat >/dev/null"#,
            "an answer of the wrong kind"
        ),
        ("exit 0", "it ended without an answer"),
    ])
    func whatIsWrongIsSaid(far: String, message: String) throws {
        try refusal(try scene(["a": "a"], far), 69, message)
    }

    @Test func noSSHAndNoSource() throws {
        let scene = try scene(["a": "a"])
        try CommandRun(["plan", "far:/x", "target", "--ssh", "/nowhere/ssh"]).expect(
            69, says: "there is no /nowhere/ssh here")
        try scene.move("source", to: "elsewhere")
        try refusal(scene, 66, "/source: the source does not exist")
    }

    // MARK: A line that drops

    /// The other end's stream stops after so many bytes.
    @Test(.needs(.tool("stdbuf")), arguments: [1, 20, 200, 300, 600, 20_000, 300_000])
    func aLostLineLeavesTheOldTreeAndTheNextRunEnds(bytes: Int) throws {
        let scene = try scene(["old": "old"])
        try scene.mirror()
        let before = try TreeSnapshot(scene.target)
        try scene.build(FarMachine.files(150, of: 4000), at: "source/many")
        let whole = scene.far
        // The other end first receives everything that it needs to answer.
        scene.far = try FarMachine(#"sh -c "$far" | { stdbuf -o0 head -c \#(bytes); kill $$; }"#)
        let run = try scene.apply().expect(69)
        #expect(
            run.errors.contains("connection was lost") || run.errors.contains("ended without an answer"),
            "\(run.errors)")
        #expect(try TreeSnapshot(scene.target).differences(from: before) == [])
        scene.far = whole
        try scene.mirror()
    }

    @Test func whatWasStagedBeforeTheLineDroppedIsUsedAgain() throws {
        let scene = try scene(["z": "z"])
        try scene.build(FarMachine.files(400, of: 8000), at: "source/many")
        let whole = scene.far
        scene.far = try FarMachine(#"sh -c "$far" | { stdbuf -o0 head -c 2000000; kill $$; }"#)
        #expect(try scene.apply().code == 69)
        scene.far = whole
        let stages = try scene.names(in: "target/.fsync-lite/stage")
        let log = try scene.text("target/.fsync-lite/stage/\(try #require(stages.first))/log")
        #expect(log.split(separator: "\n").count > 100)
        try scene.mirror()
    }

    // MARK: The far end by itself

    @Test func onlyWhatLiesBeneathIsServed() throws {
        let scene = try scene(["in": ["a": "a"], "out": ["secret": "s"], "in2": ["b": "b"]])
        try scene.build(
            ["link": .symlink("../out"), "own": .symlink("a-directory"), "a-directory": ["c": "c"]],
            at: "source/in")
        let far = try FarMachine(
            #"exec "\#(BuiltCommand.path())" serve --read-only --restrict "\#(scene.path("source/in"))""#)
        func pull(_ path: String) throws -> CommandRun {
            try scene.here(["apply", "far:\(path)", "copy"] + far.options)
        }
        for path in [
            scene.path("source/out"), scene.path("source"), "..", "../out", "link", "a-directory/../../out",
            "/", scene.path("source/in2"), scene.path("source/in/../out"),
        ] {
            try pull(path).expect(4, says: "outside of the served directory")
            #expect(!scene.exists("copy"), "\(path)")
        }
        #expect(try pull("own").code == 0)
        #expect(try scene.text("copy/c") == "c")
        try scene.remove("copy")
        #expect(try pull(scene.path("source/in")).code == 0)
        #expect(try scene.text("copy/a") == "a")
    }

    /// Some schedulers ignore this signal, and then the kernel stores no exit codes.
    @Test func exitCodesAreThereWhereTheParentIgnoresThem() throws {
        let scene = try scene(FarMachine.tree)
        try scene.here(
            ["apply", "far:/nowhere", "target", "--ssh", "false"],
            under: ["env", "--ignore-signal=CHLD"]
        ).expect(69, says: "exit code 1")
    }
}
