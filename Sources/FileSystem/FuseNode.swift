import CLinux
import Glibc

/// An object of a mounted file system, as the kernel sees it.
public struct FuseNode: Sendable {
    /// Names it in requests, and is its inode number.
    public var id: UInt64
    public var status: FileStatus
    /// How long the kernel may believe it, and its name.
    public var lifetime: Duration

    public init(_ id: UInt64, _ status: FileStatus, lifetime: Duration) {
        (self.id, self.status, self.lifetime) = (id, status, lifetime)
    }

    var seconds: UInt64 { UInt64(lifetime.components.seconds) }
    var nanoseconds: UInt32 { UInt32(lifetime.components.attoseconds / 1_000_000_000) }
}

extension FileType {
    var mode: UInt32 {
        switch self {
        case .file: S_IFREG
        case .directory: S_IFDIR
        case .symlink: S_IFLNK
        case .fifo: S_IFIFO
        case .characterDevice: S_IFCHR
        case .blockDevice: S_IFBLK
        case .socket: S_IFSOCK
        }
    }
}

extension fuse_attributes {
    /// The size of a file that may be shown as one with holes. To look for them in each small file takes time.
    private static let smallestSparse: UInt64 = 1 << 20

    init(_ node: FuseNode) {
        self.init()
        let (status, modified) = (node.status, node.status.modified)
        ino = node.id
        size = UInt64(status.size.rawCount)
        // The lists have no blocks. If there are fewer than the size needs, `cp` looks for holes.
        blocks = size < fuse_attributes.smallestSparse ? (size + 511) / 512 : size / 512 - 1
        (mtime, mtimensec) = (UInt64(bitPattern: modified.rawSeconds), UInt32(modified.nanoseconds))
        (atime, atimensec) = (mtime, mtimensec)
        // The recorded change time is that of the source. It can change without a change of the entry.
        (ctime, ctimensec) = (mtime, mtimensec)
        mode = status.type.mode | UInt32(status.permissions)
        (nlink, uid, gid, blksize) = (status.links, status.owner, status.group, 4096)
        let (major, minor) = (status.represents.major, status.represents.minor)
        rdev = minor & 0xFF | major << 8 | (minor & ~0xFF) << 12
    }
}

extension fuse_entry {
    init(_ node: FuseNode) {
        self.init()
        (nodeid, entry_valid, attr_valid) = (node.id, node.seconds, node.seconds)
        (entry_valid_nsec, attr_valid_nsec) = (node.nanoseconds, node.nanoseconds)
        attr = fuse_attributes(node)
    }
}
