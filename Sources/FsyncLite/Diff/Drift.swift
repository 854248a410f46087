import FileSystem

/// An entry of the target that is not as the last apply left it.
package struct Drift: Hashable, Sendable {
    /// As the last apply left it; nil for a new entry.
    package let recorded: File?
    /// As it was found; nil for a missing entry.
    package let found: File?
    /// The content is unchanged, by inode, size and modification time.
    package let isIntact: Bool
    /// It was uncovered when it was recorded.
    let wasUncovered: Bool
    /// The inode of the object that the last apply left; 0 where it is unknown, or of a new entry.
    let inode: UInt64

    init(recorded: File, _ base: BaseEntry) {
        (self.recorded, found, isIntact, wasUncovered) = (recorded, nil, false, base.isUncovered)
        inode = base.known.targetInode
    }

    init(found: File) {
        (recorded, self.found, isIntact, wasUncovered, inode) = (nil, found, false, false, 0)
    }

    init(recorded: File, _ base: BaseEntry, found: File) {
        (self.recorded, self.found, wasUncovered) = (recorded, found, base.isUncovered)
        inode = base.known.targetInode
        isIntact = found.isFile ? base.known.isIntact(in: found.status) : recorded.kind == found.kind
    }
}
