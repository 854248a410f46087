/// Staged files that wait for their lines in the log: twelve bytes for one whose source is as the scan saw it.
struct NotedFiles: LogBatch, Sendable {
    enum Element {
        /// The number of a staged entry, and the inode of its file in the stage.
        case entry(Int, stagedInode: UInt64)
        case other(StagedFile)
    }

    private struct Item {
        let index, high, low: UInt32
    }

    private var items: [Item] = []
    private(set) var others = PackedList<StagedFileCoding>()

    var isEmpty: Bool { items.isEmpty && others.isEmpty }

    mutating func append(_ element: Element) {
        switch element {
        case .entry(let index, let inode):
            items.append(
                Item(
                    index: UInt32(index), high: UInt32(inode >> 32),
                    low: UInt32(truncatingIfNeeded: inode)))
        case .other(let file): others.append(file)
        }
    }

    /// The entries, with the inodes of their files in the stage.
    var entries: some Sequence<(index: Int, stagedInode: UInt64)> {
        items.lazy.map { (Int($0.index), UInt64($0.high) << 32 | UInt64($0.low)) }
    }
}
