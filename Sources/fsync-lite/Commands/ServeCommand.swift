import FileStorage
import FileSystem
import FsyncLite

enum ServeCommand: Command {
    private static let readOnly = OptionDescription.flag("--read-only", "give content, and write nothing")
    private static let appendOnly = OptionDescription.flag(
        "--append-only", "let nothing of a target's history go, and loosen no guard")
    private static let restrict = OptionDescription.value(
        "--restrict", "DIR", "for any request, only what lies beneath this directory")

    static let description = CommandDescription(
        "serve", summary: "Give a directory of this machine to an apply on another one, or be its target.",
        discussion: """
            A command that names host:path starts this on the other machine, over ssh; it is not for typing. It speaks on \
            standard input and output and reads no settings but those of a target. To let a key do nothing else, put a \
            line in ~/.ssh/authorized_keys:
             command="fsync-lite serve --read-only --restrict /srv/www",restrict ssh-ed25519 AAAA... backup
             command="fsync-lite serve --append-only --restrict /srv/backup",restrict ssh-ed25519 AAAA... laptop
            With --restrict, a path is beneath that directory, and no symlink leads outside; a target is strictly \
            beneath it, by a path without symlinks. With --append-only an apply keeps all of the history, and so does \
            each other command; prune there.
            """,
        options: [readOnly, appendOnly, restrict],
        examples: [
            ("fsync-lite serve --read-only --restrict /srv/www", "In authorized_keys, for a source"),
            ("fsync-lite serve --append-only --restrict /srv/backup", "In authorized_keys, for targets"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        guard !StandardStream.output.isTerminal else {
            throw UsageError(
                "serve speaks to another fsync-lite, not to a terminal",
                hint: "on the other machine: fsync-lite apply HOST:PATH TARGET")
        }
        HostProcess.ignoreBrokenPipes()
        let limits = try ServiceLimits(
            isReadOnly: invocation.options.has(readOnly), isAppendOnly: invocation.options.has(appendOnly),
            served: invocation.options.value(restrict).map { try ServedDirectory($0) })
        let order = try Service.greet(
            input: .standardInput(), output: .standardOutput(), beneath: limits.served,
            onSilence: { HostProcess.exit(ExitCode.unreachable.rawValue) })
        switch order {
        case .source(let service):
            guard let reason = try service.run() else { return .done }
            Console.complain(reason)
            return .unreachable
        case .command(let client):
            carryOut(client, limits)
            return .done
        case .inquiry(let inquiry):
            let path = try limits.open(inquiry.path, isWriting: false)
            try inquiry.answer { try Target(path: path).fate(of: inquiry.transaction) }
            return .done
        }
    }

    /// Carries a command out for a client, whose exit code is the result.
    private static func carryOut(_ client: Client, _ limits: ServiceLimits) {
        // What was begun is ended, also after the client has gone.
        HostProcess.ignoreHangUps()
        StandardStream.relay = ClientStreams(client: client)
        let json = OptionDescription.json.name
        let code = Execution.run(wantsDocument: client.command.options.contains { $0.name == json }) {
            try Invocation(client, within: limits)
        }
        client.end(code.rawValue)
    }
}
