/// Why an action is in a plan: a closed list, written in plans and reports.
public struct Causes: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Only the source has it.
    public static let new = Causes(rawValue: 1 << 0)
    /// Only the target has it.
    public static let removed = Causes(rawValue: 1 << 1)
    /// The same object, by inode and birth time, has another path in the source.
    public static let renamed = Causes(rawValue: 1 << 2)
    /// Another file type.
    public static let type = Causes(rawValue: 1 << 3)
    public static let size = Causes(rawValue: 1 << 4)
    /// The modification time.
    public static let modified = Causes(rawValue: 1 << 5)
    /// The bytes, although size and modification time are equal.
    public static let content = Causes(rawValue: 1 << 6)
    /// The target of a symlink.
    public static let destination = Causes(rawValue: 1 << 7)
    /// The device number of a device node.
    public static let device = Causes(rawValue: 1 << 8)
    public static let mode = Causes(rawValue: 1 << 9)
    public static let owner = Causes(rawValue: 1 << 10)
    public static let group = Causes(rawValue: 1 << 11)
    /// Extended attributes.
    public static let xattrs = Causes(rawValue: 1 << 12)
    /// POSIX ACLs.
    public static let acls = Causes(rawValue: 1 << 13)
    /// The set of names of the file.
    public static let links = Causes(rawValue: 1 << 14)
    /// The target changed since the last run.
    public static let drift = Causes(rawValue: 1 << 15)

    /// In the order of their bits, which is the order of output.
    static let allNames = [
        "new", "removed", "renamed", "type", "size", "modified", "content", "destination", "device", "mode",
        "owner", "group", "xattrs", "acls", "links", "drift",
    ]

    /// The names in every JSON document and message.
    public var names: [String] {
        Causes.allNames.enumerated().compactMap { rawValue & (1 << $0.offset) == 0 ? nil : $0.element }
    }
}
