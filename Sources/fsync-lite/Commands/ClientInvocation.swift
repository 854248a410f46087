import FileSystem
import FsyncLite

/// The command of a client, checked like a command line.
extension Invocation {
    init(_ client: Client, within limits: ServiceLimits) throws {
        let sent = client.command
        let program = ProgramDescription.fsyncLite
        guard let command = program.commands.first(where: { $0.name == sent.name }),
            let target = command.remoteTarget
        else {
            throw UsageError(
                "the other machine's fsync-lite does not have the command \(quoted(Array(sent.name.utf8)))",
                hint: "install the same version on both machines")
        }
        self.init(
            program: program, command: command,
            arguments: try CommandLineParser(program: program).bind(
                sent.arguments, to: command.description, replaced: nil),
            options: try Invocation.options(of: sent, for: command), client: client)
        (keepsHistory, isReadOnly) = (limits.isAppendOnly, limits.isReadOnly)
        let isWriting = !command.isReading
        func path(_ value: [UInt8]) throws -> [UInt8] {
            guard let endpoint = try Endpoint(argument: value) else {
                throw UsageError("the target is not on another machine", hint: "give host:path")
            }
            return try limits.open(endpoint.path, isWriting: isWriting)
        }
        guard values(target).count == 1 else {
            throw UsageError("only one target on another machine is possible", hint: "give one at a time")
        }
        targetOfClient = values(target)[0]
        let places = command.remotePlaces
        // If a client restores, it has the target, and the copy is made here.
        let isWithClient = command == SnapshotRestoreCommand.self && sent.source != nil
        for place in (isWithClient ? [] : [target]) + places.arguments {
            arguments[place.name] = try arguments[place.name]?.map(path)
        }
        for option in places.options {
            guard let value = options.value(option) else { continue }
            copyOfClient = value
            options.remove(option)
            options.append(option, try path(value))
        }
    }

    /// The options of a client's command. Of the client's files, only the content is sent.
    static func options(of sent: RemoteCommand, for command: any Command.Type) throws -> GivenOptions {
        let files = RemoteInvocation.files
        let known = (files + command.remotePlaces.options).map(\.name)
        let ofClient = [OptionDescription.remoteCommand.name, OptionDescription.install.name]
        var description = command.description
        description.options.removeAll { option in
            ofClient.contains(option.name) || option.isOfThisMachine && !known.contains(option.name)
        }
        if sent.job != nil { description.options += OptionDescription.firstRun }
        var scanner = OptionScanner(
            command: description, program: ProgramDescription.fsyncLite, pending: sent.options[...])
        do throws(UsageError) {
            try scanner.scan()
        } catch {
            throw UsageError(
                "the other machine's fsync-lite does not accept an option: \(error.message)",
                hint: "install the same version on both machines")
        }
        let options = scanner.options
        guard scanner.positionals.isEmpty, options.has(SyncRun.savedPlan) == (sent.document != nil),
            files.allSatisfy({ options.values($0).allSatisfy { $0 == RunLog.ofClient } })
        else {
            throw UsageError(
                "a saved plan or another file is missing or unexpected",
                hint: "install the same version on both machines")
        }
        for option in command.remotePlaces.options {
            guard let value = options.value(option), try Endpoint(argument: value) == nil else { continue }
            throw UsageError("\(option.name) is not on another machine", hint: "give host:path")
        }
        return options
    }

    /// The command line as its user typed it, with the target on another machine, for hints.
    func asTyped() throws -> Invocation {
        guard let client else { return self }
        return try CommandLineParser(program: program).parse(client.command.typed)
    }
}

/// The standard streams of the client, used instead of those of this process.
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
