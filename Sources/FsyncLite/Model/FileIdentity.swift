import FileSystem

/// The identity of an object, independent of its name. It is the inode *and* the birth time, because file systems reuse
/// the number of a deleted file at once. The device is not included, because its number may change at reboot.
public struct FileIdentity: Hashable, Sendable {
    public var inode: UInt64
    /// nil if the file system does not record it. Then the object is never followed to another name.
    public var created: Timestamp?

    public init(inode: UInt64, created: Timestamp?) {
        self.inode = inode
        self.created = created
    }

    /// The identity of an object from its number, for comparisons of lists.
    init(ofObject number: UInt64) {
        self.init(inode: number, created: Timestamp(FileTime(seconds: 0, nanoseconds: 0)))
    }
}

extension FileStatus {
    /// It has several names.
    var isMultiplyLinked: Bool { type != .directory && links > 1 }

    package var identity: FileIdentity {
        FileIdentity(inode: inode, created: created.map(Timestamp.init))
    }

    /// The same status with the identity of another object.
    func with(_ identity: FileIdentity) -> FileStatus {
        var status = self
        (status.inode, status.created) = (identity.inode, identity.created?.fileTime)
        return status
    }
}
