/// Why an action is in a plan: a closed list, as it stands in plans and reports.
public struct Causes: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The source has it and the target does not.
    public static let new = Causes(rawValue: 1 << 0)
    /// The target has it and the source does not.
    public static let removed = Causes(rawValue: 1 << 1)
    /// The same object, by inode and birth time, has another path in the source now.
    public static let renamed = Causes(rawValue: 1 << 2)
    /// It is another kind of thing.
    public static let type = Causes(rawValue: 1 << 3)
    public static let size = Causes(rawValue: 1 << 4)
    /// The modification time.
    public static let modified = Causes(rawValue: 1 << 5)
    /// The bytes, where size and modification time gave no hint.
    public static let content = Causes(rawValue: 1 << 6)
    /// Where a symlink points.
    public static let destination = Causes(rawValue: 1 << 7)
    /// What a device node stands for.
    public static let device = Causes(rawValue: 1 << 8)
    public static let mode = Causes(rawValue: 1 << 9)
    public static let owner = Causes(rawValue: 1 << 10)
    public static let group = Causes(rawValue: 1 << 11)
    /// Extended attributes.
    public static let xattrs = Causes(rawValue: 1 << 12)
    /// POSIX ACLs.
    public static let acls = Causes(rawValue: 1 << 13)
    /// Which other names are names of the same file.
    public static let links = Causes(rawValue: 1 << 14)
    /// Somebody changed the target since the last apply.
    public static let drift = Causes(rawValue: 1 << 15)

    /// By bit, in the order of output.
    static let allNames = [
        "new", "removed", "renamed", "type", "size", "modified", "content", "destination", "device", "mode",
        "owner", "group", "xattrs", "acls", "links", "drift",
    ]

    /// The names in every JSON document and message.
    public var names: [String] {
        Causes.allNames.enumerated().compactMap { rawValue & (1 << $0.offset) == 0 ? nil : $0.element }
    }
}
