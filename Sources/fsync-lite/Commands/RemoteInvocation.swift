import FileStorage
import FileSystem
import FsyncLite

/// A command that another machine runs on its target. This machine gives the source.
struct RemoteInvocation {
    /// The command that runs there.
    let command: any Command.Type
    private let arguments: [[UInt8]]
    private(set) var given: GivenOptions
    /// The command line as typed, for hints.
    private let typed: Invocation
    let endpoint: Endpoint
    private let source: MirrorSource?
    private let defaults: [SettingsLayer]
    private(set) var job: Job?
    private var saved: SavedPlan?
    /// A restore from a target here to a directory there.
    private var restoration: Restoration?
    /// Completed by settings, without those of the target.
    let options: GivenOptions

    /// nil for a target of this machine, and for a command that runs here first.
    ///
    /// - Parameter isDecided: the command has decided to run there.
    init?(_ invocation: Invocation, isDecided: Bool = false) throws {
        guard invocation.client == nil, let argument = invocation.command.remoteTarget,
            isDecided || !invocation.command.decidesPlace(invocation)
        else { return nil }
        let given = invocation.options
        var arguments = invocation.command.description.arguments.flatMap(invocation.values)
        let saved = invocation.saved
        if let saved, let endpoint = try SyncRun.endpoint(saved.target) {
            arguments = [saved.source, endpoint.bytes]
        }
        let places = invocation.command.remotePlaces
        let targets = saved.map { [$0.target] } ?? invocation.values(argument)
        let others = places.arguments.flatMap(invocation.values) + places.options.compactMap(given.value)
        let endpoints = try (targets + others).map(SyncRun.endpoint)
        guard let endpoint = endpoints.compactMap(\.self).first else { return nil }
        guard endpoints.allSatisfy({ $0?.isOnSameMachine(as: endpoint) ?? false }) else { return nil }
        let settings = invocation.command.description.options.contains {
            $0.name == OptionDescription.settingsFile.name
        }
        try self.init(
            invocation.command, arguments, invocation, endpoint,
            source: saved.map { .directory($0.source) } ?? invocation.command.servedSource(invocation),
            settings ? SettingsSources(given).defaults : [], nil, saved)
    }

    /// The run of a job; nil for a target of this machine.
    init?(
        _ job: Job, _ invocation: Invocation, _ settings: SettingsSources, as command: any Command.Type
    ) throws {
        guard invocation.client == nil, let endpoint = try SyncRun.endpoint(job.target)
        else { return nil }
        guard job.source.directories.count <= RemoteCommand.mostSources else {
            throw UsageError(
                "job \(escapedText(job.name.utf8)): more than \(RemoteCommand.mostSources) sources need a target on this machine",
                hint: "make several jobs of it")
        }
        // The argument represents all sources. The command has all of them with their names.
        let source = job.source.directories[0].path
        try self.init(
            command, [source, endpoint.bytes], invocation, endpoint, source: job.source, settings.defaults,
            job, nil)
    }

    /// A restore that another machine runs. The target is here, and its snapshot is sent.
    ///
    /// - Parameter endpoint: the directory that receives the copy.
    init(_ invocation: Invocation, restoring restoration: Restoration, at endpoint: Endpoint) throws {
        let words = [restoration.target, Array(restoration.snapshot.utf8)] + restoration.paths.map(\.bytes)
        try self.init(
            invocation.command, words, invocation, endpoint, source: .directory(restoration.target), [], nil,
            nil)
        self.restoration = restoration
        given.remove(SnapshotRestoreCommand.to)
        given.append(SnapshotRestoreCommand.to, endpoint.bytes)
    }

    private init(
        _ command: any Command.Type, _ arguments: [[UInt8]], _ typed: Invocation, _ endpoint: Endpoint,
        source: MirrorSource?, _ defaults: [SettingsLayer], _ job: Job?, _ saved: SavedPlan?
    ) throws {
        (self.command, self.arguments, self.typed, self.endpoint) = (command, arguments, typed, endpoint)
        (self.source, self.defaults, self.job, self.saved) = (source, defaults, job, saved)
        given = typed.options
        // All patterns as one list, also those from files. A pipe can be read only once.
        let rules = try SyncOptions.filters(given).rules
        for option in SyncOptions.patterns { given.remove(option) }
        for rule in rules { given.append(SyncOptions.exclude, rule.text) }
        if let directories = source?.directories,
            try directories.contains(where: { try SyncRun.endpoint($0.path) != nil })
        {
            throw UsageError(
                "source and target are both on other machines",
                hint: "run it on one of these: ssh \(endpoint.destination) fsync-lite \(command.name) ...")
        }
        let known = (RemoteInvocation.handledHere + command.remotePlaces.options).map(\.name)
        if let option = typed.command.description.options.first(where: {
            $0.isOfThisMachine && !known.contains($0.name) && typed.options.has($0)
        }) {
            throw UsageError(
                "\(option.name) is not yet possible with a target on another machine",
                hint: "leave it out, or run it there: ssh \(endpoint.destination) fsync-lite ...")
        }
        if let file = given.value(SyncRun.savedPlan), let saved {
            options = try saved.options(from: file, beside: typed).over(defaults, OptionDescription.output)
        } else {
            options = given.over(defaults + (job.map { [$0.options] } ?? []), OptionDescription.settable)
        }
    }

    /// Options that name something of this machine and are allowed with a target on another one.
    private static let handledHere =
        [
            OptionDescription.ssh, .remoteCommand, .install, .settingsFile, PlanCommand.job,
            ManifestVerifyCommand.source,
        ] + files + SyncOptions.patterns
    /// Those that name a file. The other machine learns only that there is one.
    static let files = [OptionDescription.logFile, PlanCommand.out, SyncRun.savedPlan]

    func run(_ console: inout Console) throws -> ExitCode {
        if command == UndoCommand.self, !options.has(.json), !options.has(.quiet),
            let attempt = UndoCommand.attempt(on: endpoint.bytes, after: nil)
        {
            // The other machine has no record of this attempt.
            Console.complain("note: \(attempt)")
        }
        guard command == ApplyCommand.self, !given.has(.dryRun) else { return try carryOut(&console) }
        return try RunRecord.noting(
            endpoint.bytes, isQuiet: options.has(.quiet), { .init($0, FarReport($1)) }
        ) { _ in try run(&console, wantsReport: true) }.0
    }

    private func carryOut(_ console: inout Console) throws -> ExitCode {
        let (code, document) = try run(&console, wantsReport: false)
        if let file = given.value(PlanCommand.out), !document.isEmpty {
            let plan = try SavedPlan(document, path: endpoint.bytes)
            guard try plan.source == absoluteSource?.directories.first?.path,
                (try? Endpoint(plan.target)) == endpoint
            else {
                throw SyncError(.invalidDocument, path: endpoint.bytes, "the other machine sent another plan")
            }
            try SavedPlan.check(
                file, outside: [source?.single].compactMap(\.self), SyncOptions.filters(options))
            try plan.write(to: LocalFile(bytes: file))
        }
        return code
    }

    var document: PlanDocument {
        PlanDocument(source ?? .directory([]), target: endpoint.bytes, job: job?.name)
    }

    private var certainty: RemoteRun.Certainty {
        if command.isReading || given.has(.dryRun) { return .reads }
        let committing: [any Command.Type] = [
            ApplyCommand.self, CommitCommand.self, UndoCommand.self, SnapshotRestoreCommand.self,
        ]
        return committing.contains { $0 == command } ? .asks : .writes
    }

    private var absoluteSource: MirrorSource? {
        get throws {
            switch source {
            case .directory(let path)?: .directory(try LocalFile(bytes: path).absolute())
            case .named(let paths)?: .named(try paths.mapValues { try LocalFile(bytes: $0).absolute() })
            case .remote?, nil: source
            }
        }
    }

    /// The command as it is sent.
    private func order(wantsReport: Bool) throws -> RemoteCommand {
        var command = RemoteCommand(
            command.name, arguments, options: try sent(),
            typed: typed.words(with: restoration == nil ? given : typed.options),
            defaults: try defaults.flatMap { try $0.sent() }, host: HostProcess.name,
            output: .init(.output), errors: .init(.error))
        command.job = try job.map { ($0.name, try $0.options.sent()) }
        command.source = try absoluteSource
        command.wantsReport = wantsReport
        command.document = try saved.map { plan in
            var document: [UInt8] = []
            try plan.write(to: &document)
            return document
        }
        return command
    }

    /// - Returns: the exit code, and the document if one was wanted.
    func run(_ console: inout Console, wantsReport: Bool) throws -> (ExitCode, [UInt8]) {
        console.wantsDocument = options.has(.json)
        if let source {
            if job == nil, saved == nil, case .directory(let path) = source {
                try SyncOptions.filters(options).complain(ofPatternsFrom: path)
            }
            // Report an error of the source before connecting.
            try source.check()
        }
        let terminal = FarTerminal(
            log: options.value(.logFile).map { LocalFile(bytes: $0) },
            documentLimit: given.has(PlanCommand.out) || wantsReport && job != nil
                ? FarTerminal.longestDocument : wantsReport ? FarTerminal.longestReport : 0,
            isRaw: given.has(ManifestListCommand.null) && !StandardStream.output.isTerminal)
        let result = Result { try run(terminal, wantsReport: wantsReport) }
        if terminal.hasWritten { console.isBegun = true }
        let code: Int32
        do {
            code = try result.get()
        } catch {
            // The other machine cannot log it.
            if !command.isReading { options.log(["failed: \(error)"], of: typed.command, job) }
            throw error
        }
        guard let exit = ExitCode(rawValue: code) else {
            throw SyncError(.unreachable, path: endpoint.bytes, "it ended with exit code \(code)")
        }
        if let failure = terminal.failure {
            Console.complain("\(failure)")
            if exit == .done, command.isReading { return (.failed, []) }
        }
        return (exit, terminal.document)
    }

    /// The requests that the other machine may send.
    private func access(to source: MirrorSource?) throws -> Service.Access {
        if let restoration { return .snapshot(.only(restoration)) }
        guard let source else { return .nothing }
        // A verification needs only digests of the source.
        return command == ManifestVerifyCommand.self
            ? .digests(source) : .only(source, try SyncOptions.filters(options))
    }

    /// Runs the command on the other machine.
    func run(_ terminal: FarTerminal, wantsReport: Bool = false) throws -> Int32 {
        let order = try order(wantsReport: wantsReport)
        HostProcess.ignoreBrokenPipes()
        // The commit is on another machine, so this end does not know when it begins.
        TerminationSignal.finishes(true)
        if !command.isReading { TerminationSignal.watch() }
        return try RemoteRun(on: endpoint, RemoteAccess(given), terminal.write).run(
            order, giving: access(to: order.source), certainty,
            recovery: "fsync-lite recover \(Shell.word((copy ?? endpoint).bytes))")
    }

    /// The directory that a restore copies to; nil if there is none.
    var copy: Endpoint? {
        get throws {
            try command.remotePlaces.options.compactMap(given.value).first.flatMap(SyncRun.endpoint)
        }
    }

    /// The options that are sent: patterns as one list, and for a file only that there is one.
    private func sent() throws -> [[UInt8]] {
        var sent = given
        for option in RemoteInvocation.handledHere where option.name != SyncOptions.exclude.name {
            sent.remove(option)
        }
        for option in RemoteInvocation.files where given.has(option) {
            sent.append(option, RunLog.ofClient)
        }
        if command == PlanCommand.self { sent.remove(.dryRun) }
        return sent.words
    }
}

extension Command {
    static func servedSource(_ invocation: Invocation) throws -> MirrorSource? {
        invocation.values(SyncRun.source).first.map { .directory($0) }
    }
}
