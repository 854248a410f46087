import CLinux
import Glibc
import Synchronization

/// An open directory, with all calls on the names in it.
///
/// Each call takes a single validated name and follows no symlink. So a change of the path between two calls cannot
/// lead outside. Metadata is set through a descriptor of the object itself. `path` is for messages only.
public final class Directory: Sendable {
    public let path: [UInt8]
    private let descriptor: FileDescriptor
    /// The parts of a joined directory by name; empty for every other directory.
    public let parts: [FileName: Directory]
    /// The target's file system if it is not complete; else nil.
    public let fileSystem: TargetFileSystem?
    /// The first error of a file system sync.
    private let syncFailure = Mutex<SystemError?>(nil)
    private let isLocked = Atomic(false)

    init(
        path: [UInt8], descriptor: consuming FileDescriptor, parts: [FileName: Directory] = [:],
        on fileSystem: TargetFileSystem? = nil
    ) {
        self.path = path
        self.descriptor = descriptor
        self.parts = parts
        self.fileSystem = fileSystem
    }

    deinit {
        // RACE: a child that another thread starts has this descriptor, too, until it executes its program. Without
        // this call, the lock would last as long.
        if isLocked.load(ordering: .relaxed) { descriptor.unlock() }
    }

    /// A read-only directory that consists of other directories, each under a name. The kernel does not know it, so
    /// calls about the directory itself fail, except for its names.
    public static func joining(_ parts: [FileName: Directory]) -> Directory {
        Directory(path: [UInt8(ascii: ".")], descriptor: FileDescriptor(owning: -1), parts: parts)
    }

    public var isJoined: Bool { !parts.isEmpty }

    /// The directories that the kernel knows: the parts in the order of their names, or this directory.
    public var roots: [Directory] {
        isJoined ? parts.sorted { $0.key < $1.key }.map(\.value) : [self]
    }

    /// Calls the kernel with the location of a name. A part is located in the part's own directory. In a joined
    /// directory, any other name does not exist; the kernel says so of the empty name.
    private func locating<Result>(
        _ name: UnsafePointer<CChar>, _ body: (Int32, UnsafePointer<CChar>) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        guard isJoined else { return try body(descriptor.rawValue, name) }
        let bytes = UnsafeRawBufferPointer(start: name, count: strlen(name))
        guard let part = parts.first(where: { $0.key.bytes.elementsEqual(bytes) })?.value else {
            return try body(descriptor.rawValue, "")
        }
        return try body(part.descriptor.rawValue, ".")
    }

    /// Opens a directory by a path that a user gave. Only this call follows symlinks.
    public static func open(
        path: [UInt8], _ flags: FileDescriptor.Flags = .read
    ) throws(SystemError) -> Directory {
        let descriptor = try calling("open", path) { () throws(Errno) -> Int32 in
            try withCString(terminated: path + [0]) { (pointer) throws(Errno) -> Int32 in
                try FileDescriptor.open(AT_FDCWD, pointer, [flags, .directory])
            }
        }
        return Directory(path: path, descriptor: FileDescriptor(owning: descriptor))
    }

    /// Opens a directory in this one; a symlink under this name is an error.
    public func directory(
        _ name: FileName, _ flags: FileDescriptor.Flags = .read
    ) throws(SystemError) -> Directory {
        let descriptor = try open(name, [flags, .directory, .noFollow])
        return Directory(path: path(of: name), descriptor: descriptor, on: fileSystem)
    }

    /// The same directory, on a file system that is not complete.
    func reopened(on fileSystem: TargetFileSystem) throws(SystemError) -> Directory {
        Directory(path: path, descriptor: try opened(".", [.read, .directory]), on: fileSystem)
    }

    /// The directory above this one; at the top of the file system, this one again.
    ///
    /// - Parameter path: for messages.
    public func parent(
        _ flags: FileDescriptor.Flags = .pathOnly, path parentPath: [UInt8]? = nil
    ) throws(SystemError) -> Directory {
        Directory(
            path: parentPath ?? path + "/..".utf8, descriptor: try opened("..", [flags, .directory]),
            on: fileSystem)
    }

    /// The parent directory, and the name of this directory in it, with symlinks resolved. Nil for the root of the file
    /// system and for a removed directory.
    public func location(
        _ flags: FileDescriptor.Flags = .pathOnly
    ) throws(SystemError) -> (parent: Directory, name: FileName)? {
        guard !isJoined else { return nil }
        let descriptors = try Directory.open(path: Array("/proc/self/fd".utf8))
        let path = try descriptors.destination(of: FileName(number: Int(descriptor.rawValue)))
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")), let name = FileName(path[(slash + 1)...])
        else { return nil }
        let parent = try parent(flags, path: Array(path[..<max(slash, 1)]))
        guard let found = try parent.trueStatus(of: name) else { return nil }
        return found.isSameObject(as: try trueStatus()) ? (parent, name) : nil
    }

    /// Whether both handles are of the same directory now. Their paths do not matter.
    public func isSame(as other: Directory) throws(SystemError) -> Bool {
        try trueStatus().isSameObject(as: other.trueStatus())
    }

    /// Whether permissions allow names to be added and removed here. The corresponding C function is `faccessat`.
    public var isWritable: Bool {
        faccessat(descriptor.rawValue, ".", W_OK | X_OK, AT_EACCESS) == 0
    }

    /// The path of a name in this directory, for messages.
    public func path(of name: FileName) -> [UInt8] {
        if let part = parts[name] { return part.path }
        return path.last == UInt8(ascii: "/") ? path + name.bytes : path + [UInt8(ascii: "/")] + name.bytes
    }

    // MARK: Inspecting

    /// The status of the directory itself. For a joined directory, only the type is real.
    public func status() throws(SystemError) -> FileStatus {
        guard !isJoined else {
            return FileStatus(type: .directory, modified: FileTime(seconds: 0, nanoseconds: 0))
        }
        return try trueStatus().seen(on: fileSystem)
    }

    /// The status with the inode number that the kernel shows now, even if it does not last.
    public func trueStatus() throws(SystemError) -> FileStatus {
        guard !isJoined else { return try status() }
        return try calling("statx", path) { () throws(Errno) in try descriptor.status() }
    }

    /// The status of a name, without following a symlink; nil if the name does not exist.
    public func status(of name: FileName) throws(SystemError) -> FileStatus? {
        try trueStatus(of: name)?.seen(on: fileSystem)
    }

    /// The status with the inode number that the kernel shows now, even if it does not last.
    public func trueStatus(of name: FileName) throws(SystemError) -> FileStatus? {
        do throws(Errno) {
            return try name.withCString { (pointer) throws(Errno) -> FileStatus in
                try trueStatus(of: pointer)
            }
        } catch .noSuchFile {
            return nil
        } catch {
            throw SystemError("statx", path(of: name), error)
        }
    }

    func status(of name: UnsafePointer<CChar>) throws(Errno) -> FileStatus {
        try trueStatus(of: name).seen(on: fileSystem)
    }

    private func trueStatus(of name: UnsafePointer<CChar>) throws(Errno) -> FileStatus {
        try locating(name) { (directory, name) throws(Errno) in
            try FileStatus.of(directory, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)
        }
    }

    /// The known facts of a name whose status cannot be read: its type if the directory shows it, and its file system.
    ///
    /// - Returns: nil if the directory cannot be looked at either, or if the process lacks memory or descriptors.
    func unseenStatus(of name: FileName, _ errno: Errno, type: FileType?) -> FileStatus? {
        // An error of this call means the same as any other error of it.
        let own = try? FileSystem.withCString(terminated: [UInt8(ascii: "."), 0]) { (dot) throws(Errno) in
            try trueStatus(of: dot)
        }
        guard !Errno.exhausted.contains(errno), let own else { return nil }
        var status = FileStatus(type: type ?? .directory, modified: FileTime(seconds: 0, nanoseconds: 0))
        status.device = name.withCString { FileStatus.device(of: descriptor.rawValue, $0) } ?? own.device
        return status
    }

    /// Whether the object certainly has no extended attributes. Linux before 6.13 never reports this.
    func hasNoExtendedAttributes(_ name: FileName) -> Bool {
        name.withCString { listxattrat_size(descriptor.rawValue, $0, AT_SYMLINK_NOFOLLOW) == 0 }
    }

    /// Opens a name in this directory. Sources are opened with `nonBlocking` and `noFollow`, and their type is checked
    /// afterwards.
    public func open(
        _ name: FileName, _ flags: FileDescriptor.Flags, permissions: UInt16 = 0
    ) throws(SystemError) -> FileDescriptor {
        let opened = try calling("openat", path(of: name)) { () throws(Errno) -> Int32 in
            try name.withCString { (pointer) throws(Errno) -> Int32 in
                try locating(pointer) { (directory, name) throws(Errno) in
                    try FileDescriptor.open(directory, name, flags, mode_t(permissions))
                }
            }
        }
        return FileDescriptor(owning: opened)
    }

    /// The destination of a symlink, as bytes.
    public func destination(of name: FileName) throws(SystemError) -> [UInt8] {
        try calling("readlinkat", path(of: name)) { () throws(Errno) -> [UInt8] in
            try name.withCString { (pointer) throws(Errno) -> [UInt8] in
                var capacity = 256
                while true {
                    let bytes = try [UInt8](upTo: capacity) { (buffer) throws(Errno) -> Int in
                        let text = buffer.bindMemory(to: CChar.self).baseAddress.unsafelyUnwrapped
                        return try retrying { readlinkat(descriptor.rawValue, pointer, text, capacity) }
                    }
                    if bytes.count < capacity { return bytes }
                    capacity *= 4
                }
            }
        }
    }

    // MARK: Creating

    public func makeDirectory(_ name: FileName, permissions: UInt16 = 0o700) throws(SystemError) {
        try change("mkdirat", name) { mkdirat($0, $1, mode_t(permissions)) }
    }

    public func makeSymlink(_ name: FileName, to destination: [UInt8]) throws(SystemError) {
        try change("symlinkat", name) { directory, pointer in
            FileSystem.withCString(terminated: destination + [0]) { symlinkat($0, directory, pointer) }
        }
    }

    public func makeFIFO(_ name: FileName) throws(SystemError) {
        try change("mkfifoat", name) { mkfifoat($0, $1, 0o600) }
    }

    /// Makes a device node. This needs a privilege.
    public func makeDevice(_ name: FileName, type: FileType, _ number: DeviceNumber) throws(SystemError) {
        let kind = type == .blockDevice ? S_IFBLK : S_IFCHR
        let device = gnu_dev_makedev(number.major, number.minor)
        try change("mknodat", name) { mknodat($0, $1, kind | 0o600, device) }
    }

    // MARK: Renaming and removing

    public enum RenameMode: Sendable {
        /// An existing object with the new name is replaced.
        case replace
        /// An existing object with the new name is an error.
        case noReplace
        /// Both names exist and are swapped.
        case exchange

        var flags: UInt32 {
            switch self {
            case .replace: 0
            case .noReplace: UInt32(RENAME_NOREPLACE)
            case .exchange: UInt32(RENAME_EXCHANGE)
            }
        }
    }

    /// The corresponding C function is `renameat2`.
    ///
    /// RACE: if a target's file system does not support `noReplace`, this looks the new name up first. A file that gets
    /// the name between the lookup and the rename is replaced, and lost.
    public func rename(
        _ name: FileName, to other: Directory, _ newName: FileName, _ mode: RenameMode
    ) throws(SystemError) {
        do throws(SystemError) {
            try renameAtOnce(name, to: other, newName, mode)
        } catch {
            guard mode == .noReplace, fileSystem != nil || other.fileSystem != nil,
                [.invalid, .notImplemented, .notSupported].contains(error.errno)
            else { throw error }
            guard try other.trueStatus(of: newName) == nil else {
                throw SystemError("renameat2", path(of: name), .exists)
            }
            try renameAtOnce(name, to: other, newName, .replace)
        }
    }

    func renameAtOnce(
        _ name: FileName, to other: Directory, _ newName: FileName, _ mode: RenameMode
    ) throws(SystemError) {
        try change("renameat2", name) { directory, pointer in
            newName.withCString { renameat2(directory, pointer, other.descriptor.rawValue, $0, mode.flags) }
        }
    }

    /// Makes another name for an object; a symlink itself is linked.
    public func link(_ name: FileName, to other: Directory, _ newName: FileName) throws(SystemError) {
        try change("linkat", name) { directory, pointer in
            newName.withCString { linkat(directory, pointer, other.descriptor.rawValue, $0, 0) }
        }
    }

    public func unlink(_ name: FileName) throws(SystemError) {
        try change("unlinkat", name) { unlinkat($0, $1, 0) }
    }

    public func removeDirectory(_ name: FileName) throws(SystemError) {
        try change("unlinkat", name) { unlinkat($0, $1, AT_REMOVEDIR) }
    }

    /// A new descriptor of this directory, or of its parent.
    func opened(_ name: String, _ flags: FileDescriptor.Flags) throws(SystemError) -> FileDescriptor {
        let opened = try calling("openat", path) { () throws(Errno) -> Int32 in
            try FileDescriptor.open(descriptor.rawValue, name, flags)
        }
        return FileDescriptor(owning: opened)
    }

    /// Whether names are compared without regard to case or Unicode form. On ext4, f2fs and tmpfs, a directory has a
    /// flag for that (`FS_CASEFOLD_FL` of `linux/fs.h`); on xfs, the file system has (`XFS_FSOP_GEOM_FLAGS_DIRV2CI`).
    public func foldsNames() -> Bool {
        let (getFlags, foldsCase): (UInt, CLong) = (0x8008_6601, 0x4000_0000)
        var flags: CLong = 0
        // A file system without these flags does not fold names.
        if ioctl(descriptor.rawValue, getFlags, &flags) == 0, flags & foldsCase != 0 { return true }
        return xfsFeatures & (1 << 12) != 0
    }

    /// The flags of `XFS_IOC_FSGEOMETRY_V1`; 0 if this is not xfs.
    var xfsFeatures: UInt32 {
        // `struct xfs_fsop_geom_v1`, of 112 bytes with `flags` at 92.
        withUnsafeTemporaryAllocation(byteCount: 112, alignment: 8) { geometry in
            guard let base = geometry.baseAddress, ioctl(descriptor.rawValue, 0x8070_5864 as UInt, base) == 0
            else { return 0 }
            return geometry.load(fromByteOffset: 92, as: UInt32.self)
        }
    }

    // MARK: Durability and locking

    /// Makes the names in this directory durable. An error is final. A path-only handle is opened again for this, and
    /// nothing is synced if the permissions forbid that.
    public func sync() throws(SystemError) {
        do throws(SystemError) {
            try calling("fsync", path) { () throws(Errno) in try descriptor.sync() }
        } catch  where error.errno == .badDescriptor {
            do throws(Errno) {
                let readable = FileDescriptor(
                    owning: try FileDescriptor.open(descriptor.rawValue, ".", [.read, .directory]))
                try readable.sync()
            } catch {
                guard error == .accessDenied else { throw SystemError("fsync", path, error) }
            }
        } catch {
            // Some file systems of targets cannot sync a directory. The run reports that.
            guard error.errno == fileSystem?.capabilities.directorySyncFailure else { throw error }
        }
    }

    /// Makes all data on this file system durable that was written since the directory was opened, or throws.
    ///
    /// An error is final. The kernel reports it once and success ever after, so this handle remembers it.
    public func syncFileSystem() throws(SystemError) {
        try syncFailure.withLock { (failure) throws(SystemError) in
            if let failure { throw failure }
            do throws(SystemError) {
                try calling("syncfs", path) { () throws(Errno) in
                    _ = try retrying { syncfs(descriptor.rawValue) }
                }
            } catch {
                failure = error
                throw error
            }
        }
    }

    /// Locks this directory exclusively until this object ends. Throws `wouldBlock` if another process has the lock.
    public func lock() throws(SystemError) {
        try calling("flock", path) { () throws(Errno) in try descriptor.lock() }
        isLocked.store(true, ordering: .relaxed)
    }

    /// The present path of this directory from `/`, without symlinks, as the kernel reports it.
    public func presentPath() throws(SystemError) -> [UInt8] {
        let descriptors = try Directory.open(path: Array("/proc/self/fd".utf8))
        return try descriptors.destination(of: FileName(number: Int(descriptor.rawValue)))
    }

    // MARK: For the other files of this target

    func withRawDescriptor<Result, Failure: Error>(
        _ body: (Int32) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(descriptor.rawValue)
    }

    private func change(
        _ call: StaticString, _ name: FileName, _ body: (Int32, UnsafePointer<CChar>) -> Int32
    ) throws(SystemError) {
        try calling(call, path(of: name)) { () throws(Errno) in
            try name.withCString { (pointer) throws(Errno) -> Void in
                _ = try retrying { body(descriptor.rawValue, pointer) }
            }
        }
    }
}
