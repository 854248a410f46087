import FileSystem

/// Which object an entry is, whatever its name: the inode *and* the birth time, because file systems give
/// the number of a deleted file to the next one at once. The device is no part of it: its number may change
/// at reboot.
public struct FileIdentity: Hashable, Sendable {
    public var inode: UInt64
    /// nil where the file system does not tell; such an object is never followed across names.
    public var created: Timestamp?

    public init(inode: UInt64, created: Timestamp?) {
        self.inode = inode
        self.created = created
    }
}

// `FileStatus.isSameObject` is about one moment; the questions here are about two.
extension FileStatus {
    package var identity: FileIdentity {
        FileIdentity(inode: inode, created: created.map(Timestamp.init))
    }

    /// The same object, to which nothing was written and about which nothing was changed: that moves its change time.
    func isUnchanged(since other: FileStatus) -> Bool {
        identity == other.identity && size == other.size && modified == other.modified
            && changed == other.changed
    }

    /// The same object in the same state, as far as an apply cares. The change time is left out: a rename moves it.
    ///
    /// - Parameter mayBeCopy: another object will do.
    func isSameState(as other: FileStatus, orCopy mayBeCopy: Bool) -> Bool {
        (mayBeCopy || identity == other.identity) && type == other.type && permissions == other.permissions
            && owner == other.owner && group == other.group && modified == other.modified
            && (type != .file || size == other.size)
    }

    /// The same content, also of another object, as far as size and modification time tell.
    func hasSameContent(as other: FileStatus) -> Bool {
        size == other.size && modified == other.modified
    }
}
