import FileSystem

/// Which of the displaced data stays, after each commit.
struct Retention {
    private let state: TargetState
    /// How many applies stay undoable; with 0 what a commit displaces is freed at once.
    private let keepLast: Int

    init(_ state: TargetState) throws {
        self.state = state
        keepLast = try state.settings().keepLast ?? 1
    }

    /// Removes the transactions that are too old, and from those that stay what only the commit needed; also
    /// what a run that was cut short left behind. Writes nothing where there is nothing of this.
    func apply() throws {
        let applied = try state.applied()
        for (name, _) in applied.dropLast(keepLast) {
            try state.discard(name, in: state.subdirectory(TargetState.Name.history))
        }
        // The old manifest, for the history's own record holds what changed; and the stage's.
        let leftovers = [TargetState.Name.manifest, TargetState.Name.ballast, TargetState.Name.record]
        for (_, directory) in applied.suffix(keepLast) {
            for leftover in leftovers where try directory.status(of: leftover) != nil {
                try directory.unlink(leftover)
            }
        }
        try state.clean()
    }
}
