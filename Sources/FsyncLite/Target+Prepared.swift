import FileStorage
import FileSystem

extension Target {
    /// The beginning of the id of a prepared transaction without changes; the manifest's id follows.
    static let unchanged = "unchanged-"

    /// Commits a transaction of `Synchronizer.prepare`, if all its objects are unchanged. It neither scans nor copies.
    ///
    /// For a transaction that is already committed, the report is `unchanged`. So a commit can be repeated.
    ///
    /// - Parameters:
    ///   - id: the report's `transaction`.
    ///   - isDryRun: only compares; the report is then `prepared`.
    ///   - keepsHistory: no snapshot is removed.
    ///   - trustingState: as root, follow a document that others may have written, as on a file system without owners.
    /// - Returns: a report. If an object changed, it is `refused`, with an error of code `stale` and a refusal for each
    ///   path. No file is written then.
    /// - Throws: `SyncError`: `stale` for an unknown id; `inputMissing`, `locked`, `pending`, `invalidDocument`.
    public func commit(
        _ id: String, isDryRun: Bool = false, keepsHistory: Bool = false, trustingState: Bool = false,
        monitor: any Monitor = SilentMonitor()
    ) throws -> Report {
        let (root, state) = try openForCommit(isDryRun: isDryRun)
        if let header = try state.manifest()?.header, [header.id, Target.unchanged + header.id].contains(id) {
            return try committed(header, state, hadChanges: header.id == id)
        }
        let (prepared, stage) = try prepared(id, state, trustingState)
        try root.probe()
        guard let directory = root.directory else {
            throw SyncError(.failed, path: path, "it does not exist")
        }
        let next = try ManifestReader(
            stage.open(TransactionEntry.manifest, [.read, .noFollow]),
            path: stage.path(of: TransactionEntry.manifest)
        ).header
        var report = Report(prepared, root.capabilities)
        report.sources = next.shownSources
        report.refusals = try prepared.drift(in: directory, state, monitor).map {
            $0.preparing(id, report.sources)
        }
        guard report.refusals.isEmpty else {
            report.outcome = .refused
            report.error = SyncError(
                .stale, path: path, "the prepared run no longer fits, and nothing was done; prepare it again")
            return report
        }
        guard !isDryRun else { return report }
        do {
            try carryOut(prepared, in: stage, root: directory, state, monitor)
        } catch {
            let error = SyncError(wrapping: error)
            report.outcome = error.code == .pending ? .pending : .failed
            report.error = error
            return report
        }
        report.outcome = .committed
        let rules = RetentionRules(given: keepsHistory ? .everything : prepared.retention)
        try Tidying(scanned: next.created, rules).run(root, state, &report, id: id)
        return report
    }

    /// Ends a pending commit first. For a dry run, which takes no lock, a pending commit is an error.
    private func openForCommit(isDryRun: Bool) throws -> (TargetRoot, StateDirectory) {
        var (root, state) = try open()
        if isDryRun {
            if try state.hasJournal() { throw SyncError.pendingCommit(name) }
            return (root, state)
        }
        try root.lock()
        guard try root.recover() != nil else { return (root, state) }
        // Another directory may have the name now. The lock ends with the earlier one.
        (root, state) = try open()
        try root.lock()
        return (root, state)
    }

    /// The report if the target is as the transaction left it.
    private func committed(_ header: ManifestHeader, _ state: StateDirectory, hadChanges: Bool) throws
        -> Report
    {
        var report = Report(.unchanged, Plan(Difference(), root: nil))
        report.sources = header.shownSources
        report.summary.unchanged = try state.manifest(of: path).total()
        if hadChanges { report.notes.append("this is committed already") }
        return report
    }

    private func prepared(
        _ id: String, _ state: StateDirectory, _ trustingState: Bool
    ) throws -> (PreparedTransaction, Directory) {
        guard let (prepared, stage) = try state.prepared(id) else {
            throw SyncError(
                .stale, path: path,
                id.hasPrefix(Target.unchanged)
                    ? "another run has changed the target since; prepare it again"
                    : "nothing is prepared here with this id: it was abandoned, or a later run used its files; prepare it again"
            )
        }
        guard !state.isOpenToOthers || !Account.isRoot || trustingState else {
            throw SyncError(.untrustedState, path: stage.path(of: TransactionEntry.prepared))
        }
        return (prepared, stage)
    }

    private func carryOut(
        _ prepared: PreparedTransaction, in stage: Directory, root: Directory, _ state: StateDirectory,
        _ monitor: any Monitor
    ) throws {
        var progress = SyncProgress(.committing)
        progress.beginsCommit = true
        monitor.report(progress)
        try monitor.checkCancellation()
        if let name = FileName(prepared.id.utf8) {
            try HistoryRecord.Header.renewLabel(of: name, in: stage, History(state))
        }
        let graph = OperationGraph(prepared.objects, prepared.operations, prepared.attributes)
        let journal = try Commit.prepare(graph, id: prepared.id, root: root, state: state)
        try Recovery(root: root, state: state).commit(journal)
    }

    /// Removes a prepared transaction. The tree of the target is left unchanged.
    ///
    /// - Returns: false if it had no changes when it was prepared.
    /// - Throws: `SyncError`: `stale` for an unknown id; `inputMissing`, `locked`, `pending`.
    public func abandon(_ id: String) throws -> Bool {
        let (root, state) = try open()
        try root.lock()
        if try state.hasJournal() { throw SyncError.pendingCommit(name) }
        guard try state.preparedStage()?.name.bytes.elementsEqual(id.utf8) == true else {
            if id.hasPrefix(Target.unchanged) { return false }
            let isCommitted = try state.manifest()?.header.id == id
            throw SyncError(
                .stale, path: path,
                isCommitted
                    ? "this is committed; to take it back: fsync-lite undo \(escapedText(name))"
                    : "nothing is prepared here with this id: it was abandoned, taken back, or a later run used its files"
            )
        }
        try state.endPrepared()
        try state.clean()
        // A target without any run loses its state.
        if try state.manifest() == nil, try state.transactions().isEmpty { try root.removeState() }
        return true
    }
}

extension ManifestHeader {
    fileprivate var shownSources: [(name: String?, path: [UInt8])] { sources.map { ($0.name, $0.path) } }
}

extension ManifestReader {
    /// The number of its entries.
    fileprivate func total() throws -> Int {
        while try advance() {}
        return summary.entries
    }
}

extension Report {
    fileprivate init(_ prepared: PreparedTransaction, _ fileSystem: FileSystemCapabilities?) {
        self.init(.prepared, Plan(Difference(), root: nil))
        (actions, summary) = (ActionList(prepared.actions), prepared.summary)
        (notes, problems) = (prepared.notes, prepared.problems)
        (self.fileSystem, transaction) = (fileSystem, prepared.id)
    }
}
