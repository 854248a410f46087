import Foundation
import TestNeeds
import TestSupport
import Testing

/// Files that another user made or could change, and a run of root.
@Suite("Other users' files")
struct OtherUsersFilesTests {
    private static let user: UInt32 = 1234

    // MARK: Hooks

    /// Found by PATH, given to an interpreter, or named.
    @Test(.needs(.root), arguments: [["hook"], ["sh", "DIR/hook"], ["DIR/hook"]])
    func aProgramOfAnotherUserIsNoHook(words: [String]) throws {
        let scene = try MirrorScene(["a": "1"]).mirrored()
        try scene.append("2", to: "source/a")
        try scene.build(
            ["hook": .file("#!/bin/sh\ntouch \(scene.path("mark"))\n", mode: 0o755)], at: "theirs")
        let line = words.map { "\"\($0.replacingOccurrences(of: "DIR", with: scene.path("theirs")))\"" }
        try scene.build(
            [
                "settings.json": .file(
                    #"{"jobs": {"j": {"source": "\#(scene.source)", "target": "\#(scene.target)", "before": [\#(line.joined(separator: ", "))]}}}"#,
                    mode: 0o600)
            ], at: "own")
        let search = "\(scene.path("theirs")):/usr/bin:/bin"
        func run() throws -> CommandRun {
            try scene.here(["run", "j", "--settings", "own/settings.json"], environment: ["PATH": search])
        }
        for name in ["theirs/hook", "theirs"] {
            try scene.setOwner(Self.user, Self.user, of: name)
            try run().expect(1, says: "belongs to user 1234")
            #expect(try !scene.exists("mark") && scene.text("target/a") == "1")
            try scene.setOwner(0, 0, of: name)
        }
        #expect(try run().code == 0 && scene.exists("mark"))
    }

    // MARK: Settings

    /// A source, and settings in a user's home, with a hook that leaves a mark.
    private func home() throws -> MirrorScene {
        let scene = try MirrorScene(["a": "1"]).mirrored()
        try scene.append("2", to: "source/a")
        let settings =
            #"{"jobs": {"j": {"source": "\#(scene.source)", "target": "\#(scene.target)", "#
            + #""before": ["touch", "\#(scene.path("mark"))"]}}}"#
        try scene.build([".config": ["fsync-lite": ["settings.json": .file(settings, mode: 0o644)]]], at: "u")
        return scene
    }

    private func run(_ scene: MirrorScene, _ arguments: [String]) throws -> CommandRun {
        try scene.here(arguments, environment: ["HOME": scene.path("u"), "XDG_CONFIG_HOME": ""])
    }

    private static let file = "u/.config/fsync-lite/settings.json"

    /// As after `su`, or with a `sudo` that leaves HOME unchanged.
    @Test(.needs(.root), arguments: ["u/.config/fsync-lite/settings.json", "u/.config/fsync-lite", "u"])
    func settingsOfAnotherUserGiveRootNoCommands(owned: String) throws {
        let scene = try home()
        try scene.setOwner(Self.user, Self.user, of: owned)
        let all = [["run", "--all"], ["run", "j"], ["status", "--all"], ["settings", "show"]]
        for arguments in all + [["run", "j", "--settings", Self.file]] {
            let run = try run(scene, arguments).expect(
                4, says: "\(scene.path(owned)): it belongs to user 1234", "chown root \(scene.path(owned))")
            #expect(run.errors.contains("HOME=/root") == !arguments.contains("--settings"), "\(run.errors)")
        }
        #expect(try !scene.exists("mark") && scene.text("target/a") == "1")
        try scene.setOwner(0, 0, of: owned)
        let run = try run(scene, ["run", "--all"])
        #expect(run.code == 0 && scene.exists("mark"), "\(run.errors)")
    }

    @Test(
        .needs(.root),
        arguments: [
            (Self.file, 0o646), (Self.file, 0o664), ("u/.config", 0o777), ("u", 0o775),
        ] as [(String, mode_t)])
    func settingsThatOthersMayWriteToGiveRootNoCommands(name: String, mode: mode_t) throws {
        let scene = try home()
        try scene.setMode(mode, of: name)
        try run(scene, ["run", "--all"]).expect(
            4, says: "\(scene.path(name)): other users may write to it", "chmod go-w \(scene.path(name))")
        #expect(!scene.exists("mark"))
    }

    /// In a directory such as /tmp nobody can change root's file.
    @Test(.needs(.root)) func settingsInAStickyDirectoryAreRoots() throws {
        let scene = try home()
        try scene.setMode(0o1777, of: "u/.config/fsync-lite")
        #expect(try run(scene, ["run", "--all"]).code == 0)
        try scene.setOwner(Self.user, Self.user, of: Self.file)
        #expect(try run(scene, ["run", "--all"]).code == 4)
    }

    /// A user could point the link to other settings of root.
    @Test(.needs(.root)) func symlinkOfAnotherUserLeadsToNoSettings() throws {
        let scene = try home()
        try scene.move("u/.config", to: "config")
        try #require(symlink("../config", scene.path("u/.config")) == 0)
        #expect(try run(scene, ["run", "--all"]).code == 0)
        try scene.setOwner(Self.user, Self.user, of: "u/.config")
        try run(scene, ["run", "--all"]).expect(4, says: "\(scene.path("u/.config")): it belongs")
        // Also root's link to the user's file.
        try scene.setOwner(0, 0, of: "u/.config")
        try scene.setOwner(Self.user, Self.user, of: "config")
        try self.run(scene, ["run", "--all"]).expect(4, says: "config: it belongs")
    }

    @Test(.needs(.root)) func settingsFromAPipeAreTaken() throws {
        let scene = try home()
        let run = try scene.here(
            ["run", "--all", "--settings", "/dev/stdin"],
            under: ["sh", "-c", "cat \(Self.file) | \"$@\"", "sh"])
        #expect(run.code == 0 && scene.exists("mark"), "\(run.errors)")
    }

    @Test(.needs(.root)) func commandsWithoutJobsNeedNoHome() throws {
        let scene = try home()
        try scene.remove(Self.file)
        try scene.setOwner(Self.user, Self.user, of: "u")
        try run(scene, ["apply", "source", "target"]).expect(0)
    }

    /// It names a source, a target and options.
    @Test(.needs(.root)) func savedPlanOfAnotherUserIsNotApplied() throws {
        let scene = try MirrorScene(["a": "1"])
        #expect(try scene.plan("--out", "saved").code == 0)
        try scene.setOwner(Self.user, Self.user, of: "saved")
        try scene.run("apply", "--plan", "saved").expect(4, says: "saved: it belongs to user 1234")
        #expect(!scene.exists("target"))
        try scene.setOwner(0, 0, of: "saved")
        #expect(try scene.run("apply", "--plan", "saved").code == 0)
    }

    // MARK: Files that are written

    /// The options that name an output file.
    private static let outputs = [
        ["apply", "source", "target", "--log-file"], ["plan", "source", "target", "--out"],
        ["manifest", "create", "source", "-o"],
    ]

    @Test(arguments: outputs) func newFileIsForItsUserOnly(command: [String]) throws {
        let scene = try MirrorScene(["a": "1"])
        #expect(try scene.run(command + ["file"]).code == 0)
        #expect(try scene.status("file").st_mode & 0o777 == 0o600)
        // A user may give it to others.
        try scene.setMode(0o644, of: "file")
        #expect(try scene.run(command + ["file"]).code == 0)
        #expect(try scene.status("file").st_mode & 0o777 == 0o644)
    }

    /// Objects that a user has planted in a directory like /tmp or in an own one: a link to a file of root, a
    /// file to read the later content, a pipe.
    @Test(.needs(.root), arguments: outputs, ["symlink", "dangling", "file", "pipe"])
    func plantedFileIsNotWrittenTo(command: [String], kind: String) throws {
        let scene = try MirrorScene(["a": "1"])
        try scene.build(["roots": "important"], at: "etc")
        try scene.build([:], at: "tmp")
        try scene.setMode(0o1777, of: "tmp")
        switch kind {
        case "symlink": try #require(symlink("../etc/roots", scene.path("tmp/file")) == 0)
        case "dangling": try #require(symlink("../etc/new", scene.path("tmp/file")) == 0)
        case "file": try scene.build(.file("", mode: 0o666), at: "tmp/file")
        default: try #require(mkfifo(scene.path("tmp/file"), 0o666) == 0)
        }
        try scene.setOwner(Self.user, Self.user, of: "tmp/file")
        let reader = kind == "pipe" ? open(scene.path("tmp/file"), O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1
        defer { if reader >= 0 { close(reader) } }
        for (owner, mode) in [(0, 0o1777), (Self.user, 0o755)] as [(UInt32, mode_t)] {
            try scene.setOwner(owner, owner, of: "tmp")
            try scene.setMode(mode, of: "tmp")
            let before = try TreeSnapshot(scene.path("tmp"))
            let run = try scene.run(command + ["tmp/file"])
            // A run does not fail because of its log.
            #expect(run.code == (command[0] == "apply" ? 0 : 4), "\(run.errors)")
            #expect(run.errors.contains("tmp/file: it belongs"), "\(run.errors)")
            #expect(try TreeSnapshot(scene.path("tmp")).touched(since: before, except: ["."]) == [])
            #expect(try scene.text("etc/roots") == "important" && !scene.exists("etc/new"))
        }
        // In root's own directory, root has put it there.
        try scene.setOwner(0, 0, of: "tmp")
        #expect(try scene.run(command + ["tmp/file"]).code == 0)
    }

    @Test func logGoesWhereTheShellSays() throws {
        let scene = try MirrorScene(["a": "1"])
        let command = ["apply", "source", "target", "--quiet", "--log-file"]
        #expect(try scene.run(command + ["/dev/stderr"]).errors.contains(" apply "))
        try scene.here(
            command + ["/dev/fd/3"],
            under: ["sh", "-c", "{ \"$@\" 3>&1 >&4 | cat >&4; } 4>&1", "sh"]
        ).expect(0, prints: " apply ")
        #expect(try scene.run(command + ["/dev/null"]).code == 0)
        // A user's own link.
        try #require(symlink("elsewhere", scene.path("log")) == 0)
        #expect(try scene.run(command + ["log"]).code == 0)
        #expect(try scene.text("elsewhere").contains(" apply "))
    }
}
