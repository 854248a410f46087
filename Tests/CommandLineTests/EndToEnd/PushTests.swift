import Foundation
import Glibc
import TestNeeds
import TestSupport
import Testing

/// A target on another machine: a command in ssh's place starts the far end on this one.
@Suite("A target on another machine")
struct PushTests {
    private func scene(_ tree: TreeLiteral, _ far: String? = nil) throws -> MirrorScene {
        let scene = try MirrorScene(tree, inMemory: true)
        scene.far = try far.map { try FarMachine($0, has: .target) } ?? FarMachine(has: .target)
        return scene
    }

    private static let tree: TreeLiteral = [
        "a": ["one": "1", "two": .file("2", mode: 0o600), "deep": ["er": ["x": "x"]]],
        "empty": [:], "zero": "", "pipe": .fifo(), "latest": .symlink("a/one"), "Z": "upper",
    ]

    // MARK: The same as here

    @Test(.needs(.root)) func everythingThatAnApplyCarriesGoesOver() throws {
        let scene = try scene(Self.tree)
        try scene.link("source/Z2", to: "source/Z")
        try scene.setAttribute("user.note", "hello", of: "source/a/one")
        try scene.setAttribute("trusted.note", "root", of: "source/a/two")
        try HostCommand.run("setfacl", "-m", "u:1234:r", scene.path("source/zero"))
        try HostCommand.run("truncate", "-s", "20M", scene.path("source/sparse"))
        try scene.append("end", to: "source/sparse")
        try HostCommand.run("mknod", scene.path("source/null"), "c", "1", "3")
        try scene.setOwner(12, 34, of: "source/a/one")
        try scene.setTime(TreeTime(-5, 123_456_789), of: "source/empty")
        try scene.mirrorAll()
        #expect(try scene.status("target/sparse").st_blocks < 1000)
        #expect(try scene.status("target/Z").st_ino == scene.status("target/Z2").st_ino)
        try scene.move("source/a", to: "source/b")
        let run = try scene.mirror("--exchange", "--digest", "--verify", "--json")
        #expect(try run.json().actionLinesButTimes == ["move a -> b (renamed)"])
    }

    /// What a run says, but for the times of the log and the name of the target.
    private func said(_ run: CommandRun, _ scene: MirrorScene, _ target: String) -> [String] {
        func plain(_ text: String) -> String {
            let options = scene.far?.options.map { " \($0)" }.joined() ?? ""
            return text.replacingOccurrences(of: options, with: "")
                .replacingOccurrences(of: "'far:\(scene.path(target))'", with: "TARGET")
                .replacingOccurrences(of: "far:\(scene.path(target))", with: "TARGET")
                .replacingOccurrences(of: scene.path(target), with: "TARGET")
                .replacingOccurrences(of: target, with: "TARGET")
        }
        return ["\(run.code)", plain(run.output), plain(run.errors)]
    }

    /// After each change, a push makes the same tree as an apply here, and says the same.
    @Test(arguments: 1...6) func treesAndOutputAreTheSameAsHere(seed: UInt64) throws {
        let scene = try scene([:])
        let far = scene.far
        try scene.remove("source")
        var tree = try DiskTree(scene.source, seed: seed)
        try tree.grow(25)
        let ways: [[String]] = [["-v"], ["--json"], [], ["--all", "--exchange", "-v"]]
        for round in 0..<4 {
            for options in [["plan"] + ways[round], ["plan", "--json"], ["apply"] + ways[round]] {
                let limits = ["--max-delete", "unlimited", "--allow-empty-source"]
                var said: [[String]] = []
                for (target, machine) in [("there", far), ("here", nil)] {
                    scene.far = machine
                    let option = options[0] == "plan" ? options.filter { $0 != "--exchange" && $0 != "-v" } : options
                    let run = try scene.run([option[0], "source", target] + option.dropFirst() + limits)
                    scene.far = far
                    said.append(self.said(run, scene, target))
                }
                #expect(said[0] == said[1], "seed \(seed), round \(round), \(options)")
            }
            let trees = try ["there", "here"].map { try TreeSnapshot(scene.path($0)) }
            #expect(try trees[0].differences(from: TreeSnapshot(scene.source)) == [], "seed \(seed)")
            #expect(trees[0].differences(from: trees[1]) == [], "seed \(seed)")
            try tree.change(10)
        }
    }

    @Test func guardsRefuseWithTheCommandThatWasTyped() throws {
        let scene = try scene(Self.tree)
        try scene.mirror()
        for name in ["a", "empty", "zero", "pipe", "Z"] { try scene.remove("source/\(name)") }
        let run = try scene.apply()
        #expect(run.code == 4, "\(run.errors)")
        #expect(
            run.errors.contains("to go ahead: fsync-lite apply source 'far:\(scene.target)' --ssh"),
            "\(run.errors)")
        #expect(try scene.apply("--max-delete", "unlimited").code == 0)
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
        #expect(try scene.text("log").contains("apply committed: 2 created"))
    }

    /// The target's own settings stand between the user's defaults and the command line, as they do here.
    @Test func settingsOfTheTargetHold() throws {
        let scene = try scene(["a.o": "o", "b.tmp": "b", "keep": "k"])
        try scene.mirror()
        try scene.build(
            ["settings.json": .file(#"{"keep_last": 7, "defaults": {"exclude": ["*.tmp"]}}"#, mode: 0o600)],
            at: "target/.fsync-lite")
        try scene.append("more", to: "source/b.tmp")
        #expect(try scene.apply("--exclude", "*.o").code == 0)
        #expect(try scene.text("target/b.tmp") == "b")
        let run = try scene.run("snapshot", "list", "target", "--json")
        #expect(run.output.contains(#""keep_last":7"#), "\(run.output)")
    }

    @Test func aSourceThatIsMissingIsToldBeforeAnyConnection() throws {
        let scene = try scene(["a": "a"], "echo connected >&2; exit 255")
        let run = try scene.run("apply", "nowhere", "target")
        #expect(run.code == 66 && run.errors.contains("nowhere: the source does not exist"), "\(run.errors)")
        let both = try scene.run("apply", "far:/x", "target")
        #expect(both.code == 64 && both.errors.contains("both on other machines"), "\(both.errors)")
    }

    @Test func whatCannotBeReadHereIsListed() throws {
        let scene = try scene(["a": "a", "b": "b"])
        try scene.mirror()
        try scene.append("more", to: "source/a")
        try HostCommand.run("truncate", "-s", "1M", scene.path("source/b"))
        let run = try scene.run("apply", "source", "target", "--json", "--max-size", "100")
        #expect(run.code == 0, "\(run.errors)")
        #expect(try scene.text("target/a") == "amore")
    }

    @Test func hundredsOfFilesAndALargeOneGoThroughASmallWindow() throws {
        let scene = try scene([
            "many": .directory(
                (0..<700).map {
                    (TreeName(Array("f\($0)".utf8)), .file(String(repeating: "\($0) ", count: $0)))
                },
                mode: 0o755, modified: nil)
        ])
        try HostCommand.run("sh", "-c", "head -c 30000000 /dev/urandom > \(scene.path("source/large"))")
        for threads in ["1", "16"] {
            try scene.mirror("--threads", threads)
            try scene.remove("target")
        }
    }
}
