import Foundation
import TestNeeds
import TestSupport
import Testing

/// An ssh server on a port of this machine, with new keys.
private final class SecureShell {
    private let directory: TemporaryDirectory
    private let server: SpawnedProcess
    private let configuration: String

    /// The command to use instead of `ssh`.
    var ssh: String { "ssh -F \(configuration)" }

    /// - Parameter forced: the command of the key that can do nothing else.
    init(forced: String) throws {
        directory = try TemporaryDirectory()
        let path = directory.path
        let port = Int.random(in: 20_000..<32_000)
        for name in ["host", "key", "forced"] {
            try HostCommand.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "\(path)/\(name)")
        }
        func text(_ name: String) throws -> String {
            try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
        }
        func write(_ name: String, _ content: String) throws {
            try content.write(toFile: "\(path)/\(name)", atomically: false, encoding: .utf8)
        }
        try write("keys", "\(text("key.pub"))command=\"\(forced)\",restrict \(text("forced.pub"))")
        try write("known", "[127.0.0.1]:\(port) \(text("host.pub"))")
        try write(
            "server",
            """
            Port \(port)
            ListenAddress 127.0.0.1
            HostKey \(path)/host
            AuthorizedKeysFile \(path)/keys
            PidFile none
            SetEnv FSYNC_LITE_STATE=none
            UsePAM no
            StrictModes no
            PermitRootLogin prohibit-password

            """)
        let common =
            "HostName 127.0.0.1\nPort \(port)\nBatchMode yes\nIdentitiesOnly yes\nConnectionAttempts 20\n"
        try write(
            "client",
            """
            Host far
            IdentityFile \(path)/key
            UserKnownHostsFile \(path)/known
            \(common)Host forced
            IdentityFile \(path)/forced
            UserKnownHostsFile \(path)/known
            \(common)Host keyless
            IdentityFile \(path)/none
            UserKnownHostsFile \(path)/known
            \(common)Host closed
            HostName 127.0.0.1
            Port 1
            Host stranger
            IdentityFile \(path)/key
            UserKnownHostsFile /dev/null
            StrictHostKeyChecking yes
            \(common)
            """)
        configuration = "\(path)/client"
        try FileManager.default.createDirectory(atPath: "/run/sshd", withIntermediateDirectories: true)
        server = try SpawnedProcess(["/usr/sbin/sshd", "-D", "-f", "\(path)/server"])
    }

    deinit {
        server.send(SIGTERM)
        _ = server.wait()
    }
}

@Suite(
    "Through a real ssh server",
    .needs(.root, .tool("ssh", package: "openssh-client"), .file("/usr/sbin/sshd", package: "openssh-server"))
)
struct SecureShellTests {
    @Test func pullsAndIsHeldToItsKey() throws {
        let scene = try MirrorScene(["a": ["b": "b"], "c": "c"])
        let command = try BuiltCommand.path()
        let shell = try SecureShell(
            forced: "\(command) serve --read-only --restrict \(scene.path("source/a"))")
        func pull(_ source: String, _ target: String) throws -> CommandRun {
            try scene.here(["apply", source, target, "--ssh", shell.ssh, "--remote-command", command])
        }
        try pull("far:\(scene.source)", "target").expect(0)
        try scene.expectMirrored()
        #expect(try pull("root@far:\(scene.source)", "target").output.contains("nothing to do"))

        #expect(try pull("forced:\(scene.source)/a", "inner").code == 0)
        #expect(try scene.text("inner/b") == "b")
        try pull("forced:\(scene.source)", "other").expect(4, says: "outside of the served directory")

        try pull("keyless:/x", "other").expect(69, says: "Permission denied")
        try pull("stranger:/x", "other").expect(69, says: "Host key verification failed")
        #expect(!scene.exists("other"))
    }

    /// Each message names the machine, and a command to try.
    @Test func whatDoesNotConnectIsSaidWithACommand() throws {
        let scene = try MirrorScene(["a": "a"])
        let shell = try SecureShell(forced: "echo Welcome")
        func push(_ host: String, _ options: String...) throws -> String {
            let run = try scene.here(
                ["apply", "source", "\(host):\(scene.target)", "--ssh", shell.ssh] + options
            ).expect(69, says: "fsync-lite: \(host):")
            return run.errors
        }
        let nowhere = try push("nowhere.invalid")
        #expect(nowhere.contains("To try it: \(shell.ssh) nowhere.invalid true"), "\(nowhere)")
        let closed = try push("closed")
        #expect(closed.contains("Connection refused") && closed.contains("closed true"), "\(closed)")
        let keyless = try push("keyless")
        #expect(keyless.contains("To put your key there: ssh-copy-id keyless"), "\(keyless)")
        let stranger = try push("stranger")
        #expect(stranger.contains("To see and accept its key: \(shell.ssh) stranger true"), "\(stranger)")
        let missing = try push("far")
        #expect(missing.contains("install it with --install"), "\(missing)")
        let named = try push("far", "--remote-command", "/nowhere/x")
        #expect(named.contains("that machine has no /nowhere/x"), "\(named)")
        let forced = try push("forced")
        #expect(forced.contains(#"the shell of that machine prints "Welcome""#), "\(forced)")
        #expect(!scene.exists("target"))
    }

    @Test func pushesAndIsHeldToItsKey() throws {
        let scene = try MirrorScene(["a": ["b": "b"], "c": "c"])
        try scene.build(.directory([], mode: 0o700, modified: nil), at: "there")
        let command = try BuiltCommand.path()
        let shell = try SecureShell(
            forced: "\(command) serve --append-only --restrict \(scene.path("there"))")
        func run(_ words: String...) throws -> CommandRun {
            try scene.here(words + ["--ssh", shell.ssh, "--remote-command", command])
        }
        try run("apply", "source", "far:\(scene.target)", "-v").expect(0, prints: "+ a/b")
        try scene.expectMirrored()
        #expect(try run("apply", "source", "root@far:\(scene.target)").output.contains("nothing to do"))
        #expect(try run("status", "far:\(scene.target)").code == 0)

        #expect(try run("apply", "source", "forced:copy").code == 0)
        #expect(try scene.text("there/copy/a/b") == "b")
        try run("apply", "source", "forced:\(scene.target)").expect(
            4, says: "outside of the served directory")
        try run("apply", "source", "forced:copy", "--keep-last", "1").expect(4, says: "append-only")
        try run("apply", "source", "keyless:/x").expect(69, says: "Permission denied")
    }
}
