import FileStorage
import FileSystem

/// Builds the complete new tree as a snapshot of a target that is a subvolume, and swaps it in with one rename.
///
/// A snapshot has the target's objects and state with the same inodes. So the ordinary commit runs in it, with its own
/// journal. The swap needs no journal: before it the target is the old tree, and after it the new one.
struct SubvolumeExchange {
    private let staged: StagedCommit
    private let location: (parent: Directory, name: FileName)

    init(_ staged: StagedCommit, at location: (parent: Directory, name: FileName)) {
        (self.staged, self.location) = (staged, location)
    }

    /// Makes the snapshot with the stage, commits in it, and swaps the two.
    func commit(in root: inout TargetRoot) throws -> StateDirectory {
        let target = staged.target
        if !Account.isRoot { try SubvolumeExchange.checkOwners(target) }
        let trees = try SubvolumeTrees(for: target, at: location)
        // Measured before the snapshot is made: later changes of the old tree would be lost.
        let touched = try ObjectHandle(of: trees.directory)
        let began = try trees.directory.passTick {
            try touched.setModified(.now)
            return try touched.status().changed
        }
        guard let name = FileName(TransactionID.next(now: Timestamp(began)).utf8) else {
            throw SyncError(.failed, path: target.path, "the clock shows no time")
        }
        try target.makeSnapshot(name, in: trees.directory)
        let tree = try trees.directory.directory(name)
        try tree.lock()
        guard let state = try StateDirectory(of: tree) else {
            throw SyncError(.failed, path: target.path, "its state vanished")
        }
        try staged.besideTarget {
            try staged.commit(on: tree, state, state.makeStage().directory(staged.stage.name))
        }
        try swap(name, in: trees.directory, began)
        root.becomes(tree)
        return state
    }

    /// Only root can empty directories of other users, and a snapshot includes such directories.
    private static func checkOwners(_ root: Directory) throws {
        let scan = try TreeScan(root, .target)
        while try scan.advance() {
            let status = scan.status
            guard status.type == .directory, !status.isOwn else { continue }
            throw SyncError(
                .exchangeImpossible(
                    "it belongs to user \(status.owner), and only root could remove the old tree; run as root"
                ),
                path: root.path + [UInt8(ascii: "/")] + scan.path.bytes)
        }
    }

    /// Gives the snapshot the target's name, durably.
    ///
    /// RACE: an entry that is added to the old tree between the last check and the swap is found there later. See
    /// `SubvolumeTrees`.
    private func swap(_ name: FileName, in trees: Directory, _ began: FileTime) throws {
        let (target, parent) = (staged.target, location.parent)
        try LinkedExchange.checkUnchanged(target, since: began, comparesFiles: true, staged.monitor)
        // Users edit the settings in the old tree's state.
        if let path = try staged.state.settingsChanged(since: began) {
            throw SyncError(.failed, path: path, "it was changed meanwhile; run again")
        }
        try parent.rename(location.name, to: trees, name, .exchange)
        // RACE: another object may have got the target's name just before the swap.
        guard try trees.status(of: name)?.isSameObject(as: target.status()) == true else {
            try parent.rename(location.name, to: trees, name, .exchange)
            throw SyncError(.failed, path: target.path, "it was replaced meanwhile; run again")
        }
        do {
            try parent.syncFileSystem()
        } catch {
            throw SyncError(
                .pending, path: target.path,
                "the new tree is in place, but a crash may bring the old one back: \(error)")
        }
    }
}
