import Glibc

/// A handle of an object. Attributes are read and set through it, so a rename or a new object cannot redirect them.
public struct ObjectHandle: ~Copyable, Sendable {
    public let descriptor: FileDescriptor
    /// The descriptor is path-only, which some calls refuse.
    let isPathOnly: Bool
    private let directory: Directory
    /// nil for the directory itself.
    private let name: FileName?

    /// The failing initializers delegate to this one, so that no failure leaves a partly initialized value. If a
    /// closure reads a property before all are set, Swift 6.3 closes a descriptor of an arbitrary number.
    private init(
        _ descriptor: consuming FileDescriptor, isPathOnly: Bool, _ name: FileName?, in directory: Directory
    ) {
        self.descriptor = descriptor
        (self.isPathOnly, self.directory, self.name) = (isPathOnly, directory, name)
    }

    /// Opens a name, without following a symlink.
    public init(_ name: FileName, in directory: Directory) throws(SystemError) {
        self.init(try directory.open(name, [.pathOnly, .noFollow]), isPathOnly: true, name, in: directory)
    }

    /// A handle of an open directory.
    public init(of directory: Directory) throws(SystemError) {
        self.init(try directory.opened(".", [.pathOnly, .directory]), isPathOnly: true, nil, in: directory)
    }

    /// A handle of a file that is open for reading or writing.
    public init(
        opening name: FileName, in directory: Directory, _ flags: FileDescriptor.Flags,
        permissions: UInt16 = 0
    ) throws(SystemError) {
        self.init(
            try directory.open(name, flags, permissions: permissions), isPathOnly: false, name, in: directory)
    }

    /// For messages.
    public var path: [UInt8] {
        if let name { directory.path(of: name) } else { directory.path }
    }

    var isOnIncompleteFileSystem: Bool { directory.fileSystem != nil }

    public func status() throws(SystemError) -> FileStatus {
        try calling("statx", path) { () throws(Errno) in try descriptor.status() }
            .seen(on: directory.fileSystem)
    }

    /// The corresponding C function is `fchownat` with `AT_EMPTY_PATH`. It clears setuid and setgid, so set permissions
    /// afterwards.
    public func setOwner(_ owner: UInt32, group: UInt32) throws(SystemError) {
        guard isPathOnly else {
            return try calling("fchown", path) { () throws(Errno) in
                try descriptor.setOwner(owner, group: group)
            }
        }
        try calling("fchownat", path) { () throws(Errno) in
            _ = try retrying { fchownat(descriptor.rawValue, "", owner, group, AT_EMPTY_PATH) }
        }
    }

    /// Not for symlinks, which have no permissions on Linux.
    ///
    /// `fchmod` refuses a path-only descriptor, and `fchmodat2` is newer than the oldest supported kernel. So the call
    /// uses the descriptor's link under `/proc`, which leads to the object itself.
    public func setPermissions(_ permissions: UInt16) throws(SystemError) {
        guard isPathOnly else {
            return try calling("fchmod", path) { () throws(Errno) in
                try descriptor.setPermissions(permissions)
            }
        }
        try withLink("chmod") { (link) throws(Errno) in
            _ = try retrying { chmod(link, mode_t(permissions)) }
        }
    }

    func withLink<Value>(
        _ call: StaticString, _ body: (UnsafePointer<CChar>) throws(Errno) -> Value
    ) throws(SystemError) -> Value {
        let link = Array("/proc/self/fd/\(descriptor.rawValue)".utf8) + [0]
        return try calling(call, path) { () throws(Errno) in try withCString(terminated: link, body) }
    }

    /// Whether the user may set the attributes of this file or directory. The user must be its owner, or root of a user
    /// namespace that has the owner. The kernel checks the same before it opens with `O_NOATIME`.
    public var isOwned: Bool {
        get throws(SystemError) {
            guard [.file, .directory].contains(try status().type) else { return true }
            do throws(SystemError) {
                return try withLink("open") { (link) throws(Errno) in
                    _ = FileDescriptor(
                        owning: try FileDescriptor.open(AT_FDCWD, link, [.read, .nonBlocking, .ownedOnly]))
                    return true
                }
            } catch {
                guard [.notPermitted, .accessDenied].contains(error.errno) else { throw error }
                return false
            }
        }
    }

    /// Sets the modification time, and leaves the access time unchanged. Some file systems in user space do nothing
    /// unless both are set, so on incomplete ones the access time becomes the present time.
    ///
    /// A time that a target's file system cannot store becomes the nearest time that it can store.
    public func setModified(_ time: FileTime) throws(SystemError) {
        let time = directory.fileSystem?.capabilities.nearestStorable(time) ?? time
        let accessed = isOnIncompleteFileSystem ? FileTime.now : nil
        guard isPathOnly else {
            return try calling("futimens", path) { () throws(Errno) in
                try descriptor.setModified(time, accessed: accessed)
            }
        }
        try calling("utimensat", path) { () throws(Errno) in
            var times = [accessed?.raw ?? FileTime.omitted, time.raw]
            _ = try retrying { utimensat(descriptor.rawValue, "", &times, AT_EMPTY_PATH) }
        }
    }
}
