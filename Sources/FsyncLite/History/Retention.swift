import FileSystem

/// Which of the displaced data stays, after each commit.
struct Retention {
    private let state: TargetState
    /// How many applies stay undoable; with 0 what a commit displaces is freed at once.
    private let keepLast: Int

    /// - Parameter keepLast: what a run asks for; nil for what the target's settings say.
    init(_ state: TargetState, keepLast: Int?) throws {
        self.state = state
        self.keepLast = try keepLast ?? state.settings().keepLast ?? 1
    }

    /// Removes the transactions that are too old, and from those that stay what only the commit needed; also
    /// what a run that was cut short left behind. Writes nothing where there is nothing of this.
    func apply() throws {
        let applied = try state.applied()
        try discardUnlisted(except: Set(applied.map(\.name)))
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

    /// A transaction without a record changed nothing that people see, unless a recovery moved something there.
    private func discardUnlisted(except applied: Set<FileName>) throws {
        let names = try state.transactions().filter { !applied.contains($0) }
        guard !names.isEmpty else { return }
        let history = try state.subdirectory(TargetState.Name.history)
        for name in names where try history.status(of: name)?.type == .directory {
            let left = try DirectoryListing.names(in: history.directory(name))
            if left.contains(where: { $0.bytes.starts(with: TargetState.Name.conflicts.bytes) }) { continue }
            try state.discard(name, in: history)
        }
    }
}
