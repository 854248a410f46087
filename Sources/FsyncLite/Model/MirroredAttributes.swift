import FileSystem

/// What of a file is mirrored besides its content, kind, mode and modification time. All of it, unless somebody
/// says otherwise.
public struct MirroredAttributes: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Owner and group, by number; only root sets them.
    public static let owner = MirroredAttributes(rawValue: 1)
    /// Extended attributes: `user`, and for root also `trusted` and `security`.
    public static let xattrs = MirroredAttributes(rawValue: 2)
    /// POSIX ACLs, those for access and the defaults of directories.
    public static let acls = MirroredAttributes(rawValue: 4)
    /// Which names are names of one file.
    public static let hardLinks = MirroredAttributes(rawValue: 8)
    /// Holes in files.
    public static let holes = MirroredAttributes(rawValue: 16)

    public static let all: MirroredAttributes = [.owner, .xattrs, .acls, .hardLinks, .holes]

    /// The names in every JSON document.
    static let names: [(MirroredAttributes, String)] = [
        (.owner, "owner"), (.xattrs, "xattrs"), (.acls, "acls"), (.hardLinks, "hard_links"),
        (.holes, "holes"),
    ]

    static func named(_ name: String) -> MirroredAttributes? { names.first { $0.1 == name }?.0 }

    /// The names of those that are not among them.
    var missingNames: [String] { MirroredAttributes.names.filter { !contains($0.0) }.map(\.1) }

    /// What a target can fail to hold of them.
    var omittable: Omissions {
        let parts: [(MirroredAttributes, Omissions)] = [
            (.owner, .owner), (.xattrs, .xattrs), (.acls, .acls), (.hardLinks, .links),
        ]
        return parts.reduce(Omissions.all) { contains($1.0) ? $0 : $0.subtracting($1.1) }
    }

    /// As the file system's calls want it.
    var extended: ExtendedAttributes.Selection {
        ExtendedAttributes.Selection(
            plain: contains(.xattrs), acls: contains(.acls), privileged: Account.isRoot)
    }
}
