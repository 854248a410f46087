import FileSystem

/// Which of the displaced data stays, after each commit.
struct Retention {
    let state: TargetState
    /// How many applies stay undoable; with 0 what a commit displaces is freed at once.
    let keepLast: Int

    /// Removes the transactions that are too old, and from those that stay what only the commit needed.
    func apply() throws {
        let history = try state.subdirectory(TargetState.Name.history)
        let transactions = try state.transactions()
        for name in transactions.dropLast(keepLast) { try state.discard(name, in: history) }
        for name in transactions.suffix(keepLast) {
            let directory = try history.directory(name)
            // The old manifest: the record holds what changed.
            for leftover in [TargetState.Name.manifest, TargetState.Name.ballast]
            where try directory.status(of: leftover) != nil {
                try directory.unlink(leftover)
            }
        }
        try state.clean()
    }
}
