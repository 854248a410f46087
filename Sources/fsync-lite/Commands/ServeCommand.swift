import FileStorage
import FileSystem
import FsyncLite

enum ServeCommand: Command {
    private static let readOnly = OptionDescription.flag("--read-only", "allow reading only")
    private static let appendOnly = OptionDescription.flag(
        "--append-only", "allow no removal of old versions, and loosen no guard")
    private static let restrict = OptionDescription.value(
        "--restrict", "DIR", "allow only paths below this directory")
    private static let timeout = OptionDescription.value(
        "--timeout", "TIME",
        "end if the other machine sends no data for so long (default: 1h, or 1d if it may be reading all)"
    )
    private static let maxMemory = OptionDescription.value(
        "--max-memory", "SIZE", "end a run that needs more memory (default: half of the machine's)")
    /// No run opens so many.
    private static let mostFiles = 1024
    private static let mostProcesses = 32

    static let description = CommandDescription(
        name: "serve",
        summary: "Let fsync-lite on another machine use a directory of this one.",
        discussion: """
            A command with host:path starts this on the other machine, over ssh; it is not for typing. It uses \
            standard input and output, and reads only the settings of a target. To restrict a key to it, put a line \
            in ~/.ssh/authorized_keys:
             command="fsync-lite serve --read-only --restrict /srv/www",restrict ssh-ed25519 AAAA... backup
             command="fsync-lite serve --append-only --restrict /srv/backup",restrict ssh-ed25519 AAAA... laptop
            With --restrict, each path must be below that directory, and no symlink leads outside. The path of a \
            target must have no symlinks. With --append-only, clients cannot remove snapshots; prune on this machine.
            A client is limited by --timeout, --max-memory, \(mostFiles) open files, and \(mostProcesses) processes of \
            this user with the same command line at a time. Beyond that it gets a message, and all locks are released.
            """,
        options: [readOnly, appendOnly, restrict, timeout, maxMemory],
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
        HostProcess.limitOpenFiles(to: mostFiles)
        guard try HostProcess.countOfSame() <= mostProcesses else {
            Console.complain(
                "this user already runs \(mostProcesses) of this serve; try again later")
            return .busy
        }
        let age = try invocation.options.value(timeout, "give a time such as 30m or 2h", { Age($0) })
        let memory =
            try invocation.options.value(
                maxMemory, "give a number of bytes, or one such as 500M", { ByteCount($0) })
            ?? ByteCount(clamping: HostProcess.memory / 2)
        let limits = try ServiceLimits(
            isReadOnly: invocation.options.has(readOnly), isAppendOnly: invocation.options.has(appendOnly),
            served: invocation.options.value(restrict).map { try ServedDirectory($0) })
        let order = try Service.greet(
            beneath: limits.served,
            // With a `command=` of the key, sshd sets this variable.
            .beneath(limits.served, mayLock: HostProcess.environment("SSH_ORIGINAL_COMMAND") == nil) {
                word, target in
                do {
                    return try RelativePath(argument: word, in: target)
                } catch let error as UsageError {
                    throw SyncError(.usage, "\(error.message): \(error.hint)")
                }
            },
            timeout: age?.duration, memory: Int(memory.rawCount),
            onSilence: { HostProcess.exit(ExitCode.unreachable.rawValue) })
        switch order {
        case .source(let service):
            try limitMemory(to: memory, service.refuse)
            guard let reason = try service.run() else { return .done }
            Console.complain(reason)
            return .unreachable
        case .command(let client):
            StandardStream.relay = ClientStreams(client: client)
            try limitMemory(to: memory) { Console.complain($0) }
            // A run that has begun is finished even if the client is gone.
            HostProcess.ignoreHangUps()
            let code = Execution.run(
                .init(client.command.options), { try Invocation(client, within: limits) },
                checking: { try limits.check($0, client.command) })
            client.end(code.rawValue)
            return .done
        }
    }

    /// Ends the run like a signal if it needs more memory.
    ///
    /// - Parameter say: sends a message to the client.
    private static func limitMemory(
        to limit: ByteCount, _ say: @escaping @Sendable (String) -> Void
    ) throws {
        let pause = Semaphore()
        try WorkerThread().start {
            // If the memory cannot be read, there is no limit.
            while (try? HostProcess.ownMemory()).map({ $0 <= limit.rawCount }) ?? true {
                _ = pause.wait(atMost: .milliseconds(500))
            }
            // This helps if the client does not read, or the run does not look for signals.
            try? WorkerThread().start {
                _ = pause.wait(atMost: .seconds(10))
                HostProcess.exit(ExitCode.failed.rawValue)
            }
            say("the run needs more than \(Amount.bytes(limit)) of memory there; see --max-memory of serve")
            // Another thread writes the message.
            _ = pause.wait(atMost: .seconds(1))
            HostProcess.interrupt(TerminationSignal.terminate)
        }
    }
}
