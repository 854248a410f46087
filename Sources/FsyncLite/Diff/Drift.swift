import FileSystem

/// An entry of the target that is not as the last apply left it.
package struct Drift: Hashable, Sendable {
    /// As it was left; nil for what somebody brought.
    package let recorded: File?
    /// As it was found; nil for what somebody took away.
    package let found: File?
    /// The content is what it was, as far as inode, size and time tell.
    package let isIntact: Bool
    /// It took no part when it was left.
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
