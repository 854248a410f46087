import FileSystem
import FsyncLite

/// The way to another machine. Only the command line and the environment set it, because a target's settings
/// and a saved plan must not start commands.
extension OptionDescription {
    static let ssh = value("--ssh", "COMMAND", "reach another machine with this command, not with ssh").rare
    static let remoteCommand = value(
        "--remote-command", "PATH", "the path of fsync-lite on another machine, if its shell does not find it"
    ).rare

    static let install = flag(
        "--install", "if another machine has no fsync-lite, copy this one to its ~/.local/bin first"
    ).rare

    static let remote: [OptionDescription] = .section("Another machine", ssh, remoteCommand)
    /// The options of a command that mirrors.
    static let mirroringRemote = remote + .section("A machine without fsync-lite", install)
}

extension RemoteAccess {
    /// The variable with the command to use instead of `ssh`.
    static let variable = "FSYNC_LITE_SSH"

    init(_ given: GivenOptions) throws {
        self.init()
        func words(_ text: String, _ name: String) throws -> [String] {
            guard let words = Shell.words(text) else {
                throw UsageError(
                    "\(name) has a quote without an end: \(quoted(text.utf8))", hint: "give a command")
            }
            guard !words.isEmpty else { throw UsageError("\(name) is empty", hint: "give a command") }
            return words
        }
        if let text = try given.text(.ssh) {
            ssh = try words(text, OptionDescription.ssh.name)
        } else if let text = HostProcess.environment(RemoteAccess.variable), !text.isEmpty {
            ssh = try words(text, RemoteAccess.variable)
        }
        if let text = try given.text(.remoteCommand) {
            guard !text.isEmpty else {
                throw UsageError(
                    "\(OptionDescription.remoteCommand.name) is empty",
                    hint: "give the path of fsync-lite on that machine")
            }
            command = text
        }
        guard given.has(.install) else { return }
        guard command == RemoteAccess.usualCommand else {
            throw UsageError(
                "--install copies fsync-lite to ~/.local/bin, and --remote-command gives another path",
                hint: "leave one out")
        }
        installs = ProgramDescription.fsyncLite.version
    }
}
