/// A file under a temporary name. It becomes durable and gets its name in one step, or is removed. This makes all of
/// them.
public struct PendingFile: ~Copyable {
    private let directory: Directory
    private let temporaryName: FileName
    private let name: FileName
    private let file: ObjectHandle
    private var buffer: [UInt8] = []
    private var written: Int64 = 0
    private var isPending = true

    private static let bufferSize = 256 * 1024
    private static let prefix = ".fsync-lite-pending-"

    /// Whether a name is one of a temporary file.
    public static func isTemporary(_ name: FileName) -> Bool { name.bytes.starts(with: prefix.utf8) }

    /// A new temporary name. It does not contain the final name, which may be near the length limit.
    static var temporaryName: FileName {
        FileName(PendingFile.prefix.utf8 + Array(RandomID.hexadecimal(bytes: 8).utf8))
            ?? FileName(".fsync-lite-pending-")
    }

    /// Begins a file that will be called `name`.
    public init(_ name: FileName, in directory: Directory, permissions: UInt16 = 0o600) throws(SystemError) {
        while true {
            let temporaryName = PendingFile.temporaryName
            let file = try ObjectHandle(
                opening: temporaryName, in: directory, [.readWrite, .create, .exclusive, .noFollow],
                permissions: permissions)
            // RACE: `removeAbandoned` may remove the file before it is locked. Then another one is made.
            guard PendingFile.lock(file.descriptor), try directory.status(of: temporaryName) != nil else {
                continue
            }
            self.init(file, temporaryName, for: name, in: directory)
            return
        }
    }

    /// Begins a file with the permission bits of the old one, unless the old one is another user's.
    ///
    /// - Parameters:
    ///   - permissions: used in place of the old ones.
    ///   - new: the permission bits if there is no old file, before the umask.
    public static func replacing(
        _ name: FileName, in directory: Directory, _ permissions: UInt16? = nil, new: UInt16
    ) throws(SystemError) -> PendingFile {
        var wanted = permissions
        if wanted == nil, let old = try directory.status(of: name), old.type == .file, !old.isForeign {
            wanted = old.permissions & 0o777
        }
        // No other user may open it before its permissions are set.
        let file = try PendingFile(name, in: directory, permissions: wanted == nil ? new : 0o600)
        if let wanted { try file.setPermissions(wanted) }
        return file
    }

    /// Locks a file, which shows that a process writes it. False if another process has the lock.
    private static func lock(_ file: borrowing FileDescriptor) -> Bool {
        do throws(Errno) {
            try file.lock()
            return true
        } catch {
            // If the file system has no locks, no other process can lock it either.
            return error != .wouldBlock
        }
    }

    /// Removes the temporary files of this user that were left by killed processes.
    public static func removeAbandoned(in directory: Directory) throws(SystemError) {
        for name in try DirectoryListing.names(in: directory) where isTemporary(name) {
            guard let seen = try directory.status(of: name), seen.type == .file, seen.isOwn else { continue }
            do throws(SystemError) {
                let file = try directory.open(name, [.read, .nonBlocking, .noFollow])
                try calling("flock", directory.path(of: name)) { () throws(Errno) in try file.lock() }
                try directory.unlink(name)
            } catch {
                // It has just been renamed or removed, or another process writes it.
                guard [.noSuchFile, .wouldBlock].contains(error.errno) else { throw error }
            }
        }
    }

    /// Cannot fail; see `ObjectHandle`.
    private init(
        _ file: consuming ObjectHandle, _ temporaryName: FileName, for name: FileName,
        in directory: Directory
    ) {
        (self.directory, self.name, self.temporaryName) = (directory, name, temporaryName)
        self.file = file
    }

    /// Writes to an existing FIFO, device or other object that is not replaced. Then there is no temporary file.
    public init(through name: FileName, in directory: Directory) throws(SystemError) {
        let opened = try ObjectHandle(opening: name, in: directory, [.write])
        self.directory = directory
        self.name = name
        temporaryName = name
        file = opened
        isPending = false
    }

    deinit {
        // If this fails too, a hidden file is left, and no data is lost.
        if isPending { try? directory.unlink(temporaryName) }
    }

    public mutating func write(_ bytes: [UInt8]) throws(SystemError) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= PendingFile.bufferSize { try flush() }
    }

    /// Copies the content of an open file into this file, which must be empty. Returns the number of bytes.
    public func copy(_ source: borrowing FileDescriptor) throws(SystemError) -> Int64 {
        try calling("copy_file_range", file.path) { () throws(Errno) in
            let status = try source.status()
            var copier = FileCopier()
            return try copier.copy(
                source, to: file.descriptor, size: status.size, allocated: status.allocated)
        }
    }

    /// The digest of the written content.
    public func digest() throws(SystemError) -> SHA256.Value {
        try calling("read", file.path) { () throws(Errno) in try file.descriptor.digest() }
    }

    /// Sets the permission bits regardless of the umask.
    public func setPermissions(_ permissions: UInt16) throws(SystemError) {
        try file.setPermissions(permissions)
    }

    public func setModified(_ time: FileTime) throws(SystemError) {
        try file.setModified(time)
    }

    /// Copies owner, extended attributes, permission bits and modification time from another file.
    public func setAttributes(
        like status: FileStatus, extended: ExtendedAttributes = ExtendedAttributes()
    ) throws(SystemError) {
        let wanted = Attributes(status, extended: extended.isEmpty ? nil : extended)
        let refused = try file.set(wanted, over: file.status(), setsOwner: true, nil)
        if let error = refused.owner { throw error }
    }

    private mutating func flush() throws(SystemError) {
        guard !buffer.isEmpty else { return }
        try calling("write", file.path) { () throws(Errno) in
            if isPending { try file.descriptor.checkFits(written, adding: buffer.count) }
            try file.descriptor.write(buffer)
        }
        written += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Syncs the content, renames the file, and with `durably` syncs the directory too.
    ///
    /// - Parameter mode: `.noReplace` refuses a name that exists.
    public consuming func commit(
        _ mode: Directory.RenameMode = .replace, durably: Bool = true
    ) throws(SystemError) {
        try flush()
        guard isPending else { return }
        // The commit syncs the file system, which may do nothing here. So each file is synced.
        if durably || directory.fileSystem?.capabilities.syncsAsAWhole == false {
            try calling("fsync", file.path) { () throws(Errno) in
                try file.descriptor.sync()
            }
        }
        try directory.rename(temporaryName, to: directory, name, mode)
        isPending = false
        if durably { try directory.sync() }
    }
}
