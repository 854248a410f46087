import FileSystem

/// The old tree after an exchange, `trees/TX` in the state. It remains complete for a grace period, for processes that
/// still read it. All its objects have another name, in the new tree or in the slots of the history. Only objects that
/// others put there at the last moment have none.
enum RetiredTree {
    /// The grace period, in seconds.
    static let gracePeriod: Int64 = 60

    /// Moves the old trees out of the history, which then looks the same as after any other commit.
    static func collect(in state: StateDirectory) throws {
        for name in try state.transactions() {
            guard let history = try state.history(), try history.status(of: name)?.type == .directory else {
                continue
            }
            let transaction = try history.directory(name)
            guard try transaction.status(of: TransactionEntry.tree) != nil else { continue }
            try ObjectHandle(TransactionEntry.tree, in: transaction).whileWritable {
                try transaction.rename(
                    TransactionEntry.tree, to: state.makeTrees(), name,
                    .noReplace)
            }
        }
    }

    /// Removes the names of objects in the old trees, before the objects leave the history. Otherwise these would be
    /// the last names, and would look like objects that others put there.
    ///
    /// - Parameter transactions: those that are removed as a whole or in part. Younger trees have none of their
    ///   objects.
    static func removeTrees(of transactions: Set<FileName>, in state: StateDirectory) throws {
        guard let last = transactions.max(), let trees = try state.trees(), let history = try state.history()
        else { return }
        let names = try DirectoryListing.names(in: trees).sorted()
        guard let first = names.first, first <= last else { return }
        var inodes: Set<UInt64> = []
        for name in transactions where try history.status(of: name)?.type == .directory {
            let scan = try TreeScan(history.directory(name), TreeScan.Options(toleratesUnreadable: true))
            while try scan.advance() {
                if scan.status.isMultiplyLinked { inodes.insert(scan.status.inode) }
            }
        }
        guard !inodes.isEmpty else { return }
        for name in names { try TreeRemoval.remove(name, in: trees) { inodes.contains($0.inode) } }
    }

    /// Removes the trees whose grace period is over.
    ///
    /// - Parameters:
    ///   - displaced: only trees that were replaced before this time.
    ///   - looked: the time when this run began to examine the whole target; nil if it did not.
    /// - Returns: the new paths of objects that have no other name.
    static func reduce(
        in state: StateDirectory, displaced: FileTime, looked: FileTime?
    ) throws -> [[UInt8]] {
        guard let trees = try state.trees() else { return [] }
        let names = try DirectoryListing.names(in: trees).sorted().filter { name in
            guard let status = try trees.status(of: name) else { return false }
            return status.changed < displaced
        }
        guard !names.isEmpty else { return [] }
        let verified = try [looked, state.linkedUntil()].compactMap(\.self)
            .max()
        let began = FileTime.now
        var removed: Set<UInt64> = []
        for name in names {
            try TreeRemoval.remove(name, in: trees) { status in
                guard let verified, status.links > 1,
                    status.changed < verified || removed.contains(status.inode)
                else { return false }
                if status.links > 2 { removed.insert(status.inode) }
                return true
            }
        }
        try state.markLinked(began: began)
        // The names of files that others changed are removed only after the mark. So the next run finds a change time
        // that does not belong to an exchange, and compares these files.
        return try names.compactMap { try removeRest($0, in: trees, state) }
    }

    /// Removes the rest of a tree. An object with one name is the original of a copy, or was added after the links were
    /// made. It may be the only one, so it is saved.
    private static func removeRest(
        _ name: FileName, in trees: Directory, _ state: StateDirectory
    ) throws -> [UInt8]? {
        let began = TransactionID.time(of: name)
        try TreeRemoval.remove(name, in: trees) { status in
            status.links > 1 || began.map { status.changed < $0 } ?? false
        }
        guard try trees.status(of: name) != nil else { return nil }
        return try keep(name, from: trees, in: state)
    }

    /// Moves a tree that has only late additions left into the history.
    static func keep(_ name: FileName, from holder: Directory, in state: StateDirectory) throws -> [UInt8] {
        let history = try state.makeHistory()
        if try history.status(of: name) == nil { try history.makeDirectory(name) }
        return try history.directory(name).takeConflict(name, from: holder)
    }
}
