import FileStorage
import FileSystem

extension Journal {
    package enum Direction: Sendable {
        case forward, backward

        /// The name of the journal of a commit in this direction.
        fileprivate var entry: StateEntry { self == .forward ? .journal : .journalBack }
    }
}

/// The journal of an unfinished commit.
extension StateDirectory {
    /// The journal; nil if there is no unfinished commit.
    package func pendingJournal() throws -> (direction: Journal.Direction, journal: Journal)? {
        for direction in [Journal.Direction.forward, .backward] {
            guard let descriptor = try open(direction.entry) else { continue }
            return (direction, try Journal(reading: descriptor, path: path(of: direction.entry)))
        }
        return nil
    }

    /// Whether there is an unfinished commit.
    package func hasJournal() throws -> Bool {
        let (forward, backward) = (try has(.journal), try has(.journalBack))
        return forward || backward
    }

    /// Whether a run is in its commit.
    func isCommitting() throws -> Bool { try hasJournal() && !directory.lockHolders().isEmpty }

    /// Whether there is an unfinished commit of a run that is gone.
    ///
    /// - Parameter waits: waits for the end of a commit, which is a moment.
    /// - Throws: `SyncError` with code `locked` if that takes more than two seconds.
    func hasInterruptedCommit(waits: Bool = true) throws -> Bool {
        for _ in 0..<100 {
            guard try hasJournal() else { return false }
            // The run may have ended since, and another one may have begun.
            if try !isCommitting(), try hasJournal(), try !isCommitting() { return true }
            guard waits else { return false }
            _ = Semaphore().wait(atMost: .milliseconds(20))
        }
        throw SyncError.beingWritten(directory.path)
    }

    /// Root must not follow a journal that any user may have written.
    ///
    /// - Throws: `SyncError` with code `pending`.
    func checkJournalIsTrusted() throws {
        guard isOpenToOthers, Account.isRoot, try hasJournal() else { return }
        throw SyncError.untrustedState(journalPath)
    }

    /// For messages.
    var journalPath: [UInt8] { path(of: .journal) }

    /// Makes the commit one that is undone from here on, also by a recovery.
    func turnJournal() throws {
        try directory.rename(
            StateEntry.journal.name, to: directory, StateEntry.journalBack.name, .noReplace)
        try directory.sync()
    }

    /// Ends the commit, durably.
    func removeJournal(_ direction: Journal.Direction) throws {
        try directory.unlink(direction.entry.name)
        try directory.sync()
        // Not earlier: while there is a journal, this file shows the places of the objects.
        if directory.fileSystem != nil { try remove(.phase2) }
    }

    // MARK: Weak commits

    /// For a weak commit: whether all objects that leave have left their places.
    func hasLeft(_ journal: Journal) throws -> Bool {
        // The file may belong to an earlier commit, whose journal was removed.
        try read(.phase2, limit: 4096) == Array(journal.id.utf8)
    }

    /// Durable, because no object may arrive before this is on disk.
    func noteDeparture(_ journal: Journal) throws {
        var file = try PendingFile(StateEntry.phase2.name, in: directory)
        try file.write(Array(journal.id.utf8))
        try file.commit()
    }

    /// Durable, because no object may be put back before this is on disk.
    func takeBackDeparture() throws {
        try remove(.phase2)
        try directory.sync()
    }

    // MARK: Failed syncs

    /// Whether the sync that ends a commit failed under this mount. The kernel reports an error once and success ever
    /// after, while memory and disk differ.
    package func syncFailed(under mount: String) throws -> Bool {
        try read(.syncFailed, limit: 4096) == Array(mount.utf8)
    }

    /// Not durable, because it is needed only while the mount exists.
    package func noteFailedSync(under mount: String) throws {
        guard try !has(.syncFailed) else { return }
        let descriptor = try open(.syncFailed, [.write, .create, .exclusive])
        try calling("write", path(of: .syncFailed)) { () throws(Errno) in
            try descriptor.write(Array(mount.utf8))
        }
    }
}

extension Directory {
    /// Whether a commit into this directory was begun and not ended. Then it contains parts of two trees.
    func holdsUnfinishedCommit() throws -> Bool {
        // The state of another user is ignored, because any user can create one.
        guard let status = try status(of: FileName.state), status.type == .directory, status.isOwn else {
            return false
        }
        let state = try directory(FileName.state)
        return try [Journal.Direction.forward, .backward].contains {
            try state.status(of: $0.entry.name) != nil
        }
    }
}
