import FileSystem

/// The old tree after an exchange, `trees/TX` in the state: it stays whole for a while, for processes that still read it.
/// Everything in it has another name, in the new tree or in the slots of the history, but for what others put there at
/// the last moment.
enum RetiredTree {
    /// Seconds that it stays.
    static let gracePeriod: Int64 = 60

    /// Takes the old trees out of the history, which is then what every other commit leaves.
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

    /// Takes away the trees whose time is over.
    ///
    /// - Parameters:
    ///   - displaced: those that were displaced before.
    ///   - looked: when this run began to look at the whole target; nil where it did not.
    /// - Returns: where is kept what has no other name.
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
        // What others changed loses its name only after the mark: the next run finds a change time that no exchange
        // accounts for, and compares it.
        return try names.compactMap { try removeRest($0, in: trees, state) }
    }

    /// What has one name is the original of a copy, or came after everything was linked: it may be the only one.
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

    /// Moves a tree, reduced to what came late, into the history.
    static func keep(_ name: FileName, from holder: Directory, in state: StateDirectory) throws -> [UInt8] {
        let history = try state.makeHistory()
        if try history.status(of: name) == nil { try history.makeDirectory(name) }
        return try history.directory(name).takeConflict(name, from: holder)
    }
}
