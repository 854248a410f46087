import FileStorage
import FileSystem

/// Ends an unfinished commit, forward or backward, until the removal of its journal is durable. `Tidying` follows.
struct Recovery {
    /// The target's root. For an exchange, the directory that contains it.
    let root: Directory
    let state: StateDirectory
    private var isExchange = false

    init(root: Directory, state: StateDirectory) {
        self.root = root
        self.state = state
    }

    /// Finishes or undoes a commit after a crash. Without a journal it does nothing.
    ///
    /// - Parameters:
    ///   - undo: undoes the transaction instead of finishing it.
    ///   - displacingConflicts: moves foreign objects out of the way, into the history.
    ///   - trustingState: follows even a journal that any user may have written.
    /// - Returns: the direction, and the commit; nil if there is no journal.
    /// - Throws: `SyncError` with code `pending` if foreign objects are in the way.
    func run(
        undo: Bool = false, displacingConflicts: Bool = false, trustingState: Bool = false
    ) throws -> (Commit.Direction, Commit)? {
        if !trustingState { try state.checkJournalIsTrusted() }
        if !isExchange { try state.putBackTime(of: root) }
        guard case (var direction, let journal)? = try state.pendingJournal() else { return nil }
        if !isExchange, journal.root != (try root.status().identity), state.isBeside {
            guard journal.exchanges(treeOf: state) else {
                throw SyncError(
                    .invalidDocument, path: state.journalPath,
                    "it names objects outside of its own target; nothing was changed")
            }
            var recovery = Recovery(root: try root.parent(.read), state: state)
            recovery.isExchange = true
            return try recovery.run(undo: undo, displacingConflicts: displacingConflicts)
        }
        let path = state.journalPath
        guard try !state.syncFailed(under: root.mount()) else {
            throw SyncError(
                .pending, path: path,
                "a sync failed, and the kernel reports that only once. Mount the file system again, then run recover",
                errno: Errno.inputOutput.rawValue)
        }
        guard journal.root == (try root.status().identity) else {
            throw SyncError(
                .pending, path: path,
                "this journal was written for another directory, or through another mount of this one. Run recover there; nothing was changed",
                errno: Errno.stale.rawValue)
        }
        let commit = try Commit(
            recovering: journal, undo ? .backward : direction, root: root, state: state,
            displacingConflicts: displacingConflicts)
        if isExchange { try commit.lockOtherTree() }
        if undo, direction == .forward {
            try state.turnJournal()
            direction = .backward
        }
        do {
            try commit.run(direction)
            if direction == .backward { try keepConflicts(of: commit) }
            try finish(direction, commit)
        } catch {
            throw pending(error)
        }
        return (direction, commit)
    }

    /// Saves objects in the stage, which will be emptied after an undo. They are objects that this or an interrupted
    /// recovery moved out of the way, and changes by others to new objects.
    private func keepConflicts(of commit: Commit) throws {
        let conflicts = TransactionEntry.conflicts
        guard let name = FileName(commit.journal.id.utf8) else { return }
        let stages = try state.makeStage()
        guard try stages.status(of: name) != nil else { return }
        let stage = try stages.directory(name)
        try commit.keepLateChanges(in: stage)
        guard try stage.status(of: conflicts) != nil else { return }
        let history = try state.makeHistory()
        if try history.status(of: name) == nil { try history.makeDirectory(name) }
        let destination = try history.directory(name)
        var number = 1
        var free = conflicts
        while try destination.status(of: free) != nil {
            number += 1
            free = FileName("\(conflicts)-\(number)".utf8) ?? free
        }
        try stage.rename(conflicts, to: destination, free, .noReplace)
    }

    /// Barrier 2, then the journal is removed. If the sync fails, the journal is left in place, because the tree may
    /// not be durable.
    private func finish(_ direction: Commit.Direction, _ commit: Commit) throws {
        try commit.syncNames()
        // The commit has moved change times, which a prepared commit would compare.
        if direction == .backward { try state.endPrepared() }
        try state.removeJournal(direction)
    }

    /// Commits a transaction that has no journal yet.
    ///
    /// - Throws: `SyncError` with code `failed` if it was undone and the old tree is back, or with code `pending` if
    ///   the undo failed too.
    func commit(_ journal: Journal) throws {
        let commit = Commit(journal, root: root, state: state)
        do {
            try journal.write(to: state)
        } catch {
            // If the journal has its name, the commit is pending, even if the sync of its directory failed.
            guard try state.has(.journal) else { throw error }
            throw pending(error)
        }
        do {
            try commit.run(.forward)
        } catch let cause {
            do {
                try state.turnJournal()
                try commit.run(.backward)
                try keepConflicts(of: commit)
                try finish(.backward, commit)
            } catch {
                throw pending(error)
            }
            throw SyncError(
                .failed, path: root.path, "the commit was taken back: \(cause)\(remedy(for: cause))")
        }
        do {
            try finish(.forward, commit)
        } catch {
            throw pending(error)
        }
    }

    private func remedy(for error: any Error) -> String {
        isOfLowerLayer(error)
            ? "; an overlay can move a directory of a lower layer if it is mounted with redirect_dir=on" : ""
    }

    private func isOfLowerLayer(_ error: any Error) -> Bool {
        root.fileSystem?.capabilities.name == "overlay" && (error as? SystemError)?.errno == .crossDevice
    }

    private func pending(_ error: any Error) -> SyncError {
        var cause = "\(error)\(remedy(for: error))"
        if let error = error as? SystemError, ["fsync", "syncfs"].contains(error.call) {
            do {
                try state.noteFailedSync(under: root.mount())
            } catch {
                cause += "; and a note of that could not be written: \(error)"
            }
        }
        return SyncError(
            .pending, path: root.path,
            "the commit was interrupted: \(cause); run: fsync-lite recover \(isOfLowerLayer(error) ? "--back " : "")\(escapedText(root.path))"
        )
    }
}

extension TargetRoot {
    /// Ends the commit of an earlier run. True if there was one: then another directory may have the target's name.
    func recover() throws -> Bool {
        guard let directory, let state else { return false }
        return try Recovery(root: directory, state: state).run() != nil
    }

    /// Removes the files that this run created before its commit. The old target is unchanged.
    mutating func withdraw() throws {
        guard let directory else { return }
        try state?.endPrepared()
        try SubvolumeTrees(of: directory)?.removeUnfinished()
        try unmake()
    }
}
