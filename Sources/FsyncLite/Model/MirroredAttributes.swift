import FileSystem

/// The attributes of a file that are mirrored besides content, type and modification time. By default, all are.
public struct MirroredAttributes: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Owner and group by number. This needs root.
    public static let owner = MirroredAttributes(rawValue: 1)
    /// Extended attributes: `user`, and for root also `trusted` and `security`.
    public static let xattrs = MirroredAttributes(rawValue: 2)
    /// POSIX ACLs: access ACLs and the default ACLs of directories.
    public static let acls = MirroredAttributes(rawValue: 4)
    /// Hard links.
    public static let hardLinks = MirroredAttributes(rawValue: 8)
    /// Holes in files.
    public static let holes = MirroredAttributes(rawValue: 16)

    /// Permissions. They are left out only if the target's file system has none.
    public static let mode = MirroredAttributes(rawValue: 32)

    /// Owner and time of symlinks. They are left out only if the target's file system cannot set them.
    public static let symlinks = MirroredAttributes(rawValue: 64)

    /// Extended attributes of `trusted` and `security`. They are left out only if the target's file system has none.
    public static let privilegedXattrs = MirroredAttributes(rawValue: 128)

    public static let all: MirroredAttributes = [
        .owner, .xattrs, .acls, .hardLinks, .holes, .mode, .symlinks, .privilegedXattrs,
    ]

    /// The names in JSON documents.
    static let names: [(MirroredAttributes, String)] = [
        (.owner, "owner"), (.xattrs, "xattrs"), (.acls, "acls"), (.hardLinks, "hard_links"),
        (.holes, "holes"), (.mode, "mode"), (.symlinks, "symlink_attributes"),
        (.privilegedXattrs, "root_xattrs"),
    ]

    static func named(_ name: String) -> MirroredAttributes? { names.first { $0.1 == name }?.0 }

    /// The names of the attributes that are not in the set.
    var missingNames: [String] { MirroredAttributes.names.filter { !contains($0.0) }.map(\.1) }

    /// Those of these attributes that a target may be unable to store.
    var omittable: Omissions {
        let parts: [(MirroredAttributes, Omissions)] = [
            (.owner, .owner), (.xattrs, .xattrs), (.acls, .acls), (.hardLinks, .links), (.mode, .mode),
        ]
        return parts.reduce(Omissions.all) { contains($1.0) ? $0 : $0.subtracting($1.1) }
    }

    /// Those of these attributes that a target's file system can store.
    ///
    /// - Parameter capabilities: nil for a file system that is complete.
    func stored(by capabilities: FileSystemCapabilities?) -> MirroredAttributes {
        guard let capabilities else { return self }
        let parts: [(MirroredAttributes, FileSystemCapabilities.Features)] = [
            (.owner, .owners), (.mode, .permissions), (.xattrs, .xattrs), (.acls, .acls),
            (.hardLinks, .hardLinks), (.symlinks, .symlinkAttributes), (.privilegedXattrs, .privilegedXattrs),
        ]
        return parts.reduce(self) { capabilities.stored.contains($1.1) ? $0 : $0.subtracting($1.0) }
    }

    /// Whether an extended attribute is mirrored. The manifest records the target's values of the other ones.
    func contains(_ attribute: ExtendedAttributes.Attribute) -> Bool {
        guard !attribute.isACL else { return contains(.acls) }
        return contains(.xattrs) && (contains(.privilegedXattrs) || attribute.name.starts(with: "user.".utf8))
    }

    /// The selection for the file system's calls.
    var extended: ExtendedAttributes.Selection {
        ExtendedAttributes.Selection(
            plain: contains(.xattrs), acls: contains(.acls),
            privileged: Account.isRoot && contains(.privilegedXattrs))
    }
}
