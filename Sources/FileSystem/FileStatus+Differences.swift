extension FileStatus {
    /// The parts in which two statuses differ.
    public struct Differences: OptionSet, Sendable {
        public let rawValue: UInt16

        public init(rawValue: UInt16) { self.rawValue = rawValue }

        public static let type = Differences(rawValue: 1)
        /// Only of files. The size of a directory has no meaning.
        public static let size = Differences(rawValue: 2)
        public static let modified = Differences(rawValue: 4)
        public static let changed = Differences(rawValue: 8)
        public static let permissions = Differences(rawValue: 16)
        public static let owner = Differences(rawValue: 32)
        public static let group = Differences(rawValue: 64)
        public static let inode = Differences(rawValue: 128)
        public static let device = Differences(rawValue: 256)
        public static let created = Differences(rawValue: 512)

        /// The parts that an edit of the content changes, also in a copy.
        public static let content: Differences = [.type, .size, .modified]
        public static let access: Differences = [.permissions, .owner, .group]
        /// The parts that a rename leaves unchanged.
        public static let state: Differences = [.content, .access]
        /// Another object, at the same moment. Without the device, an object would equal its copy in a snapshot.
        public static let object: Differences = [.inode, .device]
        /// Another object, at another moment. File systems use the inode of a deleted file again, and the number of a
        /// device may change at reboot.
        public static let identity: Differences = [.inode, .created]
    }

    public func differences(from other: FileStatus) -> Differences {
        var found: Differences = []
        if type != other.type { found.insert(.type) }
        if size != other.size, type == .file { found.insert(.size) }
        if modified != other.modified { found.insert(.modified) }
        if changed != other.changed { found.insert(.changed) }
        if permissions != other.permissions { found.insert(.permissions) }
        if owner != other.owner { found.insert(.owner) }
        if group != other.group { found.insert(.group) }
        if inode != other.inode { found.insert(.inode) }
        if device != other.device { found.insert(.device) }
        if created != other.created { found.insert(.created) }
        return found
    }

    /// Whether this is the same object, without any change of content or metadata. A change would move the change time.
    public func isUnchanged(since other: FileStatus) -> Bool {
        equals(other, in: [.identity, .content, .changed])
    }

    /// Whether both agree in these parts.
    public func equals(_ other: FileStatus, in parts: Differences) -> Bool {
        differences(from: other).isDisjoint(with: parts)
    }
}
