import FileSystem

/// A `FileStatus` in 64 bytes, half its size.
struct PackedStatus: BitwiseCopyable {
    private var inode: UInt64
    private var size: Int64
    private var allocated: Int64
    /// Seconds since 1970 in 34 bits, signed, and nanoseconds in 30; in `created`, 0 means none.
    private var modified: UInt64
    private var changed: UInt64
    private var created: UInt64
    private var owner: UInt32
    private var group: UInt32
    /// Number of links in 32 bits, permissions in 12, type in 3, then the flags.
    private var bits: UInt64

    /// A placeholder, if the status is stored elsewhere.
    static let empty = PackedStatus()

    private init() {
        (inode, size, allocated, modified, changed, created, owner, group, bits) = (0, 0, 0, 0, 0, 0, 0, 0, 0)
    }

    /// nil for a time outside 1697 to 2242, and for a device node.
    ///
    /// - Parameter device: the index of the device in a table of 2,048.
    init?(_ status: FileStatus, device: UInt64) {
        guard let modified = PackedStatus.pack(status.modified),
            let changed = PackedStatus.pack(status.changed),
            let created = status.created.map(PackedStatus.pack) ?? 0, created != 0 || status.created == nil,
            status.represents == DeviceNumber(major: 0, minor: 0)
        else { return nil }
        (inode, size, allocated) = (status.inode, status.size, status.allocated)
        (self.modified, self.changed, self.created) = (modified, changed, created)
        (owner, group) = (status.owner, status.group)
        bits =
            UInt64(status.links) | UInt64(status.permissions & 0o7777) << 32
            | UInt64(status.type.rawValue) << 44 | device << 53
        if status.isMountRoot { bits |= 1 << 47 }
        if status.isImmutable { bits |= 1 << 48 }
        if status.isAppendOnly { bits |= 1 << 49 }
        if status.isEncrypted { bits |= 1 << 50 }
    }

    var device: UInt64 { bits >> 53 }

    func unpacked(_ device: DeviceNumber) -> FileStatus {
        var status = FileStatus(
            type: FileType(rawValue: UInt8(bits >> 44 & 7)) ?? .file, modified: PackedStatus.unpack(modified))
        (status.inode, status.size, status.allocated) = (inode, size, allocated)
        status.changed = PackedStatus.unpack(changed)
        if created != 0 { status.created = PackedStatus.unpack(created) }
        (status.owner, status.group, status.device) = (owner, group, device)
        status.links = UInt32(truncatingIfNeeded: bits)
        status.permissions = UInt16(bits >> 32 & 0o7777)
        status.isMountRoot = bits & 1 << 47 != 0
        status.isImmutable = bits & 1 << 48 != 0
        status.isAppendOnly = bits & 1 << 49 != 0
        status.isEncrypted = bits & 1 << 50 != 0
        return status
    }

    private static func pack(_ time: FileTime) -> UInt64? {
        guard (-(1 << 33)..<1 << 33).contains(time.seconds) else { return nil }
        return UInt64(bitPattern: time.seconds) << 30 | UInt64(time.nanoseconds)
    }

    private static func unpack(_ time: UInt64) -> FileTime {
        FileTime(seconds: Int64(bitPattern: time) >> 30, nanoseconds: Int32(time & ((1 << 30) - 1)))
    }
}
