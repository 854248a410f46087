import FileStorage
import FileSystem

/// A directory that fsync-lite writes to, and its state.
public struct Target: Sendable {
    public let path: [UInt8]
    /// The target's name in messages with a command; `host:path` for another machine.
    package let name: [UInt8]

    /// - Parameter name: the name in messages with a command; nil for the path.
    public init(path: [UInt8], name: [UInt8]? = nil) {
        (self.path, self.name) = (path, name ?? path)
    }

    /// The information of `status`.
    public struct Status: Sendable {
        /// nil while a commit is unfinished: the tree and its manifest may not agree.
        public var manifest: (header: ManifestHeader, summary: ManifestSummary)?
        /// A commit was begun and not finished.
        public var isPending: Bool
        /// The target is on another file system than when it was last written: its disk may be missing.
        public var isElsewhere = false
        /// The last complete run; nil if there is none yet.
        public var lastRun: LastRun?
        /// The result of the last check; nil before the first.
        public var lastCheck: LastCheck?
        /// The abilities of the target's file system if a commit cannot keep all promises; else nil.
        public var fileSystem: FileSystemCapabilities?
        /// The current activity of the run that writes to the target; nil without one, or before its first report.
        public var activity: Activity?
        /// The prepared transaction that waits for `commit`: its id, and when it was prepared.
        public var prepared: (id: String, since: Timestamp)?
        /// The runs that can be undone, newest first.
        public var history: [Applied]
        /// Bytes of content in the history.
        public var bytesStored: ByteCount = 0
    }

    /// A run whose old versions are in the history.
    public struct Applied: Sendable {
        public var id: String
        /// See `Snapshot.shortID`.
        public var shortID: String
        /// ISO 8601.
        public var created: String
        /// Bytes of content that are freed by the removal of the snapshot, as `Snapshot.bytesStored`.
        public var bytesStored: ByteCount
    }

    /// Reads the state. Takes no lock and writes no file. During a commit, the status is without the history.
    ///
    /// - Throws: `SyncError`: `inputMissing` without a target, `refused` for a state that is not ours,
    ///   `invalidDocument` for a damaged manifest or history.
    public func status() throws -> Status {
        try atOneMoment(besideCommit: true) { root, state in try status(of: state, root) }
    }

    /// Reads what a run may be writing, again until it is of one moment.
    ///
    /// - Parameters:
    ///   - besideCommit: a value that is read while a run commits is right.
    ///   - isSure: whether a value is right although a run wrote meanwhile.
    /// - Throws: `SyncError` with code `locked` if runs follow one another.
    func atOneMoment<Value>(
        besideCommit: Bool = false, orIf isSure: (Value) -> Bool = { _ in false },
        _ read: (TargetRoot, StateDirectory) throws -> Value
    ) throws -> Value {
        for _ in 0..<5 {
            let (root, state) = try open()
            let before = try state.version()
            let result = Result { try read(root, state) }
            if case .success(let value) = result, isSure(value) { return value }
            // That wait was long enough.
            if case .failure(let error as SyncError) = result, error.code == .locked { throw error }
            if try state.version() == before, try besideCommit || !state.isCommitting() {
                return try result.get()
            }
            _ = Semaphore().wait(atMost: .milliseconds(20))
        }
        throw SyncError.beingWritten(path)
    }

    private func status(of state: StateDirectory, _ root: TargetRoot) throws -> Status {
        var status = Status(isPending: try state.hasInterruptedCommit(waits: false), history: [])
        status.activity = try root.activity()
        status.fileSystem = root.capabilities
        status.lastRun = try state.lastRun()
        status.lastCheck = try state.lastCheck()
        status.prepared = try state.preparedStage().map { ($0.name.description, $0.since) }
        guard !status.isPending else { return status }
        if let manifest = try state.manifest() {
            while try manifest.advance() {}
            status.manifest = (manifest.header, manifest.summary)
            if let last = manifest.header.targetFileSystem, let present = try root.directory?.fileSystemUUID()
            {
                status.isElsewhere = last != present
            }
        }
        // The manifest is in place before the history.
        guard try !state.isCommitting() else { return status }
        let history = try History(state)
        if let damage = history.damage { throw damage }
        // The record of a run has the old versions of the snapshot before it.
        let snapshots = try history.snapshots()
        status.history = try history.steps.indices.map { index in
            Applied(
                id: snapshots[index].id, shortID: snapshots[index].shortID,
                created: history.steps[index].header.created,
                bytesStored: index > 0 ? try history.bytesStored(history.steps[index - 1]) : 0)
        }
        status.bytesStored = try history.steps.map(history.bytesStored).sum()
        return status
    }

    /// The result of the last check; nil before the first.
    public func lastCheck() throws -> LastCheck? { try open().1.lastCheck() }

    /// Notes the result of a check for `status`. Takes no lock.
    public func note(_ check: LastCheck) throws {
        try open().1.documents.store(check, for: StateEntry.lastCheck.rawValue)
    }

    /// Whether fsync-lite has written here.
    public func hasState() throws -> Bool { try TargetRoot(path).state != nil }

    /// The settings file in the target; nil without one, or without a target.
    ///
    /// - Throws: `SyncError`: `invalidDocument` for invalid settings, `refused` for a state that is not ours.
    public func settings() throws -> SettingsFile<Settings>? {
        try TargetRoot(path).state?.settingsFile()
    }

    /// The directory that was mirrored last.
    ///
    /// - Throws: `SyncError` with code `inputMissing` if there was no run, and `refused` for several sources.
    public func source() throws -> ManifestHeader.Source {
        try source(isHere: true)
    }

    /// The sources of the last run. A source on another machine has its path there.
    package func sources() throws -> [ManifestHeader.Source] {
        try open().1.manifest()?.header.sources.map { source in
            var source = source
            if let endpoint = try? Endpoint(source.path) { source.path = endpoint.path }
            return source
        } ?? []
    }

    /// - Parameter isHere: the source has to be on this machine.
    package func source(isHere: Bool) throws -> ManifestHeader.Source {
        let advice = "--to DIR copies to a directory here"
        let (_, state) = try open()
        guard let sources = try state.manifest()?.header.sources, !sources.isEmpty else {
            throw try state.noManifest(path)
        }
        guard let source = sources.first, source.name == nil else {
            let names = sources.map { "\(escapedText(($0.name ?? "").utf8)) (\(escapedText($0.path)))" }
            let what = names.count == 1 ? "a source with a name" : "several sources"
            throw SyncError(
                .noSingleSource(
                    "it is the mirror of \(what), \(names.joined(separator: ", ")), and --to-source needs a single one without a name",
                    advice), path: path)
        }
        guard !(isHere && source.isRemote) else {
            throw SyncError(
                .noSingleSource("its source, \(escapedText(source.path)), is on another machine", advice),
                path: path)
        }
        return source
    }

    /// The result of a recovery.
    public enum RecoveryOutcome: Sendable {
        case nothingToDo
        /// The target has the new tree.
        case finished(Conflicts)
        /// The target has the old tree again.
        case undone(Conflicts)
    }

    /// Concurrent changes by others.
    public struct Conflicts: Sendable {
        /// Objects of others that were in the way. They are in the history now.
        public var displaced: [SyncError]
        /// Objects that others removed. The next run restores them.
        public var missing: [SyncError]
    }

    /// Finishes or reverts an interrupted commit.
    ///
    /// - Parameters:
    ///   - undo: revert it instead of finishing it.
    ///   - displacingConflicts: move objects of others that are in the way to `history/TX/conflicts`.
    ///   - breakingLock: take the lock from a run on another machine.
    ///   - trustingState: as root, follow a journal that others may have written, as on a file system without owners.
    /// - Throws: `SyncError`: `pending` if objects of others are in the way, `locked`, `invalidDocument`.
    public func recover(
        undo: Bool = false, displacingConflicts: Bool = false, breakingLock: Bool = false,
        trustingState: Bool = false
    ) throws -> RecoveryOutcome {
        let (root, state) = try open()
        try root.lock(breaking: breakingLock)
        guard
            let (direction, commit) = try root.recover(
                undo: undo, displacingConflicts: displacingConflicts, trustingState: trustingState)
        else {
            // A restore into a directory was interrupted without a journal: before its commit, or at its very end.
            guard try state.copy() != nil else { return .nothingToDo }
            let isRestored = try state.manifest() != nil
            try root.removeState()
            let none = Conflicts(displaced: [], missing: [])
            return isRestored ? .finished(none) : .undone(none)
        }
        if try state.copy() != nil { try root.removeState() }
        let conflicts = Conflicts(displaced: commit.conflicts, missing: commit.lost)
        return direction == .forward ? .finished(conflicts) : .undone(conflicts)
    }

    /// Marks the state of the target as made by its owner, for example after a copy without extended attributes.
    ///
    /// - Throws: `SyncError`: `inputMissing` without a state, `refused` if it cannot be marked.
    public func claim() throws {
        let root = try LocalFile(bytes: path).directory("the target").asTarget()
        guard let state = try StateDirectory.found(of: root) else {
            throw SyncError(.inputMissing, path: path, "it has no .fsync-lite of this user")
        }
        try state.directory.markAsState()
        guard try state.directory.stateMark() == .state else {
            throw SyncError(.noMark, path: state.directory.path)
        }
        try state.directory.sync()
    }

    /// For a client with limited rights: checks that the state has a mark.
    ///
    /// - Throws: `SyncError` with code `refused`, for the owner of the state.
    package func checkMark() throws {
        guard let state = try TargetRoot(path).state, state.mark == .missing else { return }
        throw SyncError(.unmarkedState(servedAs: path), path: path)
    }

    func open() throws -> (TargetRoot, StateDirectory) {
        let root = try TargetRoot(path)
        guard root.directory != nil else {
            throw SyncError(.inputMissing, path: path, "the target does not exist")
        }
        guard let state = root.state else {
            let reason = try root.stateOfOtherName().map { Refusal.renamedTarget($0).reason }
            throw SyncError(
                .inputMissing, path: path,
                reason ?? "this is not a target of fsync-lite: it has no .fsync-lite")
        }
        return (root, state)
    }
}
