import FileStorage
import FileSystem

/// A directory that fsync-lite writes to, and what its state tells.
public struct Target: Sendable {
    public let path: [UInt8]

    public init(path: [UInt8]) {
        self.path = path
    }

    /// What `status` shows.
    public struct Status: Sendable {
        /// nil while a commit is unfinished: the tree and its manifest may not agree.
        public var manifest: (header: ManifestHeader, summary: ManifestSummary)?
        /// A commit was begun and not ended.
        public var isPending: Bool
        /// The last run that left the target as far as it could; nil where none has yet.
        public var lastRun: LastRun?
        /// What the run is doing that writes to the target now; nil where none does, or it has not told yet.
        public var activity: Activity?
        /// The applies that can be taken back, the newest first.
        public var history: [Applied]
    }

    /// An apply whose displaced data is kept.
    public struct Applied: Sendable {
        public var id: String
        /// ISO 8601.
        public var created: String
        /// Bytes of content that it displaced and that are kept.
        public var bytesHeld: Int64
    }

    /// Reads the state; takes no lock and writes nothing.
    ///
    /// - Throws: `SyncError`: `inputMissing` where there is no target, `refused` for a state that is not ours,
    ///   `invalidDocument` for a damaged manifest or history.
    public func status() throws -> Status {
        // An apply may go by meanwhile: manifest and history are of one moment, or it is asked again.
        for attempt in 1... {
            let (root, state) = try open()
            let before = try state.manifestVersion()
            let result = Result { try status(of: state, root) }
            let isOfOneMoment = try state.manifestVersion() == before
            if attempt < 5, !isOfOneMoment || (try? result.get()) == nil { continue }
            guard isOfOneMoment else { break }
            return try result.get()
        }
        throw SyncError(.pending, path: path, "it is being written to; ask again")
    }

    private func status(of state: StateDirectory, _ root: TargetRoot) throws -> Status {
        var status = Status(isPending: try state.hasJournal(), history: [])
        status.activity = try root.activity()
        status.lastRun = try state.lastRun()
        guard !status.isPending else { return status }
        if let manifest = try state.manifest() {
            while try manifest.advance() {}
            status.manifest = (manifest.header, manifest.summary)
        }
        let history = try History(state)
        if let damage = history.damage { throw damage }
        status.history = try history.steps.map {
            Applied(id: $0.header.id, created: $0.header.created, bytesHeld: try history.bytesHeld($0))
        }
        return status
    }

    /// The file of settings that lies in the target; nil without one, or without a target.
    ///
    /// - Throws: `SyncError`: `invalidDocument` for what the file must not say, `refused` for a state that is not ours.
    public func settings() throws -> SettingsFile<Settings>? {
        try TargetRoot(path).state?.settingsFile()
    }

    /// How a recovery ended.
    public enum RecoveryOutcome: Sendable {
        case nothingToDo
        /// The new tree is there.
        case finished(Conflicts)
        /// The old tree is there again.
        case undone(Conflicts)
    }

    /// What others did meanwhile.
    public struct Conflicts: Sendable {
        /// What they put in the way; it is in the history now.
        public var displaced: [SyncError]
        /// What they took away; the next apply brings it back.
        public var missing: [SyncError]
    }

    /// Ends an interrupted commit.
    ///
    /// - Parameters:
    ///   - undo: take it back instead of finishing it.
    ///   - displacingConflicts: move objects of others that are in the way to `history/TX/conflicts`.
    /// - Throws: `SyncError`: `pending` when it cannot end for objects of others, `locked`, `invalidDocument`.
    public func recover(undo: Bool = false, displacingConflicts: Bool = false) throws -> RecoveryOutcome {
        let (root, state) = try open()
        try root.lock()
        guard let (direction, commit) = try root.recover(undo: undo, displacingConflicts: displacingConflicts)
        else { return .nothingToDo }
        if try state.copy() != nil { try root.removeState() }
        let conflicts = Conflicts(displaced: commit.conflicts, missing: commit.lost)
        return direction == .forward ? .finished(conflicts) : .undone(conflicts)
    }

    func open() throws -> (TargetRoot, StateDirectory) {
        let root = try TargetRoot(path)
        guard root.directory != nil else {
            throw SyncError(.inputMissing, path: path, "the target does not exist")
        }
        guard let state = root.state else {
            throw SyncError(.inputMissing, path: path, "this is no target: it has no .fsync-lite")
        }
        return (root, state)
    }
}
