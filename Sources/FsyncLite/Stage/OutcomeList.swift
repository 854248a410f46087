import FileSystem

/// The outcomes of staging, by entry; nine bytes for an entry that was staged as wanted.
struct OutcomeList: RandomAccessCollection, Sendable {
    private enum Kind: UInt8 {
        case none, asWanted, other
    }

    private let entries: [OperationGraph.StagedEntry]
    private var kinds: [Kind]
    /// The inode of an entry staged as wanted, or the index of another outcome.
    private var values: [UInt64]
    private var others: [Stage.Outcome] = []

    init(_ entries: [OperationGraph.StagedEntry] = []) {
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
        case .asWanted: .staged(entries[index].file, inode: values[index])
        case .other: others[Int(values[index])]
        }
    }

    func path(_ index: Int) -> RelativePath { entries[index].file.path }

    /// The entry with its outcome, where there is one.
    var done: some Sequence<(path: RelativePath, outcome: Stage.Outcome)> {
        indices.lazy.compactMap { index in self[index].map { (path(index), $0) } }
    }

    /// - Parameter isAsWanted: the outcome is that of the entry's own file, staged.
    mutating func set(_ index: Int, _ outcome: Stage.Outcome, isAsWanted: Bool) {
        if isAsWanted, case .staged(_, let inode) = outcome {
            (kinds[index], values[index]) = (.asWanted, inode)
        } else {
            (kinds[index], values[index]) = (.other, UInt64(others.count))
            others.append(outcome)
        }
    }
}

extension Stage.Outcome {
    func isStaged(as file: File) -> Bool {
        if case .staged(let staged, _) = self { staged == file } else { false }
    }
}
