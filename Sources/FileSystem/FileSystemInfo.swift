import CLinux
import Glibc

/// The kernel's report about one mounted file system.
public struct FileSystemInfo: Sendable, Equatable {
    /// `ext4`, `xfs` and so on, or the magic number in hexadecimal.
    public var name: String
    /// The file system's number in hexadecimal. On ext4 and btrfs it is derived from the UUID; on some others it is new
    /// at each mount.
    public var identifier: String
    public var blockSize: ByteCount
    /// Bytes that this user can still write.
    public var availableBytes: ByteCount
    /// The bytes to free before ordinary users can write any, because root has used the reserve of ext4. The
    /// kernel does not report the size of the reserve. The default of mke2fs is assumed: a twentieth.
    public var missingReserve: ByteCount = 0
    /// The number of objects that can still be made; nil if there is no limit (btrfs).
    public var availableInodes: Int64?
    public var isReadOnly: Bool

    /// The numbers are those of `statfs(2)`.
    private static let names: [UInt32: String] = [
        0xEF53: "ext4", 0x5846_5342: "xfs", 0x9123_683E: "btrfs", 0x0102_1994: "tmpfs",
        0x2FC1_2FC1: "zfs", 0xF2F5_2010: "f2fs", 0x794C_7630: "overlay", 0x4D44: "vfat",
        0x2011_BAB0: "exfat", 0x6969: "nfs", 0x6573_5546: "fuse", 0xFF53_4D42: "cifs", 0xFE53_4D42: "smb2",
        0x00C3_6400: "ceph", 0x0102_1997: "9p", 0x5346_544E: "ntfs", 0xCA45_1A4E: "bcachefs",
    ]

    /// The most names of a file, if trees reach that number in practice (`EXT4_LINK_MAX`). Other limits are far higher
    /// (xfs) or depend on the length of the names (btrfs).
    public var linkLimit: UInt32? { name == "ext4" ? 65_000 : nil }

    /// The largest file that this process can write here, if that is known.
    public var largestFile: ByteCount {
        let own = ByteCount(clamping: FileDescriptor.sizeLimit)
        return switch name {
        case "ext4": min(own, blockSize * UInt64(UInt32.max))
        case "vfat": min(own, ByteCount(clamping: UInt32.max))
        default: own
        }
    }

    /// Change times come from this kernel's clock.
    public var sharesClock: Bool { FileSystemInfo.local.contains(name) }
    /// Change times and inodes last, and reveal an edit that restores size and modification time. On other file
    /// systems, the change time may be the modification time, and inodes may change at a remount (sshfs, exfat-fuse).
    public var keepsIdentity: Bool { sharesClock || FileSystemInfo.remote.contains(name) }

    /// A change of an entry always moves its change time, and inodes with equal birth times are one object. So one
    /// digest of all entries can represent a directory.
    public var showsChanges: Bool { FileSystemInfo.showingChanges.contains(name) }

    /// A store through a mapping moves the change time, too. On tmpfs it moves none if the page was read first.
    public var showsStores: Bool { showsChanges && name != "tmpfs" }

    static let showingChanges: Set = ["ext4", "xfs", "btrfs", "tmpfs"]
    static func name(_ magic: UInt32) -> String? { names[magic] }

    private static let local: Set = ["ext4", "xfs", "btrfs", "tmpfs", "zfs", "f2fs", "bcachefs", "overlay"]
    private static let remote: Set = ["nfs", "ceph"]
    /// Another machine or process answers each request.
    private static let waiting: Set = ["nfs", "cifs", "smb2", "ceph", "9p", "fuse"]

    /// The number of threads that read the directories of a tree. With four, a flash disk serves four requests at a time.
    /// A rotating disk and a cached tree are not slower than with one.
    public var readers: Int { FileSystemInfo.waiting.contains(name) ? 16 : 4 }

    /// Whether files may share blocks.
    public var mayShareBlocks: Bool { !["ext4", "tmpfs"].contains(name) }

    public init(of directory: Directory) throws(SystemError) {
        var raw = statfs()
        try calling("fstatfs", directory.path) { () throws(Errno) in
            try directory.withRawDescriptor { (descriptor) throws(Errno) in
                _ = try retrying { fstatfs(descriptor, &raw) }
            }
        }
        let magic = UInt32(truncatingIfNeeded: raw.f_type)
        name = FileSystemInfo.name(magic) ?? "0x" + String(magic, radix: 16)
        let (high, low) = raw.f_fsid.__val
        identifier = String(
            UInt64(UInt32(bitPattern: high)) << 32 | UInt64(UInt32(bitPattern: low)), radix: 16)
        blockSize = ByteCount(clamping: raw.f_frsize == 0 ? raw.f_bsize : raw.f_frsize)
        availableBytes = blockSize * raw.f_bavail
        if name == "ext4", Account.isRoot {
            // The reserve is root's, except for the part that ext4 uses for its own metadata
            // (`ext4_calculate_resv_clusters`).
            let own = min(raw.f_blocks / 50, 4096)
            availableBytes = max(availableBytes, blockSize * raw.f_bfree - blockSize * own)
        } else if name == "ext4", raw.f_bavail == 0 {
            missingReserve = blockSize * (raw.f_blocks / 20) - blockSize * raw.f_bfree
        }
        availableInodes = raw.f_files == 0 ? nil : Int64(clamping: raw.f_ffree)
        isReadOnly = raw.f_flags & Int(ST_RDONLY) != 0
    }
}

// MARK: What objects take

extension FileSystemInfo {
    /// The smallest unit of space for a file. File systems of other machines report the size of a transfer instead.
    private var unit: ByteCount {
        FileSystemInfo.waiting.contains(name) ? min(blockSize, 4096) : max(blockSize, 1)
    }

    /// The space of an object beside its content and names, that of a directory, and the shortest symlink with a block.
    private var costs: (object: ByteCount, directory: ByteCount, longSymlink: ByteCount) {
        switch name {
        case "ext4": (0, unit, 60)
        case "tmpfs": (0, 0, 128)
        case "xfs": (512, 0, 300)
        case "btrfs": (1024, 0, .max)
        case "f2fs": (unit, unit, 3000)
        default: (512, unit, 60)
        }
    }

    /// The largest content that btrfs stores in its trees. It is stored there twice.
    private static let mostInline: ByteCount = 2048

    /// The bytes of space that a new object needs here.
    ///
    /// - Parameters:
    ///   - allocated: the bytes that the content uses now. If they are fewer than `size`, it has holes.
    ///   - keepsHoles: if false, holes are written as zeros.
    public func space(
        for type: FileType, size: ByteCount, allocated: ByteCount, keepsHoles: Bool
    ) -> ByteCount {
        switch type {
        case .directory: return costs.object + costs.directory
        case .symlink: return costs.object + (size >= costs.longSymlink ? unit : 0)
        case .file: break
        case .fifo, .characterDevice, .blockDevice, .socket: return costs.object
        }
        if name == "btrfs", size <= FileSystemInfo.mostInline { return costs.object + size * 2 }
        // Some file systems store the content of small files in inodes, and report 0 allocated bytes.
        let content = keepsHoles && allocated < size ? max(allocated, min(size, unit)) : size
        return costs.object + rounded(content)
    }

    private func rounded(_ bytes: ByteCount) -> ByteCount {
        let unit = unit.rawCount
        let rest = bytes.rawCount % unit
        return rest == 0 ? bytes : bytes + ByteCount(clamping: unit &- rest)
    }
}

extension Directory {
    /// Whether files on this directory's device are cloned when they are copied to another directory. Both must be of
    /// one mount, and its file system must let files share blocks (`XFS_FSOP_GEOM_FLAGS_REFLINK`). Nothing is written.
    public func clonesFiles(to other: Directory) throws(SystemError) -> Bool {
        switch try FileSystemInfo(of: other).name {
        case "btrfs", "bcachefs": break
        case "xfs" where other.xfsFeatures & (1 << 20) != 0: break
        default: return false
        }
        guard let own = try fileSystemUUID(), try own == other.fileSystemUUID() else { return false }
        return try mount() == other.mount()
    }
}
