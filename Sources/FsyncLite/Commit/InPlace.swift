import FileSystem

/// Carries out the operations on the target itself. Meanwhile, a reader sees parts of the old tree and of the new one.
struct InPlace: CommitStrategy {
    private let staged: StagedCommit

    init(_ staged: StagedCommit) {
        self.staged = staged
    }

    func commit(in root: inout TargetRoot) throws -> StateDirectory {
        try InPlace.commit(staged, on: staged.target, staged.state, staged.stage.directory)
        return staged.state
    }

    /// - Parameters:
    ///   - tree: the target, or a snapshot with its objects.
    ///   - state: the state of that tree.
    ///   - stage: a stage in that state.
    static func commit(
        _ staged: StagedCommit, on tree: Directory, _ state: StateDirectory, _ stage: Directory
    ) throws {
        let journal = try Commit.prepare(staged.graph, id: staged.id, root: tree, state: state)
        try ReservedSpace.make(for: journal, in: stage)
        try Recovery(root: tree, state: state).commit(journal)
    }
}
