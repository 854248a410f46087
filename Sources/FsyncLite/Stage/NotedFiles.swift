/// Staged files that wait for their lines in the log: about four bytes for one whose source is as the scan saw it.
struct NotedFiles: LogBatch, Sendable {
    enum Element {
        /// The number of a staged entry, and the inode of its file in the stage.
        case entry(Int, stagedInode: UInt64)
        case other(StagedFile)
    }

    private typealias Item = (index: Int64, inode: Int64)

    /// The items, each told from the one before it.
    private var numbers = PackedNumbers()
    private var last: Item = (0, 0)
    private(set) var others = PackedList<StagedFileCoding>()

    var isEmpty: Bool { numbers.isEmpty && others.isEmpty }

    mutating func append(_ element: Element) {
        switch element {
        case .entry(let index, let inode):
            let item: Item = (Int64(index), Int64(bitPattern: inode))
            numbers.append(item.index - last.index)
            numbers.append(item.inode &- last.inode)
            last = item
        case .other(let file): others.append(file)
        }
    }

    /// The entries, with the inodes of their files in the stage.
    var entries: some Sequence<(index: Int, stagedInode: UInt64)> {
        var cursor = PackedNumbers.Cursor(numbers)
        var item: Item = (0, 0)
        return AnyIterator<(index: Int, stagedInode: UInt64)> {
            guard let index = cursor.next(), let inode = cursor.next() else { return nil }
            item = (item.index + index, item.inode &+ inode)
            return (Int(item.index), UInt64(bitPattern: item.inode))
        }
    }
}
