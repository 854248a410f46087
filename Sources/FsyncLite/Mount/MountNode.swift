import FileSystem

/// A node of the mounted file system. Its number is computed, so no node is remembered. The upper 24 bits are the
/// snapshot's number. Of the lower 40, the first marks links, and the second objects with extended attributes.
enum MountNode: Hashable, Sendable {
    /// The mount itself, and the directory `ids` in it.
    case root, ids
    /// The directory of a snapshot.
    case date(UInt64)
    /// A symlink to it.
    case link(UInt64, Link)
    /// `ls -l` asks for extended attributes of each file, and mostly no list has to be read for the answer.
    case object(UInt64, UInt64, hasExtended: Bool)

    enum Link: UInt64, Sendable {
        case latest = 1
        case label
        /// In `ids`.
        case id, labelAmongIDs

        /// The path from the link to the directory of the snapshots.
        var above: String { self == .id || self == .labelAmongIDs ? "../" : "" }
    }

    private static let shift: UInt64 = 40
    private static let isLink: UInt64 = 1 << 39
    private static let hasExtended: UInt64 = 1 << 38

    init?(_ number: UInt64) {
        let (slot, rest) = (number >> MountNode.shift, number & (1 << MountNode.shift - 1))
        switch (slot, rest) {
        case (0, 1): self = .root
        case (0, 3): self = .ids
        case (0, _): return nil
        case (_, 0): self = .date(slot)
        case (_, _) where rest & MountNode.isLink != 0:
            guard let link = Link(rawValue: rest & ~MountNode.isLink) else { return nil }
            self = .link(slot, link)
        default:
            let mark = MountNode.hasExtended
            self = .object(slot, rest & ~mark, hasExtended: rest & mark != 0)
        }
    }

    /// The largest number of an object that fits in a node.
    static let largestObject = hasExtended - 1

    var number: UInt64 {
        switch self {
        case .root: 1
        case .ids: 3
        case .date(let slot): slot << MountNode.shift
        case .link(let slot, let link): slot << MountNode.shift | MountNode.isLink | link.rawValue
        case .object(let slot, let object, let hasExtended):
            slot << MountNode.shift | object | (hasExtended ? MountNode.hasExtended : 0)
        }
    }
}
