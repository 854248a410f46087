import FileSystem

/// A status in 72 bytes instead of 112.
struct PackedStatus: Hashable, Sendable {
    private var inode: UInt64
    let size: ByteCount
    private var allocated: ByteCount
    /// Seconds since 1970 in 34 bits, signed, and nanoseconds in 30; of `created`, 0 stands for none.
    private var modified: UInt64
    private var changed: UInt64
    private var created: UInt64
    private var owner: UInt32
    private var group: UInt32
    private var device: DeviceNumber
    /// Number of links in 32 bits, permissions in 12, type in 3, then the flags.
    private var bits: UInt64

    /// Type, size and links are right in any case.
    ///
    /// - Returns: whether `unpacked` gives the status; not for times outside 1697 to 2242 and for device nodes.
    static func pack(_ status: FileStatus) -> (packed: PackedStatus, isExact: Bool) {
        let (modified, changed) = (PackedStatus.pack(status.modified), PackedStatus.pack(status.changed))
        let created = status.created.map(PackedStatus.pack) ?? 0
        let isExact =
            modified != nil && changed != nil && created != nil && (created != 0 || status.created == nil)
            && status.represents == DeviceNumber(major: 0, minor: 0)
        return (PackedStatus(status, modified ?? 0, changed ?? 0, created ?? 0), isExact)
    }

    private init(_ status: FileStatus, _ modified: UInt64, _ changed: UInt64, _ created: UInt64) {
        (inode, size, allocated) = (status.inode, status.size, status.allocated)
        (self.modified, self.changed, self.created) = (modified, changed, created)
        (owner, group, device) = (status.owner, status.group, status.device)
        bits =
            UInt64(status.links) | UInt64(status.permissions & 0o7777) << 32
            | UInt64(status.type.rawValue) << 44
        if status.isMountRoot { bits |= 1 << 47 }
        if status.isImmutable { bits |= 1 << 48 }
        if status.isAppendOnly { bits |= 1 << 49 }
        if status.isEncrypted { bits |= 1 << 50 }
    }

    var type: FileType { FileType(rawValue: UInt8(truncatingIfNeeded: bits >> 44 & 7)) ?? .file }
    var links: UInt32 { UInt32(truncatingIfNeeded: bits) }

    var unpacked: FileStatus {
        var status = FileStatus(type: type, modified: PackedStatus.unpack(modified))
        (status.inode, status.size, status.allocated) = (inode, size, allocated)
        status.changed = PackedStatus.unpack(changed)
        if created != 0 { status.created = PackedStatus.unpack(created) }
        (status.owner, status.group, status.device) = (owner, group, device)
        status.links = links
        status.permissions = UInt16(truncatingIfNeeded: bits >> 32 & 0o7777)
        status.isMountRoot = bits & 1 << 47 != 0
        status.isImmutable = bits & 1 << 48 != 0
        status.isAppendOnly = bits & 1 << 49 != 0
        status.isEncrypted = bits & 1 << 50 != 0
        return status
    }

    /// nil where it has no room.
    static func pack(_ time: FileTime) -> UInt64? {
        guard (-1 << 33..<1 << 33).contains(time.rawSeconds), (0..<1 << 30).contains(time.nanoseconds) else {
            return nil
        }
        return UInt64(bitPattern: time.rawSeconds) << 30 | UInt64(time.nanoseconds)
    }

    static func unpack(_ time: UInt64) -> FileTime {
        FileTime(seconds: Int64(bitPattern: time) >> 30, nanoseconds: Int32(time & ((1 << 30) - 1)))
    }
}
