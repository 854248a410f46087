import FileSystem

/// An entry of the target that is not as the last apply left it.
package struct Drift: Hashable, Sendable {
    /// As the last apply left it; nil for a new entry.
    package let recorded: File?
    /// As it was found; nil for a missing entry.
    package let found: File?
    /// It was uncovered when it was recorded.
    let wasUncovered: Bool
    /// The inode of the object that the last apply left; 0 where it is unknown, or of a new entry.
    let inode: UInt64

    init(recorded: File? = nil, _ base: BaseEntry? = nil, found: File? = nil) {
        (self.recorded, self.found) = (recorded, found)
        (wasUncovered, inode) = (base?.isUncovered ?? false, base?.known.targetInode ?? 0)
    }
}
