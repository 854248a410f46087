import Foundation
import TestSupport
import Testing

/// Paths of another machine, in each form that people type. The command in ssh's place starts the other end
/// in a home directory, `far`.
@Suite("Paths of another machine")
struct FarPathTests {
    private struct Machine {
        let scene: MirrorScene
        let far: FarMachine

        /// - Parameter lines: for a shell, as in `FarMachine`.
        init(_ tree: TreeLiteral = ["a": "a"], _ lines: String = FarMachine.connection) throws {
            scene = try MirrorScene(tree, inMemory: true)
            scene.far = nil
            try scene.build(["there": "t"], at: "far")
            try scene.setMode(0o700, of: "far")
            let home = scene.path("far")
            far = try FarMachine("cd '\(home)'; export HOME='\(home)'\n\(lines)")
        }

        func expect(
            _ code: Int32, _ words: String..., says text: String = "",
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let run = try scene.here(words + far.options)
            #expect(
                run.code == code && (text.isEmpty || (run.output + run.errors).contains(text)),
                "\(words): \(run.code) \(run.output)\(run.errors)", sourceLocation: sourceLocation)
        }
    }

    /// The other machine knows only its own path of the target. A job's target is in its settings.
    @Test func theWayOutIsOnTheOtherMachine() throws {
        let machine = try Machine()
        let scene = machine.scene
        try machine.expect(0, "apply", "source", "nas:t")
        for target in ["nas:t/sub", "nas:t/.fsync-lite/x"] {
            try machine.expect(4, "apply", "source", target, says: "next: fsync-lite apply source 'nas:")
        }
        try machine.expect(
            4, "apply", "source", "ssh://me@nas:22/~/t/sub",
            says: "next: fsync-lite apply source 'ssh://me@nas:22")
        let job = #"{"source": "\#(scene.source)", "target": "nas:t/sub"}"#
        try scene.build(.file(#"{"jobs": {"j": \#(job)}}"#), at: "settings.json")
        let run = try scene.here(
            ["run", "j", "--create-target", "--settings", "settings.json"] + machine.far.options)
        #expect(run.code == 4 && !run.errors.contains("next: "), "\(run.code) \(run.errors)")
    }

    // MARK: Colons

    @Test func theFirstColonEndsTheHost() throws {
        let machine = try Machine()
        let (scene, target) = (machine.scene, "nas:m:x:y")
        try machine.expect(0, "apply", "source", target)
        #expect(try scene.text("far/m:x:y/a") == "a")
        try scene.append("2", to: "source/a")
        try machine.expect(0, "apply", "source", target)
        for words in [
            ["status", target], ["snapshot", "list", target], ["snapshot", "find", target, "a"],
            ["manifest", "show", target], ["manifest", "list", target],
            ["manifest", "list", "\(target)@latest~1"], ["snapshot", "verify", target],
            ["snapshot", "restore", target, "latest~1", "--to", "nas:c:d"],
            ["manifest", "diff", target, "source"],
        ] {
            try scene.here(words + machine.far.options).expect(0)
        }
        #expect(try scene.text("far/c:d/a") == "a")
        try machine.expect(0, "undo", target)
        #expect(try scene.text("far/m:x:y/a") == "a")
        // The target's settings are valid.
        try scene.build(
            .file(#"{"defaults": {"exclude": ["*.tmp"]}}"#, mode: 0o600),
            at: "far/m:x:y/.fsync-lite/settings.json")
        try scene.build("t", at: "source/b.tmp")
        try machine.expect(0, "plan", "source", target, "--out", "plan")
        try machine.expect(0, "apply", "--plan", "plan")
        #expect(try scene.text("far/m:x:y/a") == "a2" && !scene.exists("far/m:x:y/b.tmp"))
        // The same for a job, and for a source.
        try scene.writeJob(target: "nas:j:1")
        try machine.expect(0, "run", "j", "--create-target", "--settings", "settings.json")
        try scene.run("settings", "show", "j", "--settings", "settings.json").expect(0, prints: "nas:j:1")
        try machine.expect(0, "apply", target, "copy")
        #expect(try scene.text("copy/a") == "a2" && scene.text("far/j:1/a") == "a2")
    }

    @Test func whatLooksLikeAnOptionOrAHostIsAPathThere() throws {
        let machine = try Machine()
        for path in ["-m", "--quiet", "[a]:b", "m@host:x"] {
            try machine.expect(0, "apply", "source", "nas:\(path)")
            #expect(try machine.scene.text("far/\(path)/a") == "a")
            try machine.expect(0, "undo", "nas:\(path)")
        }
    }

    @Test(arguments: [
        ("2001:db8::1:m5", "[2001:db8::1]:m5"), ("me@2001:db8::1:/srv/m5", "me@[2001:db8::1]:/srv/m5"),
        ("fe80::1%eth0:m", "[fe80::1%eth0]:m"), ("::1:m", "[::1]:m"), ("2001:db8::1", "[2001:db8::1]:PATH"),
        ("ssh://2001:db8::1/m", "[2001:db8::1]"),
    ])
    func anAddressWithoutBracketsIsRefused(typed: String, right: String) throws {
        let machine = try Machine()
        for words in [["apply", "source", typed], ["apply", typed, "copy"], ["status", typed]] {
            try CommandRun(words + machine.far.options, in: machine.scene.directory.path).expect(
                64, says: right)
        }
        #expect(try machine.scene.names(in: "far") == ["there"])
    }

    @Test(arguments: ["cannot be reached", "no ssh"])
    func aDirectoryHereWithAColonIsPointedOut(reason: String) throws {
        let scene = try MirrorScene(["a": "a"])
        scene.far = nil
        try scene.build(["a": "a"], at: "2026:alps")
        try scene.build([:], at: "bin")
        let far = try FarMachine("echo 'ssh: could not resolve hostname 2026' >&2; exit 255")
        let ssh = reason == "no ssh" ? "\(scene.path("bin"))/ssh" : far.ssh
        for words in [
            ["apply", "2026:alps", "t"], ["apply", "source", "2026:alps"], ["status", "2026:alps"],
        ] {
            try scene.here(words + ["--ssh", ssh]).expect(69, says: "write ./2026:alps")
        }
        let other = try scene.here(["apply", "2026:x", "t", "--ssh", ssh])
        #expect(other.code == 69 && !other.errors.contains("write ./"), "\(other.errors)")
        #expect(try scene.run("apply", "./2026:alps", "t").code == 0)
        withExtendedLifetime(far) {}
    }

    // MARK: The command in ssh's place

    @Test(arguments: ["'", "\""])
    func quotesKeepBlanksInTheCommand(quote: String) throws {
        let machine = try Machine()
        let program = machine.scene.path("my ssh")
        try HostCommand.run("install", "-m", "755", machine.far.ssh, program)
        let ssh = "\(quote)\(program)\(quote) -i \(quote)a key\(quote)"
        let words = ["apply", "source", "far:m", "--remote-command", try BuiltCommand.path()]
        let directory = machine.scene.directory.path
        try CommandRun(words + ["--ssh", ssh], in: directory).expect(0)
        try CommandRun(words, in: directory, environment: ["FSYNC_LITE_SSH": ssh]).expect(0)
        try CommandRun(words + ["--ssh", "ssh -i \(quote)a key"], in: directory).expect(
            64, says: "a quote without an end")
    }

    // MARK: Home directories

    @Test func aTildeIsTheHomeDirectoryThere() throws {
        let machine = try Machine()
        let scene = machine.scene
        for home in ["nas:~", "nas:~/", "ssh://nas:22/~", "ssh://nas/~/"] {
            // The guard for a directory that is in use.
            try machine.expect(4, "apply", "source", home, says: "--adopt")
            try machine.expect(0, "apply", home, "home", "--change-source")
            #expect(try scene.text("home/there") == "t")
        }
        for target in ["nas:~/m1", "ssh://nas:22/~/m2", "ssh://nas/~/m3"] {
            try machine.expect(0, "apply", "source", target)
            try machine.expect(0, "status", target, says: "target     \(target)\n")
            try machine.expect(
                0, "snapshot", "restore", target, "latest", "--to", "\(target)-copy", "--dry-run")
            #expect(try scene.text("far/m\(target.last ?? "?")/a") == "a")
        }
        for target in ["nas:~root", "nas:~root/x", "ssh://nas:22/~root/x"] {
            try machine.expect(64, "apply", "source", target, says: "another user's home directory")
            try machine.expect(64, "apply", target, "copy", says: "./~root")
        }
        try machine.expect(64, "snapshot", "restore", "nas:m1", "latest", "--to", "nas:~x")
        #expect(
            try scene.names(in: "far")
                == ["m1", "m2", "m3", "there"])
        // A user who means such a directory can say so.
        try machine.expect(0, "apply", "source", "nas:./~root")
        #expect(try scene.text("far/~root/a") == "a")
    }

    /// A shell does not replace it in `--option=~/x`, and in quotes.
    @Test func noDirectoryHereIsNamedTilde() throws {
        let scene = try MirrorScene(["a": "a"])
        scene.far = nil
        for words in [
            ["apply", "source", "~/m"], ["apply", "source", "~"],
            ["apply", "source", "target", "--log-file=~/log"],
            ["plan", "source", "target", "--out=~/plan"], ["manifest", "create", "source", "-o", "~/m.json"],
        ] {
            try scene.run(words).expect(64, says: "./~")
        }
        #expect(try scene.names(in: ".") == ["source"])
        #expect(try scene.run("apply", "source", "./~").code == 0)
    }

    // MARK: What is served

    @Test(arguments: ["", "/", "//", "/."])
    func whatIsServedIsTheSameInAnySpelling(ending: String) throws {
        let restriction = "$HOME/real\(ending)"
        let machine = try Machine(
            ["a": "a"], #"exec "\#(BuiltCommand.path())" serve --restrict "\#(restriction)""#)
        let scene = machine.scene
        try scene.build(["in": ["x": "x"]], at: "far/real")
        try scene.setMode(0o700, of: "far/real")
        try scene.build(["link": .symlink("far/real"), "way": .symlink("far")], at: "names")
        for name in ["link", "way"] { try scene.move("names/\(name)", to: name) }
        let (real, link, way) = (scene.path("far/real"), scene.path("link"), scene.path("way/real"))
        for top in [real, "\(scene.path("far"))//real", "\(scene.path("far"))/./real", link, way] {
            for path in [top, "\(top)/", "\(top)/./in/.."] {
                try machine.expect(0, "apply", "far:\(path)", "copy", "--change-source")
                #expect(try scene.text("copy/in/x") == "x")
            }
            try machine.expect(0, "apply", "source", "far:\(top)//m")
            try machine.expect(0, "status", "far:\(top)/./m/")
            try scene.remove("far/real/m")
            try scene.remove("copy")
        }
        for path in ["\(scene.path("far"))/there", scene.path("source"), "/nowhere", "\(real)2"] {
            try machine.expect(
                4, "apply", "far:\(path)", "copy", says: "outside of the served directory \(real)")
            try machine.expect(
                4, "apply", "source", "far:\(path)/m", says: "outside of the served directory \(real)")
        }
        try machine.expect(4, "apply", "source", "far:in/../m", says: "without ..")
    }
}

/// The numbers 0, 1 and 2 are those of the standard streams, even if the parent has closed them.
@Suite("Closed standard streams")
struct ClosedStreamTests {
    private static let closed = ["sh", "-c", #"exec "$@" <&- >&- 2>&-"#, "sh"]

    @Test func theLineToAnotherMachineGetsNoOutput() throws {
        let scene = try MirrorScene(["a": "a", "b": "b"], inMemory: true)
        let file = scene.path("one")
        scene.far = try FarMachine(
            "for n in 0 1 2; do readlink /proc/$PPID/fd/$n; done > '\(file)'\n\(FarMachine.connection)",
            has: .target)
        let far = try #require(scene.far)
        try scene.here(
            ["apply", "--verbose", "source", "far:\(scene.target)"] + far.options,
            under: ClosedStreamTests.closed
        ).expect(0)
        #expect(try scene.text("one") == String(repeating: "/dev/null\n", count: 3))
        try scene.expectMirrored()
    }

    @Test func aHookAndALogGetNoOutput() throws {
        let scene = try MirrorScene(["a": "a"])
        let file = scene.path("one")
        let hook = "for n in 0 1 2; do readlink /proc/$PPID/fd/$n; done > '\(file)'; echo hello"
        try scene.writeJob("j", #", "before": ["sh", "-c", "\#(hook)"]"#)
        try scene.here(
            [
                "run", "j", "--verbose", "--create-target", "--log-file", "log", "--settings",
                "settings.json",
            ], under: ClosedStreamTests.closed
        ).expect(0)
        #expect(try scene.text("one") == String(repeating: "/dev/null\n", count: 3))
        #expect(try scene.text("log").split(separator: "\n").count == 1)
        try scene.expectMirrored()
    }
}
