import Glibc

/// An object that is held: whatever happens to names, it stays the same one.
/// Attributes are read and set through it, so a name that is swapped cannot redirect them.
package struct ObjectHandle: ~Copyable, Sendable {
    package let descriptor: FileDescriptor
    /// The descriptor stands for the object and not for its content, and some calls refuse it.
    let isPathOnly: Bool
    private let directory: Directory
    /// nil for the directory itself.
    private let name: FileName?

    /// The initializers that can fail delegate to this one, so that no failure leaves a part of the value behind:
    /// Swift 6.3 closes a descriptor of any number where a closure reads a property before all of them are there.
    private init(
        _ descriptor: consuming FileDescriptor, isPathOnly: Bool, _ name: FileName?, in directory: Directory
    ) {
        self.descriptor = descriptor
        (self.isPathOnly, self.directory, self.name) = (isPathOnly, directory, name)
    }

    /// Holds what a name leads to, a symlink itself.
    package init(_ name: FileName, in directory: Directory) throws(SystemError) {
        self.init(try directory.open(name, [.pathOnly, .noFollow]), isPathOnly: true, name, in: directory)
    }

    /// Holds a directory that is open.
    package init(of directory: Directory) throws(SystemError) {
        self.init(try directory.openPlace(), isPathOnly: true, nil, in: directory)
    }

    /// Holds a file that is opened for its content, or made.
    package init(
        opening name: FileName, in directory: Directory, _ flags: FileDescriptor.Flags,
        permissions: UInt16 = 0
    ) throws(SystemError) {
        self.init(
            try directory.open(name, flags, permissions: permissions), isPathOnly: false, name, in: directory)
    }

    /// For messages.
    package var path: [UInt8] {
        if let name { directory.path(of: name) } else { directory.path }
    }

    package func status() throws(SystemError) -> FileStatus {
        try calling("statx", path) { () throws(Errno) in try descriptor.status() }
    }

    /// The corresponding C function is `fchownat` with `AT_EMPTY_PATH`. It takes setuid and setgid away,
    /// so permissions are set after it.
    package func setOwner(_ owner: UInt32, group: UInt32) throws(SystemError) {
        guard isPathOnly else {
            return try calling("fchown", path) { () throws(Errno) in
                try descriptor.setOwner(owner, group: group)
            }
        }
        try calling("fchownat", path) { () throws(Errno) in
            _ = try retrying { fchownat(descriptor.rawValue, "", owner, group, AT_EMPTY_PATH) }
        }
    }

    /// Not for symlinks, which have none on Linux.
    ///
    /// `fchmod` refuses a descriptor that stands for the object only, and `fchmodat2` is newer than the oldest kernel
    /// we run on, so the call goes by the descriptor's own link under `/proc`, which leads to the object
    /// and nowhere else.
    package func setPermissions(_ permissions: UInt16) throws(SystemError) {
        guard isPathOnly else {
            return try calling("fchmod", path) { () throws(Errno) in
                try descriptor.setPermissions(permissions)
            }
        }
        try withLink("chmod") { (link) throws(Errno) in
            _ = try retrying { chmod(link, mode_t(permissions)) }
        }
    }

    /// The descriptor's own link under `/proc`.
    func withLink<Value>(
        _ call: StaticString, _ body: (UnsafePointer<CChar>) throws(Errno) -> Value
    ) throws(SystemError) -> Value {
        let link = Array("/proc/self/fd/\(descriptor.rawValue)".utf8) + [0]
        return try calling(call, path) { () throws(Errno) in try withCString(terminated: link, body) }
    }

    /// Sets the modification time and leaves the access time alone.
    package func setModified(_ time: FileTime) throws(SystemError) {
        guard isPathOnly else {
            return try calling("futimens", path) { () throws(Errno) in try descriptor.setModified(time) }
        }
        try calling("utimensat", path) { () throws(Errno) in
            var times = [FileTime.omitted, time.raw]
            _ = try retrying { utimensat(descriptor.rawValue, "", &times, AT_EMPTY_PATH) }
        }
    }
}
