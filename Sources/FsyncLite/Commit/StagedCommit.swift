import FileStorage
import FileSystem

/// Commits a complete stage to the target: in place, or by an exchange of one of two kinds.
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
        // It syncs the stage before it links the old tree, and reads the staged files back by itself.
        var linked: LinkedExchange?
        if let location, !root.isSubvolume { linked = try LinkedExchange(self, at: location) }
        try makeDurable(rereads: options.verifiesCopies && linked == nil)
        var progress = SyncProgress(.committing)
        progress.beginsCommit = true
        monitor.report(progress)
        try monitor.checkCancellation()
        stage.close()
        if let linked { return try linked.commit(in: &root) }
        if let location { return try SubvolumeExchange(self, at: location).commit(in: &root) }
        try commit(on: target, state, stage.directory)
        return state
    }

    /// Runs the operations on another tree than the target. If they stay unfinished there, the commit of the target has
    /// not begun.
    func besideTarget(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as SyncError where error.code == .pending {
            throw SyncError(.failed, path: error.path, error.message)
        }
    }

    /// Carries out the operations on a tree itself. Meanwhile, a reader sees parts of the old tree and of the new one.
    ///
    /// - Parameters:
    ///   - tree: the target, or a snapshot with its objects.
    ///   - state: the state of that tree.
    ///   - stage: a stage in that state.
    func commit(on tree: Directory, _ state: StateDirectory, _ stage: Directory) throws {
        let journal = try Commit.prepare(graph, id: id, root: tree, state: state)
        try ReservedSpace.make(for: journal, in: stage)
        try Recovery(root: tree, state: state).commit(journal)
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
}
