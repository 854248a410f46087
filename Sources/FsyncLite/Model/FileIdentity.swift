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

extension FileStatus {
    package var identity: FileIdentity {
        FileIdentity(inode: inode, created: created.map(Timestamp.init))
    }
}
