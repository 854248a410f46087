import FileStorage
import FileSystem
import FsyncLite
import Synchronization

/// A command line that names a target on another machine: that machine carries it out, and this one gives the source.
struct RemoteInvocation {
    private let invocation: Invocation
    private let endpoint: Endpoint
    private let source: [UInt8]?

    /// nil for a target of this machine.
    init?(_ invocation: Invocation) throws {
        guard invocation.client == nil, let argument = invocation.command.remoteTarget,
            let endpoint = try invocation.values(argument).compactMap({ try SyncRun.endpoint($0, argument) })
                .first
        else { return nil }
        guard invocation.values(argument).count == 1 else {
            throw UsageError(
                "a target on another machine goes alone", hint: "give one \(argument.name) at a time")
        }
        (self.invocation, self.endpoint) = (invocation, endpoint)
        source = invocation.values(SyncRun.source).first
        if let source, try SyncRun.endpoint(source, SyncRun.source) != nil {
            throw UsageError(
                "source and target are both on other machines",
                hint:
                    "run it on one of these: ssh \(endpoint.destination) fsync-lite \(invocation.command.name) ..."
            )
        }
        let isHere = { (option: OptionDescription) in
            option.isOfThisMachine && !SyncOptions.patterns.contains { $0.name == option.name }
                && ![.logFile, .settingsFile, .ssh].contains { (own: OptionDescription) in
                    own.name == option.name
                }
        }
        if let option = invocation.command.description.options.first(where: {
            isHere($0) && invocation.options.has($0)
        }) {
            throw UsageError(
                "\(option.name) does not go with a target on another machine yet",
                hint: "leave it out, or run it there: ssh \(endpoint.destination) fsync-lite ...")
        }
    }

    func run(_ console: inout Console) throws -> ExitCode {
        let given = invocation.options
        console.wantsDocument = given.has(.json)
        let access = try RemoteAccess(given)
        let hasSettings = invocation.command.description.options.contains {
            $0.name == OptionDescription.settingsFile.name
        }
        let layers = hasSettings ? try SettingsSources(given).defaults : []
        let options = given.over(layers, OptionDescription.settable)
        if let source {
            try SyncOptions().complain(ofPatternsFrom: source)
            // Its error is told before a connection is made.
            try MirrorSource.directory(source).check()
        }
        let command = RemoteCommand(
            invocation.command.name, invocation.command.description.arguments.flatMap(invocation.values),
            options: try sent(given), typed: given.sent, defaults: try layers.flatMap { try $0.sent() },
            host: HostProcess.name, output: .init(.output), errors: .init(.error))
        HostProcess.ignoreBrokenPipes()
        if !invocation.command.isReading { TerminationSignal.watch() }
        let terminal = Terminal(log: options.value(.logFile).map { LocalFile(bytes: $0) })
        let result = Result {
            try RemoteRun(on: endpoint, access, terminal).run(
                command, source: source.map { .directory($0) }, SyncOptions.filters(options),
                inquiry: "fsync-lite status \(Shell.word(endpoint.bytes))")
        }
        if terminal.hasWritten { console.begin() }
        let code = try result.get()
        guard let exit = ExitCode(rawValue: code) else {
            throw SyncError(.unreachable, path: endpoint.bytes, "it ended with exit code \(code)")
        }
        if let failure = terminal.failure {
            Console.complain("\(failure)")
            if exit == .done, invocation.command.isReading { return .failed }
        }
        return exit
    }

    /// What the far end gets of the options: patterns as one list, and nothing that is of this machine.
    private func sent(_ given: GivenOptions) throws -> [RemoteCommand.Option] {
        let here = [OptionDescription.ssh, .remoteCommand, .settingsFile, .logFile] + SyncOptions.patterns
        var others = given
        for option in here { others.remove(option) }
        if given.has(.logFile) { others.append(.logFile, RunLog.ofClient) }
        for rule in try SyncOptions.filters(given).rules { others.append(SyncOptions.exclude, rule.text) }
        return others.sent
    }

    /// The standard streams of this process, and the log.
    private final class Terminal: RemoteRun.Terminal {
        private struct State {
            var output = FarText()
            var errors = FarText()
            var log = FarText()
            var hasWritten = false
            var failure: (any Error)?
        }

        private let state = Mutex(State())
        private let log: LocalFile?

        init(log: LocalFile?) { self.log = log }

        var signal: Int32? { TerminationSignal.signal }
        /// To standard output.
        var hasWritten: Bool { state.withLock(\.hasWritten) }
        /// The first.
        var failure: (any Error)? { state.withLock(\.failure) }

        func write(_ bytes: ArraySlice<UInt8>, to stream: RemoteCommand.Stream) {
            state.withLock { state in
                do {
                    switch stream {
                    case .output:
                        state.hasWritten = true
                        guard state.failure == nil else { return }
                        try StandardStream.output.write(state.output.clean(bytes))
                    case .errors: try StandardStream.error.write(state.errors.clean(bytes))
                    case .log:
                        let text = String(decoding: state.log.clean(bytes), as: UTF8.self)
                        for line in text.split(separator: "\n") {
                            if let log { try RunLog(log, line: String(line)).append() }
                        }
                    }
                } catch {
                    if state.failure == nil { state.failure = error }
                }
            }
        }
    }
}
