import FileSystem

/// A node of the mounted file system. Its number is computed, so no node is remembered. The upper 24 bits are the
/// snapshot's number, the lower 40 the object's.
enum MountNode: Hashable, Sendable {
    /// The mount itself, and the directory `ids` in it.
    case root, ids
    /// The directory of a snapshot.
    case date(UInt64)
    /// A symlink to it.
    case link(UInt64, Link)
    case object(UInt64, UInt64)

    enum Link: UInt64, Sendable {
        case latest = 1
        case label, id
    }

    private static let shift: UInt64 = 40
    private static let isLink: UInt64 = 1 << 39

    init?(_ number: UInt64) {
        let (slot, rest) = (number >> MountNode.shift, number & (1 << MountNode.shift - 1))
        switch (slot, rest) {
        case (0, 1): self = .root
        case (0, 2): self = .ids
        case (0, _): return nil
        case (_, 0): self = .date(slot)
        case (_, _) where rest & MountNode.isLink != 0:
            guard let link = Link(rawValue: rest & ~MountNode.isLink) else { return nil }
            self = .link(slot, link)
        default: self = .object(slot, rest)
        }
    }

    /// The largest number of an object that fits in a node.
    static let largestObject = isLink - 1

    var number: UInt64 {
        switch self {
        case .root: 1
        case .ids: 2
        case .date(let slot): slot << MountNode.shift
        case .link(let slot, let link): slot << MountNode.shift | MountNode.isLink | link.rawValue
        case .object(let slot, let object): slot << MountNode.shift | object
        }
    }
}
