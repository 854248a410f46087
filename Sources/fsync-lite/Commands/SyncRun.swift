import FileStorage
import FileSystem
import FsyncLite

/// The common part of the commands that plan and apply: two trees, and the options completed by settings.
struct SyncRun {
    static let source = ArgumentDescription(
        "SOURCE", "the directory to mirror, or host:path over ssh")
    static let target = ArgumentDescription("TARGET", "the directory that becomes the mirror")
    static let savedPlan = OptionDescription.value(
        "--plan", "FILE", "carry out this saved plan, in place of SOURCE and TARGET"
    ).replacingArguments().rare
    static let allActions = OptionDescription.flag(
        OptionDescription.all.name, "list every action, however many"
    ).rare

    let source: MirrorSource
    let target: [UInt8]
    /// Completed by settings.
    let given: GivenOptions
    let options: SyncOptions
    let saved: SavedPlan?
    /// The snapshot to restore, instead of a source.
    private let restoration: Restoration?
    /// The snapshot to restore, if its target is on another machine.
    private var snapshot: FarSnapshot?
    private let invocation: Invocation
    /// The command that continues after a refusal.
    let next: NextCommand
    /// The target as a command line names it.
    let shownTarget: [UInt8]
    private let job: Job?

    /// - Parameters:
    ///   - restoration: nil for a run that needs only a target. Its source is in the report.
    ///   - snapshot: if its target is on another machine.
    init(_ invocation: Invocation, _ restoration: Restoration?, from snapshot: FarSnapshot? = nil) throws {
        (self.restoration, self.snapshot) = (restoration, snapshot)
        source = restoration.map { .directory($0.target) } ?? .named([:])
        target = try restoration.map { $0.destination ?? $0.target } ?? invocation.argument(.target)
        (given, options) = (invocation.options, SyncOptions())
        (saved, job, self.invocation) = (nil, nil, invocation)
        let typed = try invocation.asTyped()
        let copy = restoration?.destination.map {
            invocation.copyOfClient ?? typed.options.value(SnapshotRestoreCommand.to) ?? $0
        }
        shownTarget = copy ?? invocation.targetOfClient ?? target
        next = try NextCommand(invocation, target: target)
    }

    /// - Parameter invocation: the command line, which applies to every job.
    init(_ invocation: Invocation, _ settings: SettingsSources, _ job: Job?) throws {
        (restoration, self.job, self.invocation) = (nil, job, invocation)
        let client = invocation.client
        var given = invocation.options
        var settable = OptionDescription.output
        if let file = given.value(SyncRun.savedPlan), let saved = invocation.saved {
            given = try saved.options(from: file, beside: invocation)
            if client != nil {
                source = .directory(saved.source)
                target = try invocation.argument(SyncRun.target)
            } else {
                source = try SyncRun.source(saved.source, given)
                target = saved.target
            }
            self.saved = saved
        } else {
            if let client {
                source = try client.command.source(named: invocation.argument(SyncRun.source))
            } else {
                source =
                    try job.map { try SyncRun.source($0.source, given) }
                    ?? SyncRun.source(invocation.argument(SyncRun.source), given)
            }
            target = try job?.target ?? invocation.argument(SyncRun.target)
            saved = nil
            settable += OptionDescription.planning + OptionDescription.mirroring
        }
        shownTarget = invocation.targetOfClient ?? target
        next = try NextCommand(invocation, job, saved, target: target)
        let layers = try settings.layers(target: target, job: job)
        let retention = try RetentionOptions(given, layers)
        self.given = given.withRetention(ofJobIn: layers).over(layers, settable)
        guard !invocation.options.has(.quiet) || !invocation.options.has(.verbose) else {
            throw UsageError("--quiet and --verbose exclude each other", hint: "leave one out")
        }
        var options = try SyncOptions(self.given)
        if client == nil, case .directory(let path) = source {
            try options.filters.complain(ofPatternsFrom: path)
        }
        if let rate = options.bandwidth, rate < 1000, !self.given.has(.quiet) {
            Console.complain("note: the bandwidth is \(rate) B a second; 50M is 50 MiB")
        }
        options.retention = retention
        options.retention.keepsAll = invocation.keepsHistory
        options.expectsTarget = job != nil && !given.has(.createTarget)
        options.changeTarget = given.has(.changeTarget)
        options.knownTargets = KnownTargets.own
        options.acceptsNewTarget = ([.newTarget] + OptionDescription.firstRun).contains(
            where: invocation.options.has)
        self.options = options
    }

    /// The job that a client runs here.
    static func job(of invocation: Invocation) throws -> Job? {
        guard let client = invocation.client, let sent = client.command.job else { return nil }
        let source = try client.command.source(named: invocation.argument(SyncRun.source))
        return try Job(sent.name, source, target: invocation.argument(target), sent.options)
    }

    private static func source(_ path: [UInt8], _ given: GivenOptions) throws -> MirrorSource {
        guard let endpoint = try endpoint(path) else { return .directory(path) }
        return .remote(endpoint, try RemoteAccess(given))
    }

    /// A job's source, with this command line's way to its machine.
    static func source(_ source: MirrorSource, _ given: GivenOptions) throws -> MirrorSource {
        guard case .remote(let endpoint, _) = source else { return source }
        return .remote(endpoint, try RemoteAccess(given))
    }

    /// nil for a local path, such as `./host:path`.
    static func endpoint(_ path: [UInt8]) throws -> Endpoint? {
        // A snapshot of a target here may be named by a time: mirror@2026-11-22T07:17.
        if let at = path.lastIndex(of: UInt8(ascii: "@")), at > 0,
            TimeSpan(String(decoding: path[(at + 1)...], as: UTF8.self)) != nil,
            try LocalFile(bytes: Array(path[..<at])).isDirectory
        {
            return nil
        }
        return try Endpoint(argument: path)
    }

    /// Whether the actions of a plan are printed. A `quiet` in settings silences `apply`, but not `plan`.
    var listsPlan: Bool { !invocation.options.has(.quiet) }
    var client: Client? { invocation.client }
    var isQuiet: Bool { given.has(.quiet) }
    var isJSON: Bool { given.has(.json) }
    var document: PlanDocument {
        PlanDocument(
            source, target: shownTarget, job: job?.name, takesBack: restoration?.takesBack ?? [])
    }
    var actionText: ActionText { ActionText(listsAll: given.has(.all)) }

    /// How much a copy of a snapshot has restored, and where; nil for nothing, or for another run.
    func restored(_ report: Report) -> String? {
        guard let restoration, restoration.destination != nil, report.outcome == .committed else {
            return nil
        }
        let brought = report.actions.filter { $0.verb == .create || $0.verb == .update }
        let files = brought.count { $0.type != FileType.directory.documentName }
        guard !brought.isEmpty else { return nil }
        let what = files > 0 ? Amount.of(files, "file") : Amount.of(brought.count, "directory", "directories")
        let paths = restoration.paths
        let place = paths.count == 1 ? (LocalFile(bytes: shownTarget) + paths[0].bytes).bytes : shownTarget
        let rest = report.summary.unchanged > 0 ? "; \(report.summary.unchanged) unchanged" : ""
        let bytes = report.summary.bytesToCopy
        let size = bytes > 0 ? ", \(Amount.bytes(bytes))," : ""
        return "restored \(what)\(size) to \(escapedText(place))\(rest)"
    }

    /// Runs `body` with the synchronizer and shows its progress.
    func synchronizing<Result>(_ body: (Synchronizer) throws -> Result) throws -> Result {
        try monitoring { monitor in
            guard let restoration else {
                if let client {
                    return try body(
                        Synchronizer(
                            client, target: target, name: shownTarget, options: options, monitor: monitor))
                }
                return try body(Synchronizer(source, target: target, options: options, monitor: monitor))
            }
            return try body(Synchronizer(restoration, from: snapshot, monitor: monitor))
        }
    }

    /// Runs `body` and shows its progress.
    func monitoring<Result>(_ body: (RunMonitor) throws -> Result) throws -> Result {
        let monitor = RunMonitor(isQuiet: isQuiet, client: client)
        defer { monitor.clear() }
        return try body(monitor)
    }

    /// A line prefixed with the name of the job, if there is one.
    func labelled(_ text: String) -> String {
        job?.labelled(text) ?? text
    }

    func complain(_ text: String) {
        Console.complain(labelled(text))
    }

    /// The snapshots that were removed, for people; nil if there are none.
    static func note(_ text: String, _ names: [String]) -> String? {
        let first = names.prefix(10).map(SnapshotName.short(part:))
        return names.isEmpty ? nil : "\(text): \(Amount.list(first, of: names.count))"
    }

    private static let mostListed = 20

    func complain(notes: [String], problems: [Problem], refusals: [Refusal]) {
        if !isQuiet { for note in notes { complain("note: \(note)") } }
        let rest = given.has(.logFile) ? "the log has all of them" : "--json lists all of them"
        Console.complain(of: problems, limit: given.has(.all) ? nil : (SyncRun.mostListed, rest), complain)
        for refusal in refusals { complain("refused: \(refusal.reason)") }
    }

    func advice(after refusals: [Refusal]) -> [String] {
        // The client's key refuses every option that loosens a guard.
        let isForbidden =
            invocation.keepsHistory
            && refusals.flatMap(\.wayOut.adding).contains { option in
                ServiceLimits.loosening.contains { $0.name == option.name }
            }
        return next.advice(
            after: refusals,
            instead: isForbidden ? "on that machine, or with another key; this one is append-only" : nil)
    }

    func advice(after report: Report) -> [String] {
        advice(after: report.refusals + [report.error?.refusal].compactMap(\.self))
    }

    func log(_ events: [String]) { given.log(events, of: next.typed.command, job, at: client) }
}
