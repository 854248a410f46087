import FileSystem

/// The complete new tree as a snapshot of a target that is a subvolume, swapped in with one rename.
///
/// A snapshot has the objects and the state of the target, inodes and all. So the ordinary commit is carried out in it,
/// with its own journal, and the swap needs none: before it the target is the old tree, after it the new one.
struct SubvolumeExchange {
    private let root: Directory
    /// The old tree's state, in which people write their settings.
    private let written: StateDirectory
    private let place: (parent: Directory, name: FileName)
    private let trees: SubvolumeTrees
    /// The new tree, locked.
    let tree: Directory
    let state: StateDirectory
    private let name: FileName
    /// Before the snapshot was taken. Later changes of the old tree would be lost.
    private let began: FileTime

    /// Takes the snapshot, with what is staged.
    init(of root: Directory, _ written: StateDirectory, at place: (parent: Directory, name: FileName)) throws
    {
        self.root = root
        self.written = written
        self.place = place
        if !Account.isRoot { try SubvolumeExchange.checkOwners(root) }
        trees = try SubvolumeTrees(for: root, at: place)
        began = .now
        let name = FileName(TransactionID.next(now: Timestamp(began)).utf8)
        guard let name else { throw SyncError(.failed, path: root.path, "the clock shows no time") }
        self.name = name
        try root.makeSnapshot(name, in: trees.directory)
        tree = try trees.directory.directory(name)
        try tree.lock()
        let state = try StateDirectory(of: tree)
        guard let state else { throw SyncError(.failed, path: root.path, "its state vanished") }
        self.state = state
    }

    /// Only root empties directories of others, which a snapshot has like all else.
    private static func checkOwners(_ root: Directory) throws {
        let scan = try TreeScan(root, .target)
        while try scan.advance() {
            let status = scan.status
            guard status.type == .directory, status.owner != Account.effectiveUser else { continue }
            throw SyncError(
                .refused, path: root.path + [UInt8(ascii: "/")] + scan.path.bytes,
                "it belongs to user \(status.owner), and only root could remove the old tree; run as root")
        }
    }

    /// Makes the snapshot the new tree.
    func change(by layout: OperationGraph, id: String, _ name: FileName) throws {
        do {
            let transaction = try Commit.prepare(layout, id: id, root: tree, state: state)
            let stage = try state.makeStage().directory(name)
            try ReservedSpace.make(for: transaction, in: stage)
            try Recovery(root: tree, state: state).commit(transaction)
        } catch let error as SyncError where error.code == .pending {
            // The target's has not begun.
            throw SyncError(.failed, path: error.path, error.message)
        }
    }

    /// Puts it in the target's place, durably.
    ///
    /// RACE: what comes into the old tree between the last look and the swap is found there later. See `SubvolumeTrees`.
    func swap(_ monitor: any Monitor) throws {
        try LinkedExchange.checkUnchanged(root, since: began, comparesFiles: true, monitor)
        if let path = try written.settingsChanged(since: began) {
            throw SyncError(.failed, path: path, "somebody changed this meanwhile; run again")
        }
        let (parent, holder) = (place.parent, trees.directory)
        try parent.rename(place.name, to: holder, name, .exchange)
        // RACE: somebody may have put something else in the target's place right before.
        guard try holder.status(of: name)?.isSameObject(as: root.status()) == true else {
            try parent.rename(place.name, to: holder, name, .exchange)
            throw SyncError(.failed, path: root.path, "somebody put something else here")
        }
        do {
            try parent.syncFileSystem()
        } catch {
            throw SyncError(
                .pending, path: root.path,
                "the new tree is in place, and whether it stays there after a crash is not known: \(error)")
        }
    }
}
