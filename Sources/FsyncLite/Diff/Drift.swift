import FileSystem

/// An entry of the target that changed since the last run.
package struct Drift: Hashable, Sendable {
    /// As the last run left it; nil for a new entry.
    package let recorded: File?
    /// As it was found; nil for a missing entry.
    package let found: File?
    /// It was uncovered when it was recorded.
    let wasUncovered: Bool
    /// The inode of the object that the last run left; 0 if it is unknown, or for a new entry.
    let inode: UInt64
    /// The source's content was settled when it was recorded.
    let wasSettled: Bool

    init(recorded: File? = nil, _ base: BaseEntry? = nil, found: File? = nil) {
        (self.recorded, self.found) = (recorded, found)
        let known = base?.known
        (wasUncovered, inode) = (known?.isUncovered ?? false, known?.targetInode ?? 0)
        wasSettled = known?.isSettled ?? false
    }
}
