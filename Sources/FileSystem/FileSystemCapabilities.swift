/// The abilities of a target's file system, and the limits of its content.
///
/// They follow from its kind, which shows what no probe can find. A probe tries the rest. The initial values are those
/// of a file system that keeps every promise of a commit.
public struct FileSystemCapabilities: Hashable, Sendable {
    /// `ext4`, `exfat`, `ntfs-3g`, `sshfs`, `nfs4` and so on.
    public var name: String
    /// Whether renames, inode numbers and syncs keep the promise of all or nothing.
    public var isComplete = true

    // MARK: By kind

    /// Inode numbers last over remounts, and all names of a file have the same one.
    public var keepsInodes = true
    /// The change time is a time of its own, and not the modification time.
    public var keepsChangeTimes = true
    /// One call makes everything durable that was written.
    public var syncsAsAWhole = true
    /// It may be mounted on several machines at a time.
    public var isShared = false
    /// The owner and permissions that it shows are those of the mount.
    public var showsMountOwner = false
    /// The modification times that a disk can store, in seconds. A server in user space may show other times until it
    /// is mounted again.
    public var times = Int64.min...Int64.max

    // MARK: By probing

    /// Two names can be exchanged in one step.
    public var exchangesNames = true
    /// A rename can refuse to replace an object that has the new name.
    public var refusesToReplace = true
    /// The error of a sync of a directory; nil if it works.
    public var directorySyncFailure: Errno?
    public var stored = Features.all
    /// The smallest difference of two modification times, in nanoseconds.
    public var timeStep: Int64 = 1
    public var names = NameRules()

    /// The properties and types that entries can have.
    public struct Features: OptionSet, Hashable, Sendable {
        public let rawValue: UInt16
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        public static let owners = Features(rawValue: 1)
        public static let permissions = Features(rawValue: 2)
        public static let xattrs = Features(rawValue: 4)
        public static let acls = Features(rawValue: 8)
        public static let hardLinks = Features(rawValue: 16)
        public static let symlinks = Features(rawValue: 32)
        public static let fifos = Features(rawValue: 64)
        public static let devices = Features(rawValue: 128)

        /// The owner and time of a symlink itself, and not of its destination.
        public static let symlinkAttributes = Features(rawValue: 256)

        /// Symlinks with an absolute destination, or one that leads upward.
        public static let outwardSymlinks = Features(rawValue: 512)
        /// Extended attributes of `trusted` and `security`, which only root can set.
        public static let privilegedXattrs = Features(rawValue: 1024)

        public static let all = Features(rawValue: 2047)

        /// The features in words, in the order of lists.
        static let words: [(Features, String)] = [
            (.owners, "owners"), (.permissions, "permissions"), (.xattrs, "extended attributes"),
            (.privilegedXattrs, "extended attributes of root"), (.acls, "ACLs"), (.hardLinks, "hard links"),
            (.symlinks, "symlinks"), (.fifos, "FIFOs"),
            (.devices, "devices"), (.symlinkAttributes, "attributes of symlinks"),
            (.outwardSymlinks, "symlinks to /… and ../…"),
        ]

        /// The features in words, without those that another one implies.
        public var words: [String] {
            var rest = self
            if contains(.xattrs) { rest.remove(.privilegedXattrs) }
            if contains(.symlinks) { rest.subtract([.symlinkAttributes, .outwardSymlinks]) }
            return Features.words.filter { rest.contains($0.0) }.map(\.1)
        }
    }

    /// The names that a directory accepts.
    public struct NameRules: Hashable, Sendable {
        /// Bytes that no name may have.
        public var forbidden: Set<UInt8> = []
        /// Bytes that no name may end with.
        public var forbiddenAtEnd: Set<UInt8> = []
        public var mustBeUTF8 = false
        /// `CON`, `NUL` and other names of devices are reserved.
        public var reservesDeviceNames = false
        /// The longest name in bytes.
        public var longest = 255
        /// Two names that differ only in case are the same name.
        public var foldsCase = false
        /// Two Unicode forms of a name are the same name.
        public var foldsForms = false

        public init() {}
    }

    public init(name: String) { self.name = name }
}

extension FileSystemCapabilities.NameRules {
    private static let deviceNames = Set(
        ["CON", "PRN", "AUX", "NUL"] + (1...9).flatMap { ["COM\($0)", "LPT\($0)"] })

    /// The reason why an entry cannot have this name; nil if it can.
    public func fault(of name: some Collection<UInt8>) -> String? {
        if name.count > longest { return "takes no name of more than \(longest) bytes" }
        if !forbidden.isEmpty, let byte = name.first(where: forbidden.contains) {
            return "takes no name with \(escapedText([UInt8(ascii: "'"), byte, UInt8(ascii: "'")]))"
        }
        if !forbiddenAtEnd.isEmpty, let last = name.suffix(1).first, forbiddenAtEnd.contains(last) {
            return "takes no name that ends with a \(last == UInt8(ascii: ".") ? "dot" : "space")"
        }
        if mustBeUTF8, String(validating: Array(name), as: UTF8.self) == nil {
            return "takes only names in UTF-8"
        }
        if reservesDeviceNames {
            let stem = String(decoding: name.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self).uppercased()
            if Self.deviceNames.contains(stem) { return "keeps the name \(stem) for a device" }
        }
        return nil
    }
}

extension FileSystemCapabilities {
    /// In words: the features that a commit needs and this file system lacks. Empty for a complete file system.
    public var lacks: [String] {
        guard !isComplete else { return [] }
        let parts: [(Bool, String)] = [
            (exchangesNames, "an exchange of two names"),
            (refusesToReplace, "renames that replace nothing"),
            (keepsInodes, "inode numbers that last"),
            (syncsAsAWhole, "a sync of the whole"),
            (name != "overlay", "directories of lower layers that can be renamed"),
        ]
        return parts.filter { !$0.0 }.map(\.1)
    }

    /// File systems whose renames, inode numbers and syncs keep the commit's promises. For the last three, the probe
    /// before the stage must agree.
    private static let complete: Set = ["ext4", "xfs", "btrfs", "tmpfs", "zfs", "f2fs", "bcachefs"]
    /// Incomplete kinds whose inode numbers survive a remount.
    private static let withInodes: Set = [
        "overlay", "nfs", "nfs4", "ceph", "lustre", "ntfs-3g", "ntfs", "ntfs3",
    ]
    private static let withChangeTimes: Set = ["overlay", "nfs", "nfs4", "ceph"]
    /// File systems in the kernel on a block device, for which `syncfs` reaches the disk.
    private static let withSync: Set = ["overlay", "vfat", "msdos", "exfat", "ntfs", "ntfs3"]
    private static let withOneMachine: Set = [
        "overlay", "exfat", "vfat", "msdos", "ntfs-3g", "ntfs", "ntfs3", "fuseblk",
    ]
    private static let withMountOwner: Set = [
        "exfat", "vfat", "msdos", "ntfs-3g", "ntfs", "ntfs3", "cifs", "smb3", "9p", "fuseblk",
    ]

    private static let ofNTFS: Set = ["ntfs-3g", "ntfs", "ntfs3"]
    private static let ofDOS: Set = ["exfat", "vfat", "msdos"]
    /// From 1980 to 2107 in local time, with a day less at each end.
    private static let timesOfDOS: ClosedRange<Int64> = 315_619_200...4_354_732_800

    /// The nearest time that a disk can store.
    func nearestStorable(_ time: FileTime) -> FileTime {
        times.contains(time.rawSeconds)
            ? time
            : FileTime(seconds: min(max(time.rawSeconds, times.lowerBound), times.upperBound), nanoseconds: 0)
    }

    /// The known properties of a directory's file system, without a probe.
    public init(of directory: Directory) throws(SystemError) {
        let magic = try FileSystemInfo(of: directory).name
        self.init(name: magic)
        guard !FileSystemCapabilities.complete.contains(magic) else { return }
        let kind = try directory.mountKind()
        let isInFUSE = magic == "fuse"
        name = kind
        isComplete = false
        keepsInodes = FileSystemCapabilities.withInodes.contains(kind)
        keepsChangeTimes = FileSystemCapabilities.withChangeTimes.contains(kind)
        syncsAsAWhole = !isInFUSE && FileSystemCapabilities.withSync.contains(kind)
        isShared = !FileSystemCapabilities.withOneMachine.contains(kind)
        showsMountOwner = FileSystemCapabilities.withMountOwner.contains(kind)
        exchangesNames = kind == "overlay"
        refusesToReplace = ["overlay", "cifs", "smb3"].contains(kind) || (syncsAsAWhole && !isInFUSE)
        if !keepsInodes { stored.remove(.hardLinks) }
        if FileSystemCapabilities.ofDOS.contains(kind) {
            // Includes the properties that a probe would find, because a read-only disk cannot be probed.
            (times, stored, timeStep) = (FileSystemCapabilities.timesOfDOS, [], 2_000_000_000)
        }
        if FileSystemCapabilities.ofNTFS.contains(kind) { timeStep = 100 }
        if kind == "sshfs" {
            // Its protocol follows symlinks and has whole seconds.
            stored.subtract([.symlinkAttributes, .outwardSymlinks])
            timeStep = 1_000_000_000
        }
    }
}

extension Directory {
    /// The kind of the file system, as `mount(8)` names it. For one in user space, this is the kind of its content:
    /// `exfat`, `ntfs-3g`, `sshfs`.
    func mountKind() throws(SystemError) -> String {
        guard let mount = try mountEntry() else { return try FileSystemInfo(of: self).name }
        if mount.type == "fuseblk" {
            if let kind = Directory.kind(ofDevice: mount.source) { return kind }
            if let kind = try recordedKind() { return kind }
            return mount.type
        }
        return mount.type.hasPrefix("fuse.") ? String(mount.type.dropFirst(5)) : mount.type
    }

    /// A name for the file system that is mounted here, the same after each boot. Nil if no person mounts this kind.
    /// The name of a device is not used, because it may differ next time.
    public func lastingFileSystem() throws(SystemError) -> String? {
        let name = try FileSystemInfo(of: self).name
        // A tmpfs gets a new number with each mount.
        if name != "tmpfs", let uuid = try fileSystemUUID() { return "\(name) \(uuid)" }
        guard let mount = try mountEntry(), !Directory.passing.contains(mount.type) else { return nil }
        return mount.source.hasPrefix("/dev/") ? mount.type : "\(mount.type) \(mount.source)"
    }

    /// File systems that the kernel and other programs mount and unmount by themselves.
    private static let passing: Set = [
        "autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "devtmpfs",
        "efivarfs", "fusectl", "fuse.gvfsd-fuse", "fuse.portal", "hugetlbfs", "mqueue", "nsfs", "overlay",
        "proc",
        "pstore", "ramfs", "securityfs", "squashfs", "sysfs", "tracefs",
    ]

    /// The mount point of this directory's mount, from the kernel's list; nil if it is not in the list.
    public func mountPoint() throws(SystemError) -> String? { try mountEntry()?.point }

    /// The entry of this directory's mount in the kernel's list.
    private func mountEntry() throws(SystemError) -> (type: String, source: String, point: String)? {
        let number = "\(try mountNumber())"
        for fields in try Directory.mountList() {
            guard fields.first.map(String.init) == number, let dash = fields.firstIndex(of: "-"),
                dash + 2 < fields.endIndex
            else { continue }
            return (String(fields[dash + 1]), String(fields[dash + 2]), String(fields[4]))
        }
        return nil
    }

    /// The kind that udev found on this directory's device, in a line like `E:ID_FS_TYPE=ntfs`; nil without udev. Only
    /// root may read the device itself.
    private func recordedKind() throws(SystemError) -> String? {
        let device = try trueStatus().device
        guard let record = try? HostFile.text("/run/udev/data/b\(device.major):\(device.minor)") else {
            return nil
        }
        let key = "E:ID_FS_TYPE="
        let line = record.split(separator: "\n").first { $0.hasPrefix(key) }
        return line.map { $0.dropFirst(key.count) }.map { $0 == "ntfs" ? "ntfs-3g" : String($0) }
    }

    /// The kind of file system on a device, from its first block; nil if it cannot be read, or if the kind is unknown.
    private static func kind(ofDevice path: String) -> String? {
        guard let slash = path.lastIndex(of: "/"),
            let name = FileName(path[path.index(after: slash)...].utf8),
            let directory = try? Directory.open(path: Array(path[..<slash].utf8)),
            let device = try? directory.open(name, [.read, .nonBlocking])
        else { return nil }
        let start = try? [UInt8](upTo: 16) { (buffer) throws(Errno) in try device.read(into: buffer) }
        guard let start, start.count >= 11 else { return nil }
        switch String(decoding: start[3..<11], as: UTF8.self) {
        case "EXFAT   ": return "exfat"
        case "NTFS    ": return "ntfs-3g"
        default: return nil
        }
    }
}
