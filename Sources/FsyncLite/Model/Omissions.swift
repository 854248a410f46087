/// Attributes of a source's entry that its mirror lacks, because the target's file system or the present user cannot
/// set them. They are listed once. While neither side changes, they are no difference.
package struct Omissions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let modified = Omissions(rawValue: 1)
    package static let mode = Omissions(rawValue: 2)
    package static let owner = Omissions(rawValue: 4)
    package static let xattrs = Omissions(rawValue: 8)
    package static let acls = Omissions(rawValue: 16)
    /// It is a separate file, because its object has the maximum number of names.
    package static let links = Omissions(rawValue: 32)

    /// The source's extended attributes and ACLs could not be read. No manifest has this: the next run tries again.
    package static let unread = Omissions(rawValue: 64)

    /// The content of an object in the history was removed on demand. Only lists have this.
    package static let purged = Omissions(rawValue: 128)

    static let all: Omissions = [.modified, .mode, .owner, .xattrs, .acls, .links]

    /// The names in JSON documents and messages.
    package static let names: [(Omissions, String)] = [
        (.modified, "modified"), (.mode, "mode"), (.owner, "owner"), (.xattrs, "xattrs"), (.acls, "acls"),
        (.links, "links"), (.purged, "purged"),
    ]
}
