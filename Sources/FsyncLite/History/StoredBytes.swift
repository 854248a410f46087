import FileSystem

/// Adds up the content that is removed with some names. A file is counted once, and only if all its names are removed.
struct StoredBytes {
    /// The old tree of an exchange may have other names, which are removed too.
    private let hasOldTrees: Bool
    private var names: [UInt64: UInt32] = [:]
    private(set) var total: ByteCount = 0

    init(hasOldTrees: Bool) { self.hasOldTrees = hasOldTrees }

    mutating func add(_ status: FileStatus) {
        guard status.type == .file else { return }
        guard status.links > 1 else {
            total += status.size
            return
        }
        let count = names[status.inode, default: 0] + 1
        names[status.inode] = count
        if count == (hasOldTrees ? 1 : status.links) { total += status.size }
    }
}
