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

    init(recorded: File, wasUncovered: Bool) {
        (self.recorded, found, isIntact, self.wasUncovered) = (recorded, nil, false, wasUncovered)
    }

    init(found: File) {
        (recorded, self.found, isIntact, wasUncovered) = (nil, found, false, false)
    }

    init(recorded: File, _ base: BaseEntry, found: File) {
        (self.recorded, self.found, wasUncovered) = (recorded, found, base.isUncovered)
        isIntact = found.isFile ? base.known.isIntact(in: found.status) : recorded.kind == found.kind
    }
}
