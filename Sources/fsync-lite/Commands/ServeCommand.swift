import FileSystem
import FsyncLite

enum ServeCommand: Command {
    private static let readOnly = OptionDescription.flag("--read-only", "give content, and write nothing")
    private static let restrict = OptionDescription.value(
        "--restrict", "DIR", "give only what lies beneath this directory, whatever is asked for")

    static let description = CommandDescription(
        "serve", summary: "Give a directory of this machine to an apply on another one.",
        discussion: """
            An apply of host:path starts this on the other machine, over ssh; nobody types it. It speaks on standard \
            input and output, writes no file and reads no settings. To let a key do nothing else, put a line in \
            ~/.ssh/authorized_keys:
             command="fsync-lite serve --read-only --restrict /srv/www",restrict ssh-ed25519 AAAA... backup
            With --restrict, a path is beneath that directory, and no symlink leads outside.
            """,
        options: [readOnly, restrict],
        examples: [("fsync-lite serve --read-only --restrict /srv/www", "In authorized_keys")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        guard invocation.options.has(readOnly) else {
            throw UsageError(
                "serve without \(readOnly.name) would write here, which does not work yet",
                hint: "add \(readOnly.name)")
        }
        guard !StandardStream.output.isTerminal else {
            throw UsageError(
                "serve speaks to another fsync-lite, not to a terminal",
                hint: "on the other machine: fsync-lite apply HOST:PATH TARGET")
        }
        HostProcess.ignoreBrokenPipes()
        let service = try Service(
            input: .standardInput(), output: .standardOutput(), beneath: invocation.options.value(restrict),
            onSilence: { HostProcess.exit(ExitCode.unreachable.rawValue) })
        guard let reason = try service.run() else { return .done }
        Console.complain(reason)
        return .unreachable
    }
}
