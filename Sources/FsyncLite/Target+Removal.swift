import FileStorage
import FileSystem

/// Removes snapshots and files that the user names from the history.
extension Target {
    /// Removes snapshots, also labelled ones.
    ///
    /// - Parameters:
    ///   - names: the names that `snapshot show` accepts.
    ///   - isDryRun: removes nothing.
    /// - Returns: as `prune`.
    /// - Throws: `SyncError`: `refused` for the present tree and the one before it; `inputMissing` for an unknown name.
    public func remove(
        _ names: [String], _ retention: RetentionOptions = RetentionOptions(), isDryRun: Bool = false
    ) throws -> (all: [Snapshot], removed: RemovedSnapshots) {
        func found(_ history: History) throws -> (all: [Snapshot], indices: Set<Int>) {
            let all = try snapshots(history, rules(retention, history.state).policy)
            let indices = try names.map { name in
                let index = try SnapshotName.index(of: name, in: all)
                guard index >= Retention.lastSteps else {
                    throw SyncError(.neededSnapshot(all[index].shortID, isPresent: index == 0), path: path)
                }
                return index
            }
            return (all, Set(indices))
        }
        if isDryRun {
            let (all, indices) = try found(history())
            let removed = indices.sorted().map { all[$0] }
            return (all, RemovedSnapshots(removed, bytes: removed.map(\.bytesStored).sum()))
        }
        return try writing { history in
            if let damage = history.damage { throw damage }
            let (all, indices) = try found(history)
            let removed = try Retention(history.state).remove(indices, of: history)
            try history.state.directory.syncFileSystem()
            return (all, removed)
        }
    }

    /// Removes the content of selected files from all kept snapshots, under all its names.
    ///
    /// - Parameter isDryRun: removes nothing.
    /// - Throws: `SyncError`, as `find`.
    package func purge(_ selection: EntrySelection, isDryRun: Bool = false) throws -> Purged {
        if isDryRun {
            let history = try history()
            if let damage = history.damage { throw damage }
            var found = try Purge(selection, in: history).result
            found.prepared = try history.state.preparedStage()?.name.description
            return found
        }
        return try writing { history in
            if let damage = history.damage { throw damage }
            let state = history.state
            try TargetLists.convert(state)
            // A prepared or older stage may have the content, and so may the old trees of exchanges.
            let prepared = try state.endPrepared()
            try state.clean()
            try HistorySpace(TargetRoot(path))?.removeOldTrees()
            var purged = try Purge(selection, in: history).run()
            purged.prepared = prepared
            try Retention(state).tidy()
            try state.directory.syncFileSystem()
            return purged
        }
    }
}
