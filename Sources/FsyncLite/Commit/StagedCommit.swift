import FileSystem

/// A complete stage on its way to become the target, by one of three strategies.
struct StagedCommit {
    let id: String
    let stage: Stage
    /// The target's state, which holds the stage.
    let state: StateDirectory
    /// The target's root.
    let target: Directory
    /// The directory that holds the target, opened before anything was staged, and the target's name in it; nil where
    /// the commit changes the target itself.
    let location: (parent: Directory, name: FileName)?
    let plan: Plan
    let graph: OperationGraph
    /// What the target's root has and what it shall have.
    let rootAttributes: (old: Attributes, new: Attributes)
    /// Of the staged manifest.
    let header: ManifestHeader
    let replacesManifest: Bool
    /// When the scan began.
    let scanned: FileTime
    let options: SyncOptions
    let monitor: any Monitor

    /// Carries the commit out.
    ///
    /// - Parameters:
    ///   - root: becomes what has the target's name after.
    ///   - clones: inodes of clones that stand for files with names in the history.
    ///   - record: adds to the stage what the history tells of the commit.
    /// - Returns: the state of what has the target's name after.
    /// - Throws: `SyncError` with code `pending` where a commit was begun and not ended; after any other error the old
    ///   tree stands.
    func run(
        in root: inout TargetRoot, clones: Set<UInt64>,
        record: (_ plan: Plan, _ originals: [UInt64: UInt64]) throws -> Void
    ) throws -> StateDirectory {
        let strategy = try strategy(for: root, clones)
        try record(strategy.recorded(plan), strategy.originals)
        monitor.report(SyncProgress(.syncing))
        try target.syncFileSystem()
        if options.verifiesCopies, !strategy.hasReread { try stage.reread() }
        monitor.report(SyncProgress(.committing))
        try monitor.checkCancellation()
        return try strategy.commit(in: &root)
    }

    private func strategy(for root: TargetRoot, _ clones: Set<UInt64>) throws -> any CommitStrategy {
        guard let location else { return InPlace(self) }
        if root.isSubvolume { return SubvolumeExchange(self, at: location) }
        return try LinkedExchange(self, at: location, clones: clones)
    }
}

/// How what is staged becomes the target. What a strategy needs beside the stage is made before there is one, and is
/// synced with the stage.
protocol CommitStrategy {
    /// The stage has been synced and read again already.
    var hasReread: Bool { get }
    /// By the inode of a copy that the strategy has made, that of the file whose other names are in the history.
    var originals: [UInt64: UInt64] { get }
    /// The plan as the history tells it.
    func recorded(_ plan: Plan) -> Plan
    /// Writes the journal and carries it out, when everything is durable that it names.
    func commit(in root: inout TargetRoot) throws -> StateDirectory
}

extension CommitStrategy {
    var hasReread: Bool { false }
    var originals: [UInt64: UInt64] { [:] }
    func recorded(_ plan: Plan) -> Plan { plan }
}
