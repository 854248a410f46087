import FileSystem
import FsyncLite

/// What a client wants done here, checked like a command line.
extension Invocation {
    init(_ client: Client, within limits: ServiceLimits) throws {
        let sent = client.command
        let program = ProgramDescription.fsyncLite
        guard let command = program.commands.first(where: { $0.name == sent.name }),
            let target = command.remoteTarget
        else {
            throw UsageError(
                "the far end does not carry out \(quoted(Array(sent.name.utf8)))",
                hint: "install the same version at both ends")
        }
        let own = RunLog.ofClient
        let known = command.description.options.filter { option in
            option.name != OptionDescription.remoteCommand.name
                && (!option.isOfThisMachine
                    || option.name == OptionDescription.logFile.name
                        && sent.options.allSatisfy { $0.name != option.name || $0.values == [own] })
        }
        self.init(
            program: program, command: command,
            arguments: try CommandLineParser(program: program).bind(
                sent.arguments, to: command.description, replaced: nil),
            options: try GivenOptions(sent.options, of: known), client: client)
        guard values(target).count == 1, let endpoint = try SyncRun.endpoint(try argument(target), target)
        else {
            throw UsageError("the target is none of another machine", hint: "give host:path")
        }
        try limits.check(self, sent)
        keepsHistory = limits.isAppendOnly
        let path = try limits.served?.confine(to: endpoint.path, isWriting: !command.isReading)
        arguments[target.name] = [path ?? endpoint.path]
    }

    /// The command line as its user typed it, with the target on another machine, for hints.
    func asTyped() throws -> Invocation {
        guard let client else { return self }
        let description = command.description
        return Invocation(
            program: program, command: command,
            arguments: try CommandLineParser(program: program).bind(
                client.command.arguments, to: description, replaced: nil),
            options: try GivenOptions(client.command.typed, of: description.options))
    }
}

/// The standard streams of the client in place of those of this process.
struct ClientStreams: StandardStreamRelay {
    let client: Client

    private func terminal(_ stream: StandardStream) -> RemoteCommand.Terminal {
        stream == .output ? client.command.output : client.command.errors
    }

    func write(_ bytes: [UInt8], to stream: StandardStream) {
        client.write(bytes, to: stream == .output ? .output : .errors)
    }

    func isTerminal(_ stream: StandardStream) -> Bool { terminal(stream).isTerminal }
    func understandsEscapes(_ stream: StandardStream) -> Bool { terminal(stream).understandsEscapes }
    func columns(_ stream: StandardStream) -> Int? { terminal(stream).columns }
}
