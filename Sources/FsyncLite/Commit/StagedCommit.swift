import FileSystem

/// Commits a complete stage to the target by one of three strategies.
struct StagedCommit {
    let id: String
    let stage: Stage
    /// The state of the target, which contains the stage.
    let state: StateDirectory
    let target: Directory
    /// The target's name and its parent directory, which was opened before anything was staged. It is nil if the commit
    /// changes the target in place.
    let location: (parent: Directory, name: FileName)?
    @Boxed private(set) var plan: Plan
    let graph: OperationGraph
    /// The present and the wanted attributes of the target's root.
    let rootAttributes: (old: Attributes, new: Attributes)
    /// The header of the staged manifest.
    let header: ManifestHeader
    let replacesManifest: Bool
    /// The start of the scan.
    let scanned: FileTime
    @Boxed private(set) var options: SyncOptions
    let monitor: any Monitor

    /// Carries out the commit.
    ///
    /// - Parameter root: becomes the directory that has the target's name in the end.
    /// - Returns: the state of the directory that has the target's name in the end.
    /// - Throws: `SyncError` with code `pending` if a commit was begun and not ended. After any other error, the old
    ///   tree is in place.
    func run(in root: inout TargetRoot) throws -> StateDirectory {
        let strategy = try strategy(for: root)
        try makeDurable(rereads: options.verifiesCopies && !strategy.hasReread)
        var progress = SyncProgress(.committing)
        progress.beginsCommit = true
        monitor.report(progress)
        try monitor.checkCancellation()
        stage.close()
        return try strategy.commit(in: &root)
    }

    /// The first barrier.
    ///
    /// - Parameter rereads: reads the staged files back.
    func makeDurable(rereads: Bool) throws {
        monitor.report(SyncProgress(.syncing))
        if target.fileSystem?.capabilities.syncsAsAWhole == false { try stage.syncDirectories() }
        try target.syncFileSystem()
        if rereads { try stage.reread() }
    }

    private func strategy(for root: TargetRoot) throws -> any CommitStrategy {
        guard let location else { return InPlace(self) }
        if root.isSubvolume { return SubvolumeExchange(self, at: location) }
        return try LinkedExchange(self, at: location)
    }
}

/// The way in which a stage becomes the target. Objects that a strategy needs in addition are made by its initializer,
/// and synced with the stage.
protocol CommitStrategy {
    /// Whether the stage was already synced and read again.
    var hasReread: Bool { get }
    /// Writes the journal and carries it out. Everything that it names must be durable.
    func commit(in root: inout TargetRoot) throws -> StateDirectory
}

extension CommitStrategy {
    var hasReread: Bool { false }
}
