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
    /// nil if there is no unfinished commit.
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

    /// Root does not follow a journal that any user may have written.
    ///
    /// - Throws: `SyncError` with code `pending`.
    func checkJournalIsTrusted() throws {
        guard isOpenToOthers, Account.isRoot, try hasJournal() else { return }
        throw SyncError.untrustedState(journalPath)
    }

    /// For messages.
    var journalPath: [UInt8] { path(of: .journal) }

    /// From here on the commit is undone, also by a recovery.
    func turnJournal() throws {
        try directory.rename(
            StateEntry.journal.name, to: directory, StateEntry.journalBack.name, .noReplace)
        try directory.sync()
    }

    /// Ends the commit, durably.
    func removeJournal(_ direction: Journal.Direction) throws {
        try directory.unlink(direction.entry.name)
        try directory.sync()
        // Only now: while there is a journal, it tells where objects are.
        if directory.fileSystem != nil { try remove(.phase2) }
    }

    // MARK: Weak commits

    /// Whether all objects that leave have left their places, in a commit where identity does not last.
    func hasLeft(_ journal: Journal) throws -> Bool {
        // It may be of an earlier commit, whose journal is gone.
        try read(.phase2, limit: 4096) == Array(journal.id.utf8)
    }

    /// Durably: nothing may arrive before.
    func noteDeparture(_ journal: Journal) throws {
        var file = try PendingFile(StateEntry.phase2.name, in: directory)
        try file.write(Array(journal.id.utf8))
        try file.commit()
    }

    /// Durably: nothing may be put back before.
    func takeBackDeparture() throws {
        try remove(.phase2)
        try directory.sync()
    }

    // MARK: Failed syncs

    /// Whether the sync that ends a commit failed under this mount. The kernel reports an error only once and success
    /// afterwards, while memory and disk differ.
    package func syncFailed(under mount: String) throws -> Bool {
        try read(.syncFailed, limit: 4096) == Array(mount.utf8)
    }

    /// Not durable: it is needed only as long as the mount exists.
    package func noteFailedSync(under mount: String) throws {
        guard try !has(.syncFailed) else { return }
        let descriptor = try open(.syncFailed, [.write, .create, .exclusive])
        try calling("write", path(of: .syncFailed)) { () throws(Errno) in
            try descriptor.write(Array(mount.utf8))
        }
    }
}

extension Directory {
    /// Whether a commit into this directory was begun and not ended, so that it holds parts of two trees.
    func holdsUnfinishedCommit() throws -> Bool {
        // The state of another user is ignored: any user can create one.
        guard let status = try status(of: FileName.state), status.type == .directory,
            status.owner == Account.effectiveUser
        else { return false }
        let state = try directory(FileName.state)
        return try [Journal.Direction.forward, .backward].contains {
            try state.status(of: $0.entry.name) != nil
        }
    }
}
