import FileSystem

/// The old tree after an exchange, `tree` in its transaction's directory. It stays whole until a later run, for those
/// who still read it. Everything in it has another name, in the new tree or in the slots of the history, but for what
/// somebody put there at the last moment.
struct DisplacedTree {
    private let transaction: Directory
    private let name: FileName

    /// All that are there, the oldest first.
    static func all(in state: TargetState) throws -> [DisplacedTree] {
        let names = try state.transactions()
        guard !names.isEmpty else { return [] }
        let history = try state.directory.directory(TargetState.Name.history)
        return try names.compactMap { name in
            guard try history.status(of: name)?.type == .directory else { return nil }
            let transaction = try history.directory(name)
            let isThere = try transaction.status(of: TargetState.Name.tree) != nil
            return isThere ? DisplacedTree(transaction: transaction, name: name) : nil
        }
    }

    /// When the links were made that made this tree a second one: its record was written right after.
    func linked() throws -> FileTime? {
        try transaction.status(of: HistoryRecord.headerName)?.modified
    }

    /// Takes the trees of earlier runs away, so that the history is what every other commit leaves.
    ///
    /// - Parameter newest: the transaction of this run.
    /// - Returns: where is kept what has no other name.
    static func reduce(in state: TargetState, except newest: String?) throws -> [[UInt8]] {
        let trees = try all(in: state).filter { $0.name.description != newest }
        guard !trees.isEmpty else { return [] }
        let accounted = [try state.linkedUntil(), try state.lastRun()].compactMap(\.self).max()
        var removed: Set<UInt64> = []
        for tree in trees {
            try TreeRemoval.remove(TargetState.Name.tree, in: tree.transaction) { status in
                guard let accounted, status.links > 1,
                    status.changed < accounted || removed.contains(status.inode)
                else { return false }
                if status.links > 2 { removed.insert(status.inode) }
                return true
            }
        }
        try state.markLinked()
        // What somebody changed loses its name only now: the next run finds a change that nobody vouches for, and
        // compares it.
        return try trees.compactMap { try $0.removeRest() }
    }

    /// What has one name is a clone's original, or came after everything was linked: it may be the only one.
    private func removeRest() throws -> [UInt8]? {
        let began = try transaction.status().created
        try TreeRemoval.remove(TargetState.Name.tree, in: transaction) { status in
            status.links > 1 || began.map { status.changed < $0 } ?? false
        }
        guard try transaction.status(of: TargetState.Name.tree) != nil else { return nil }
        return try transaction.takeConflict(TargetState.Name.tree, from: transaction)
    }
}
