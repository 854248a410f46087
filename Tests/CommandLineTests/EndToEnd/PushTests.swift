import Foundation
import TestNeeds
import TestSupport
import Testing

/// A target on another machine. A command in ssh's place starts the other end on this one.
@Suite("A target on another machine")
struct PushTests {
    private func scene(_ tree: TreeLiteral, _ far: String = FarMachine.connection) throws -> MirrorScene {
        try FarMachine(far, has: .target).scene(tree)
    }

    // MARK: The same as here

    @Test func guardsRefuseWithTheCommandThatWasTyped() throws {
        let scene = try scene(FarMachine.tree)
        try scene.mirror()
        for name in ["empty", "zero", "pipe"] { try scene.remove("source/\(name)") }
        try scene.apply("--max-delete", "2").expect(
            4, says: "next: fsync-lite apply source 'far:\(scene.target)' --ssh")
        #expect(try scene.apply().code == 0)
        try scene.expectMirrored()
    }

    @Test func filesThatOptionsNameAreOfThisMachine() throws {
        let scene = try scene(["a.o": "o", "b.o": "b", "keep": "k", "x.tmp": "x"])
        try scene.build(["patterns": "*.o\n!b.o\n"], at: "lists")
        try scene.build(["settings.json": #"{"defaults": {"exclude": ["*.tmp"], "quiet": true}}"#], at: "etc")
        let run = try scene.apply(
            "--exclude-from", "lists/patterns", "--settings", "etc/settings.json", "--log-file", "log")
        #expect(run.code == 0 && run.output.isEmpty && run.errors.isEmpty, "\(run.output)\(run.errors)")
        #expect(!scene.exists("target/a.o") && scene.exists("target/b.o") && !scene.exists("target/x.tmp"))
        try scene.plan("--exclude", "\(scene.source)/keep").expect(says: "begins with the path of the source")
        #expect(try scene.text("log").contains("apply committed: 2 created"))
    }

    @Test func aSourceThatIsMissingIsToldBeforeAnyConnection() throws {
        let scene = try scene(["a": "a"], "echo connected >&2; exit 255")
        let run = try scene.run("apply", "nowhere", "target")
        #expect(run.code == 66 && run.errors.contains("nowhere: the source does not exist"), "\(run.errors)")
        try scene.run("apply", "far:/x", "target").expect(64, says: "both on other machines")
    }

    // MARK: A line that drops

    /// The output of one end stops after so many bytes.
    private static let lostLines: [String] = {
        let back = [1, 20, 60, 100, 150, 200, 300, 600, 1000, 1100, 1200, 1300, 5000]
        let there = [1, 20, 60, 200, 250, 300, 600, 2000, 20_000, 100_000, 160_000, 170_000, 300_000]
        return back.map { #"sh -c "$far" | { stdbuf -o0 head -c \#($0); kill $$; }"# }
            + there.map { #"stdbuf -i0 -o0 head -c \#($0) | sh -c "$far""# }
    }()

    @Test(.needs(.tool("stdbuf")), arguments: lostLines)
    func aLostLineLeavesTheOldTreeOrTheNewOneAndTheNextRunEnds(line: String) throws {
        let scene = try scene(["old": "old"])
        try scene.mirror()
        let before = try TreeSnapshot(scene.target)
        try scene.build(FarMachine.files(40, of: 4000), at: "source/many")
        scene.far = try FarMachine(line, has: .target)
        let run = try scene.apply("-v")
        // The other end may still be running.
        try HostCommand.run("flock", scene.target, "true")
        let now = try TreeSnapshot(scene.target)
        let isNew = try now.differences(from: TreeSnapshot(scene.source)) == []
        let isOld = now.differences(from: before) == []
        #expect(isNew || isOld, "\(run.errors)")
        #expect([0, 1, 6, 69].contains(run.code), "\(run.errors)")
        if run.code == 0 { #expect(isNew) }
        if run.errors.contains("the target is unchanged") { #expect(isOld, "\(run.errors)") }
        scene.far = try FarMachine(has: .target)
        try scene.mirror()
    }

    @Test(arguments: ["exit 255", "echo no >&2; exit 127", "printf 'Welcome\n'; exec sh -c \"$far\""])
    func whatIsWrongWithTheConnectionIsSaid(far: String) throws {
        let scene = try scene(["a": "a"], far)
        try scene.apply().expect(69, says: "far:")
        let json = try scene.apply("--json")
        #expect(try json.json().text("code") == "unreachable")
    }

    /// A Ctrl-C is sent to the other machine, even while a file is sent.
    @Test(.needs(.tool("python3"))) func aSignalStopsTheRunThere() throws {
        let scene = try scene(["a": "a", "b": "b"])
        // The first request for content waits until the signal has arrived.
        scene.far = try FarMachine(
            FarMachine.relay(
                back: """
                    if frame[4] == 2 and frame[6] == 7 and not passed[14].is_set():
                        os.kill(os.getppid(), signal.SIGINT)
                        passed[14].wait()
                    """), has: .target)
        try scene.apply().expect(130, says: "interrupted; the target is unchanged")
        #expect(!scene.exists("target/a"))
        scene.far = try FarMachine(has: .target)
        try scene.mirror()
    }

    // MARK: Keys that may do less

    @Test func aRestrictedKeyWritesOnlyBeneath() throws {
        let scene = try scene(["a": "a"])
        try scene.build(
            [
                "in": ["link": .symlink("../out"), "own": .symlink("sub"), "sub": [:]], "out": [:],
                "in2": [:],
            ],
            at: "there")
        try scene.setMode(0o700, of: "there/in")
        let restriction = scene.path("there/in")
        scene.far = try FarMachine(serving: #"--restrict "\#(restriction)""#, in: scene.directory.path)
        let key = try #require(scene.far).options
        func apply(_ path: String, _ options: String...) throws -> CommandRun {
            try scene.here(["apply", "source", "far:\(path)"] + options + key)
        }
        for path in [
            "/tmp/x", "..", "../out", "sub/..", "link", "link/x", "own/x", ".", restriction,
            "\(restriction)/..",
            scene.path("there/in2/x"), scene.path("there/out"),
        ] {
            let run = try apply(path, "--adopt", "--create-parents").expect(4)
            if path.hasPrefix("link") {
                #expect(run.errors.contains("outside of the served directory"), "\(run.errors)")
            }
        }
        for path in ["there/out", "there/in2", "there/in/sub"] {
            let names = try scene.names(in: path)
            #expect(names == [], "\(path)")
        }
        for path in ["one", "\(restriction)/two", "new/deep/three"] {
            try apply(path, "--create-parents").expect(0)
        }
        for name in ["one", "two", "new/deep/three"] { #expect(try scene.text("there/in/\(name)/a") == "a") }
        #expect(try apply("one", "--exchange", "--json").code == 0)
        try scene.setMode(0o755, of: "there/in")
        try apply("one").expect(4, says: "chmod 700")
    }

    @Test func anAppendOnlyKeyKeepsTheHistory() throws {
        let scene = try scene(["a": "0"])
        try scene.plan("--out", "ruled", "--keep-last", "1").expect(0)
        scene.far = try FarMachine(serving: "--append-only", in: scene.directory.path)
        try scene.run("apply", "--plan", "ruled").expect(4, says: "--keep-last is a rule of retention")
        try scene.plan("--out", "plain").expect(0)
        try scene.run("apply", "--plan", "plain", "--keep-last", "1").expect(
            4, says: "next: fsync-lite apply --plan plain --ssh ")
        for number in 1...5 {
            try scene.append("\(number)", to: "source/a")
            #expect(try scene.apply().code == 0)
        }
        try scene.build([:], at: "empty")
        let all = try scene.snapshots().count
        try scene.build(["settings.json": .file(#"{"keep_last": 1}"#, mode: 0o600)], at: "target/.fsync-lite")
        try scene.append("6", to: "source/a")
        #expect(try scene.apply().code == 0)
        #expect(try scene.snapshots().count == all + 1)
        for options in [
            ["--keep-last", "1"], ["--retention", "default"], ["--max-delete", "unlimited"],
            ["--allow-empty-source"], ["--adopt"], ["--change-source"], ["--delete-targets"],
        ] {
            try scene.there(["apply", "source", "far:target"] + options).expect(4, says: "append-only")
        }
        let empty = try scene.there("apply", "empty", "far:target").expect(4, says: "another key")
        #expect(!empty.errors.contains("--allow-empty-source"), "\(empty.errors)")
        try scene.there("snapshot", "prune", "far:target", "--keep-last", "1").expect(4, says: "append-only")
        #expect(try scene.snapshots().count == all + 1)
        #expect(try scene.there("undo", "far:target").code == 0)
        #expect(try scene.text("target/a") == "012345")
        #expect(try scene.snapshots().count == all + 2)
    }

    // MARK: Saved plans and jobs

    @Test func aSavedPlanIsOfThisMachineAndCarriedOutThere() throws {
        let scene = try scene(["a": "a", "b": ["c": "c"], "x.o": "o"])
        try scene.build(["list": "*.o\n"], at: "lists")
        try scene.plan("--out", "plan.json", "--exclude-from", "lists/list").expect(
            0, says: "to carry it out: fsync-lite apply --plan plan.json")
        #expect(try scene.text("plan.json").contains("\"source\":\"\(scene.source)\""))
        try scene.run("plan", "--show", "plan.json").expect(prints: "target     far:\(scene.target)")
        func carryOut() throws -> CommandRun {
            try scene.run("apply", "--plan", "plan.json", "-v")
        }
        try carryOut().expect(0, prints: "+ b/c")
        #expect(try scene.text("target/b/c") == "c" && !scene.exists("target/x.o"))
        try carryOut().expect(5)
        try scene.append("1", to: "source/a")
        #expect(try scene.plan("--out", "plan.json", "--exclude", "*.o").code == 0)
        try scene.append("2", to: "source/a")
        try carryOut().expect(
            5, says: "a: changed in the source", "next: fsync-lite plan \(scene.source) 'far:\(scene.target)'"
        )
    }

    /// The job's commands and its log are on this machine. The output is labelled as here.
    @Test func aJobPushesWithItsCommandsAndItsLog() throws {
        let scene = try scene(["a": "a", "b.tmp": "b", "c.o": "c"])
        func settings(_ target: String) throws {
            let hook = { (name: String) in #"["sh", "-c", "cat > \#(scene.path(name))"]"# }
            let text = #"""
                {"defaults": {"exclude": ["*.o"], "log_file": "\#(scene.path("log"))"},
                 "jobs": {"nas": {"source": "\#(scene.source)", "target": "\#(target)", "exclude": ["*.tmp"],
                   "keep_last": 9, "report": "json", "after": \#(hook("after")), "on_failure": \#(hook("failed"))}}}
                """#
            try scene.build(["settings.json": .file(text)], at: "etc")
        }
        func run(_ words: String...) throws -> CommandRun {
            try scene.there(words + ["--settings", "etc/settings.json"])
        }
        try settings("far:\(scene.target)")
        try run("run", "nas").expect(4, says: "nas: refused:", "fsync-lite run nas ", "--create-target")
        #expect(try scene.text("failed").contains(#""outcome":"refused""#))
        try run("run", "nas", "--create-target", "--dry-run").expect(0, prints: "+ a")
        #expect(!scene.exists("target"))
        let done = try run("run", "nas", "--create-target")
        #expect(
            done.code == 0 && done.output == "nas: 1 created; 0 unchanged; 1 B copied\n", "\(done.errors)")
        #expect(try scene.text("target/a") == "a")
        #expect(!scene.exists("target/b.tmp") && !scene.exists("target/c.o"))
        let report = try scene.text("after")
        #expect(report.contains(#""outcome":"committed""#) && report.contains(#""job":"nas""#), "\(report)")
        #expect(try scene.text("log").contains("nas: run committed: 1 created"))
        #expect(try run("plan", "--job", "nas").output.contains("nothing to do"))
        try run("snapshot", "list", "far:\(scene.target)").expect(prints: "keep_last 9")
        try scene.here(
            ["run", "nas", "--settings", "etc/settings.json", "--ssh", "false"]
        ).expect(69, says: "nas: ")
        try run("status", "--all").expect(0, prints: "nas  ")
    }
}
