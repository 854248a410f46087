import FileStorage
import FileSystem
import FsyncLite

enum ServeCommand: Command {
    private static let readOnly = OptionDescription.flag("--read-only", "give content, and write nothing")
    private static let restrict = OptionDescription.value(
        "--restrict", "DIR", "give only what lies beneath this directory, whatever is asked for")

    static let description = CommandDescription(
        "serve", summary: "Give a directory of this machine to an apply on another one, or be its target.",
        discussion: """
            A command that names host:path starts this on the other machine, over ssh; nobody types it. It speaks on \
            standard input and output and reads no settings but those of a target. To let a key do nothing else than \
            read, put a line in ~/.ssh/authorized_keys:
             command="fsync-lite serve --read-only --restrict /srv/www",restrict ssh-ed25519 AAAA... backup
            With --restrict, a path is beneath that directory, and no symlink leads outside.
            """,
        options: [readOnly, restrict],
        examples: [("fsync-lite serve --read-only --restrict /srv/www", "In authorized_keys")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        guard !StandardStream.output.isTerminal else {
            throw UsageError(
                "serve speaks to another fsync-lite, not to a terminal",
                hint: "on the other machine: fsync-lite apply HOST:PATH TARGET")
        }
        HostProcess.ignoreBrokenPipes()
        let options = invocation.options
        let order = try Service.greet(
            input: .standardInput(), output: .standardOutput(), beneath: options.value(restrict),
            onSilence: { HostProcess.exit(ExitCode.unreachable.rawValue) })
        switch order {
        case .source(let service):
            guard let reason = try service.run() else { return .done }
            Console.complain(reason)
            return .unreachable
        case .command(let client):
            carryOut(client, options)
            return .done
        }
    }

    /// Carries a command out for a client, whose exit code is the result.
    private static func carryOut(_ client: Client, _ options: GivenOptions) {
        // What was begun is ended, also when nobody listens any more.
        HostProcess.ignoreHangUps()
        StandardStream.relay = ClientStreams(client: client)
        let json = OptionDescription.json.name
        let code = Execution.run(wantsDocument: client.command.options.contains { $0.name == json }) {
            let invocation = try Invocation(client)
            guard !options.has(restrict) else {
                throw SyncError(.refused, "the key is for reading beneath a directory, and not for a target")
            }
            guard !options.has(readOnly) else {
                throw SyncError(.refused, "the key is for reading, and a target there is not written to")
            }
            return invocation
        }
        client.end(code.rawValue)
    }
}
