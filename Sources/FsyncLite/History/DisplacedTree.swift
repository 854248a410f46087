import FileSystem

/// The old tree after an exchange, in `history/TX/tree`: everything in it has another name, in the new tree or in the
/// slots of the history, but for what somebody put there at the last moment.
enum DisplacedTree {
    /// Takes it away, so that the history is what every other commit leaves.
    ///
    /// - Returns: where that is kept which has no other name.
    static func reduceAll(in state: TargetState) throws -> [[UInt8]] {
        let transactions = try state.transactions()
        guard !transactions.isEmpty else { return [] }
        let history = try state.subdirectory(TargetState.Name.history)
        return try transactions.compactMap { name in
            guard try history.status(of: name)?.type == .directory else { return nil }
            return try reduce(history.directory(name), state)
        }
    }

    private static func reduce(_ transaction: Directory, _ state: TargetState) throws -> [UInt8]? {
        let tree = TargetState.Name.tree
        // The record was written when everything was linked.
        guard try transaction.status(of: tree) != nil,
            let linked = try transaction.status(of: HistoryRecord.headerName)?.modified
        else { return nil }
        var removed: Set<UInt64> = []
        try TreeRemoval.remove(tree, in: transaction) { status in
            guard status.links > 1, status.changed <= linked || removed.contains(status.inode) else {
                return false
            }
            if status.links > 2 { removed.insert(status.inode) }
            return true
        }
        try state.markLinked()
        // What somebody changed after it was linked loses its old name only now: the next run finds a change that
        // nobody vouches for, and compares it. What has one name is old, or came after it would have been linked.
        let began = try transaction.status().created
        try TreeRemoval.remove(tree, in: transaction) { status in
            status.links > 1 || began.map { status.changed < $0 } ?? false
        }
        guard try transaction.status(of: tree) != nil else { return nil }
        return try transaction.takeConflict(tree, from: transaction)
    }
}
