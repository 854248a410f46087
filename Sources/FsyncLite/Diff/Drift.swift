import FileSystem

/// An entry of the target that is not as the last apply left it.
package struct Drift: Hashable, Sendable {
    /// As it was left; nil for what somebody brought.
    package let recorded: File?
    /// As it was found; nil for what somebody took away.
    package let found: File?
    /// The content is what it was, as far as inode, size and time tell.
    package let isIntact: Bool

    init(recorded: File) {
        (self.recorded, found, isIntact) = (recorded, nil, false)
    }

    init(found: File) {
        (recorded, self.found, isIntact) = (nil, found, false)
    }

    init(recorded: File, _ record: Record, found: File) {
        (self.recorded, self.found) = (recorded, found)
        let (old, new) = (record.status, found.status)
        isIntact =
            old.type == new.type
            && (old.type != .file
                || (record.targetInode == new.inode && old.size == new.size && old.modified == new.modified))
    }
}
