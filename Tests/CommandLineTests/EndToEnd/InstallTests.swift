import Foundation
import TestNeeds
import TestSupport
import Testing

/// Another machine without fsync-lite: a command in ssh's place, with its own home directory.
@Suite("Installing it on another machine")
struct InstallTests {
    private static let installed = "home/.local/bin/fsync-lite"

    private struct Machine {
        let scene: MirrorScene
        private var far: FarMachine

        init() throws {
            scene = try MirrorScene(["a": "a"], inMemory: true)
            scene.far = nil
            try scene.build(["bin": [:]], at: "home")
            far = try FarMachine()
            try use()
        }

        /// - Parameter lines: for a shell, as in `FarMachine`.
        mutating func use(_ lines: String = FarMachine.connection) throws {
            let home = scene.path("home")
            far = try FarMachine("export HOME='\(home)' PATH='\(home)/bin':/usr/bin:/bin\n\(lines)")
        }

        func apply(_ source: String, _ target: String, _ options: String...) throws -> CommandRun {
            try scene.here(["apply", source, target, "--ssh", far.ssh] + options)
        }

        func push(_ options: String...) throws -> CommandRun {
            try scene.here(["apply", "source", "far:\(scene.target)", "--ssh", far.ssh] + options)
        }

        /// A shell script in place of a command there.
        func script(_ name: String, _ lines: String) throws {
            let path = scene.path(name)
            try HostCommand.run("install", "-D", "-m", "755", "/dev/null", path)
            try "#!/bin/sh\n\(lines)\n".write(toFile: path, atomically: false, encoding: .utf8)
        }

        var leftovers: [String] {
            get throws {
                let bin = scene.path("home/.local/bin")
                guard scene.exists("home/.local/bin") else { return [] }
                return try FileManager.default.contentsOfDirectory(atPath: bin)
            }
        }
    }

    @Test func withoutItTheMessageNamesTheWay() throws {
        let machine = try Machine()
        for run in [
            try machine.push(), try machine.apply("far:\(machine.scene.source)", "copy"),
        ] {
            run.expect(69, says: "install it with --install")
        }
        try machine.push("--install", "--remote-command", "/x").expect(64, says: "leave one out")
    }

    /// Shells, and programs in their place, end with their own codes.
    @Test(arguments: [
        (1, "fsync-lite: Command not found."), (126, "sh: 1: fsync-lite: Permission denied"),
        (127, "rbash: fsync-lite: command not found"), (255, ""), (2, "unknown command"),
    ])
    func whateverItEndsWithTheInstalledOneIsTried(code: Int, complaint: String) throws {
        var machine = try Machine()
        try machine.use(
            """
            case "$far" in fsync-lite*) \(complaint.isEmpty ? ":" : "echo '\(complaint)' >&2"); exit \(code);; esac
            \(FarMachine.connection)
            """)
        for run in [try machine.push(), try machine.apply("far:\(machine.scene.source)", "copy")] {
            #expect(run.code == 69, "\(run.errors)")
            for text in [
                "install it with --install", "--remote-command", complaint.trimmingCharacters(in: ["."]),
            ] {
                #expect(text.isEmpty || run.errors.contains(text), "\(text): \(run.errors)")
            }
        }
        try machine.script(Self.installed, "exec '\(BuiltCommand.path())' \"$@\"")
        for run in [try machine.push(), try machine.apply("far:\(machine.scene.source)", "copy")] {
            #expect(run.code == 0, "\(run.errors)")
        }
    }

    /// For example, a program for another processor.
    @Test func whatIsThereAndCannotBeRunIsNamed() throws {
        var machine = try Machine()
        try machine.use(#"exec bash -c "$far""#)
        try machine.script(Self.installed, "")
        try Data([0x7F, 0x45, 0x4C, 0x46, 2, 1, 1]).write(
            to: URL(fileURLWithPath: machine.scene.path(Self.installed)), options: [])
        let run = try machine.push()
        for text in [
            "~/.local/bin/fsync-lite cannot be run on that machine", "--install", "--remote-command",
        ] {
            #expect(run.code == 69 && run.errors.contains(text), "\(run.errors)")
        }
    }

    /// ssh asks for a password each time.
    @Test func withoutAConnectionThereIsNoSecondTry() throws {
        var machine = try Machine()
        let count = machine.scene.path("count")
        try machine.use("echo try >> '\(count)'; echo 'Permission denied (publickey).' >&2; exit 255")
        try machine.push("--install").expect(69, says: "ssh-copy-id")
        #expect(try machine.scene.text("count") == "try\n")
    }

    /// Its quotes differ from those of sh.
    @Test(.needs(.tool("tcsh"))) func tcshIsTheLoginShellThere() throws {
        var machine = try Machine()
        try machine.use(#"exec tcsh -c "$far""#)
        try machine.script(Self.installed, "exec '\(BuiltCommand.path())' \"$@\"")
        for name in ["plain", "it's a $HOME", "no!1 `x` \\!", "{a,b}*?"] {
            try machine.apply("source", "far:\(machine.scene.path(name))").expect(0)
            #expect(try machine.scene.text("\(name)/a") == "a")
            try machine.apply("far:\(machine.scene.path(name))", "copy of \(name)").expect(0)
            #expect(try machine.scene.text("copy of \(name)/a") == "a")
        }
    }

    @Test(.needs(.tool("tcsh")), .needs(.staticCommand)) func aMachineWithTcshGetsIt() throws {
        var machine = try Machine()
        try machine.use(#"exec tcsh -c "$far""#)
        try machine.push().expect(69, says: "install it with --install")
        #expect(try machine.push("--install").code == 0)
        #expect(try machine.leftovers == ["fsync-lite"])
        #expect(try machine.push().output.contains("nothing to do"))
    }

    @Test func onlyABinaryThatNeedsNoLibraryIsCopied() throws {
        guard !Need.staticCommand.isMet else { return }
        let machine = try Machine()
        try machine.push("--install").expect(69, says: "needs libraries of this machine")
        #expect(try machine.leftovers == [])
    }

    @Test(.needs(.staticCommand)) func itIsPutThereOnce() throws {
        var machine = try Machine()
        try machine.push("--install").expect(0)
        try machine.scene.expectMirrored()
        #expect(try machine.leftovers == ["fsync-lite"])
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: machine.scene.path(Self.installed)))
                == Data(contentsOf: URL(fileURLWithPath: BuiltCommand.path())))
        // The other machine has it now, so the installing command does not run.
        try machine.use(#"case "$far" in *mktemp*) exit 9;; esac; exec sh -c "$far""#)
        #expect(try machine.push("--install").output.contains("nothing to do"))
        #expect(try machine.apply("far:\(machine.scene.source)", "copy", "--install").code == 0)
    }

    @Test(.needs(.staticCommand)) func anotherProcessorOrANewerVersionIsLeftAlone() throws {
        let machine = try Machine()
        try machine.script("home/bin/uname", "echo Linux riscv64")
        try machine.push("--install").expect(69, says: "it is Linux riscv64")
        try machine.scene.remove("home/bin/uname")
        try machine.script(
            Self.installed, "[ \"$1\" != --version ] || { echo fsync-lite 99.1.0; exit; }; exit 64")
        try machine.push("--install").expect(69, says: "is newer (99.1.0)")
        try machine.script(
            Self.installed, "[ \"$1\" != --version ] || { echo fsync-lite 0.0.9; exit; }; exit 64")
        try machine.push("--install").expect(0)
        #expect(try machine.leftovers == ["fsync-lite"])
    }

    @Test(.needs(.staticCommand)) func halfOfItIsNoProgram() throws {
        var machine = try Machine()
        try machine.use(
            #"case "$far" in *mktemp*) head -c 100000 | sh -c "$far"; exit;; esac; exec sh -c "$far""#)
        try machine.push("--install").expect(69, says: "what came is not what was sent")
        #expect(try machine.leftovers == [])
        #expect(!machine.scene.exists("target"))
    }
}
