import Glibc

/// The type of an object.
public enum FileType: UInt8, Sendable, Hashable, CaseIterable {
    case file, directory, symlink, fifo, characterDevice, blockDevice, socket
}

/// A device number, as in `mknod` and `stat`.
public struct DeviceNumber: Hashable, Sendable {
    public var major: UInt32
    public var minor: UInt32

    public init(major: UInt32, minor: UInt32) {
        self.major = major
        self.minor = minor
    }
}

/// The `statx` data of one object. A value of fixed size, without allocation.
public struct FileStatus: Sendable, Hashable {
    public var type: FileType
    /// The twelve permission bits, with setuid, setgid and sticky.
    public var permissions: UInt16 = 0
    public var owner: UInt32 = 0
    public var group: UInt32 = 0
    public var links: UInt32 = 1
    public var inode: UInt64 = 0
    /// The file system of the object.
    public var device = DeviceNumber(major: 0, minor: 0)
    /// The bytes of content; for a symlink, the length of its destination.
    public var size: ByteCount = 0
    /// Bytes allocated on disk.
    public var allocated: ByteCount = 0
    public var modified: FileTime
    public var changed = FileTime(seconds: 0, nanoseconds: 0)
    /// The birth time; nil if the file system does not report it or never set it (zero in some images).
    public var created: FileTime?
    /// The device that a device node represents.
    public var represents = DeviceNumber(major: 0, minor: 0)
    public var isMountRoot = false
    public var isImmutable = false
    public var isAppendOnly = false
    public var isEncrypted = false

    public init(type: FileType, modified: FileTime) {
        self.type = type
        self.modified = modified
    }

    public func isSameObject(as other: FileStatus) -> Bool { equals(other, in: .object) }

    /// Whether the owner is the present user.
    public var isOwn: Bool { owner == Account.effectiveUser }

    /// Whether the owner is neither root nor the present user.
    public var isForeign: Bool { ![0, Account.effectiveUser].contains(owner) }

    static let wanted = UInt32(STATX_BASIC_STATS) | UInt32(STATX_BTIME)

    /// nil for an unknown type of object.
    init?(_ raw: borrowing statx) {
        switch UInt32(raw.stx_mode) & S_IFMT {
        case S_IFREG: type = .file
        case S_IFDIR: type = .directory
        case S_IFLNK: type = .symlink
        case S_IFIFO: type = .fifo
        case S_IFCHR: type = .characterDevice
        case S_IFBLK: type = .blockDevice
        case S_IFSOCK: type = .socket
        default: return nil
        }
        permissions = raw.stx_mode & 0o7777
        owner = raw.stx_uid
        group = raw.stx_gid
        links = raw.stx_nlink
        inode = raw.stx_ino
        device = DeviceNumber(major: raw.stx_dev_major, minor: raw.stx_dev_minor)
        size = ByteCount(clamping: raw.stx_size)
        allocated = ByteCount(clamping: raw.stx_blocks) * 512
        modified = FileTime(raw.stx_mtime)
        changed = FileTime(raw.stx_ctime)
        if raw.stx_mask & UInt32(STATX_BTIME) != 0, raw.stx_btime.tv_sec != 0 {
            created = FileTime(raw.stx_btime)
        }
        represents = DeviceNumber(major: raw.stx_rdev_major, minor: raw.stx_rdev_minor)
        isMountRoot = raw.stx_attributes & UInt64(STATX_ATTR_MOUNT_ROOT) != 0
        isImmutable = raw.stx_attributes & UInt64(STATX_ATTR_IMMUTABLE) != 0
        isAppendOnly = raw.stx_attributes & UInt64(STATX_ATTR_APPEND) != 0
        isEncrypted = raw.stx_attributes & UInt64(STATX_ATTR_ENCRYPTED) != 0
    }

    /// The corresponding C function is `statx`. An empty name with `AT_EMPTY_PATH` means the descriptor itself.
    static func of(_ descriptor: Int32, _ name: UnsafePointer<CChar>, _ flags: Int32) throws(Errno)
        -> FileStatus
    {
        var raw = statx()
        _ = try retrying { statx(descriptor, name, flags, wanted, &raw) }
        guard let status = FileStatus(raw) else { throw .notSupported }
        return status
    }

    /// The file system of a name; nil if the name cannot be reached. The kernel does not ask that file system for it.
    static func device(of descriptor: Int32, _ name: UnsafePointer<CChar>) -> DeviceNumber? {
        var raw = statx()
        let flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | Int32(AT_STATX_DONT_SYNC)
        guard statx(descriptor, name, flags, 0, &raw) == 0 else { return nil }
        return DeviceNumber(major: raw.stx_dev_major, minor: raw.stx_dev_minor)
    }
}
