import FileSystem

/// The outcomes of staging, by entry; nine bytes for an entry that was staged as wanted.
struct OutcomeList: RandomAccessCollection, Sendable {
    private enum Kind: UInt8 {
        case none, asWanted, settledAsWanted, other
    }

    private let entries: OperationGraph.StagedList
    private var kinds: [Kind]
    /// The inode of an entry staged as wanted, or the index of another outcome.
    private var values: [UInt64]
    private var others: [Stage.Outcome] = []

    init(_ entries: OperationGraph.StagedList = .init()) {
        self.entries = entries
        kinds = Array(repeating: .none, count: entries.count)
        values = Array(repeating: 0, count: entries.count)
    }

    var startIndex: Int { 0 }
    var endIndex: Int { entries.count }

    /// nil until the entry is done.
    subscript(index: Int) -> Stage.Outcome? {
        switch kinds[index] {
        case .none: nil
        case .asWanted, .settledAsWanted:
            .staged(
                entries.file(at: index).marked(isSettled: kinds[index] == .settledAsWanted),
                inode: values[index])
        case .other: others[Int(values[index])]
        }
    }

    func path(_ index: Int) -> RelativePath { entries.path(at: index) }

    /// The entries that were not staged as wanted, with their outcomes.
    var deviations: some Sequence<(path: RelativePath, outcome: Stage.Outcome)> {
        indices.lazy.filter { kinds[$0] == .other }.map { (path($0), others[Int(values[$0])]) }
    }

    /// - Parameter isAsWanted: see `Stage.Outcome.isStaged`.
    mutating func set(_ index: Int, _ outcome: Stage.Outcome, isAsWanted: Bool) {
        if isAsWanted, case .staged(let file, let inode) = outcome {
            (kinds[index], values[index]) = (file.isSettled ? .settledAsWanted : .asWanted, inode)
        } else {
            (kinds[index], values[index]) = (.other, UInt64(others.count))
            others.append(outcome)
        }
    }
}

extension Stage.Outcome {
    /// The entry's own file was staged, and nothing of it is missing.
    func isStaged(as file: File) -> Bool {
        guard case .staged(let staged, _) = self else { return false }
        return staged.marked(isSettled: file.isSettled) == file && staged.omitted.isEmpty && !staged.isGrowing
    }
}
