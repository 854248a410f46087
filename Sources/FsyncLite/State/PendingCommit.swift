import FileSystem

extension Journal {
    package enum Direction: Sendable {
        case forward, backward

        /// The name of the journal of a commit that goes in this direction.
        fileprivate var entry: StateEntry { self == .forward ? .journal : .journalBack }
    }
}

/// A commit that was begun and not ended.
extension StateDirectory {
    /// nil when there is none.
    package func pendingJournal() throws -> (direction: Journal.Direction, journal: Journal)? {
        for direction in [Journal.Direction.forward, .backward] {
            guard let descriptor = try open(direction.entry) else { continue }
            return (direction, try Journal(reading: descriptor, path: path(of: direction.entry)))
        }
        return nil
    }

    /// Whether a commit was begun and not ended.
    package func hasJournal() throws -> Bool {
        let (forward, backward) = (try has(.journal), try has(.journalBack))
        return forward || backward
    }

    /// Whether the commit is not to be taken back.
    func hasForwardJournal() throws -> Bool { try has(.journal) }

    /// For messages.
    var journalPath: [UInt8] { path(of: .journal) }

    /// The file that becomes the journal when it is committed.
    func newJournal() throws -> PendingFile { try PendingFile(StateEntry.journal.name, in: directory) }

    /// From here on the commit is taken back, also by a recovery.
    func turnJournal() throws {
        try directory.rename(
            StateEntry.journal.name, to: directory, StateEntry.journalBack.name, .noReplace)
        try directory.sync()
    }

    /// The commit is over, durably.
    func removeJournal(_ direction: Journal.Direction) throws {
        try directory.unlink(direction.entry.name)
        try directory.sync()
    }

    // MARK: Syncs that failed

    /// Whether the sync that ends a commit failed under this mount. The kernel tells an error once and says
    /// success ever after, while what is in memory and what is on disk differ.
    package func syncFailed(under mount: String) throws -> Bool {
        try read(.syncFailed, limit: 4096) == Array(mount.utf8)
    }

    /// Need not be durable: it serves as long as the mount does.
    package func noteFailedSync(under mount: String) throws {
        guard try !has(.syncFailed) else { return }
        let descriptor = try open(.syncFailed, [.write, .create, .exclusive])
        try calling("write", path(of: .syncFailed)) { () throws(Errno) in
            try descriptor.write(Array(mount.utf8))
        }
    }
}
