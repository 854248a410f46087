import Glibc

/// A held place in the file system: whatever happens to names, it stays the same object.
/// Attributes are read and set through it, so a name that is swapped cannot redirect them.
package struct ObjectHandle: ~Copyable, Sendable {
    private let descriptor: FileDescriptor
    private let path: [UInt8]

    /// The initializers that can fail delegate to this one, so that no failure leaves a part of the value behind:
    /// Swift 6.3 closes a descriptor of any number where a closure reads a property before all of them are there.
    private init(_ descriptor: consuming FileDescriptor, path: [UInt8]) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Holds what a name leads to, a symlink itself.
    package init(_ name: FileName, in directory: Directory) throws(SystemError) {
        self.init(try directory.open(name, [.pathOnly, .noFollow]), path: directory.path(of: name))
    }

    /// Holds a directory that is open.
    package init(of directory: Directory) throws(SystemError) {
        self.init(try directory.openPlace(), path: directory.path)
    }

    package func status() throws(SystemError) -> FileStatus {
        try calling("statx", path) { () throws(Errno) in try descriptor.status() }
    }

    /// The corresponding C function is `fchownat` with `AT_EMPTY_PATH`. It takes setuid and setgid away,
    /// so permissions are set after it.
    package func setOwner(_ owner: UInt32, group: UInt32) throws(SystemError) {
        try calling("fchownat", path) { () throws(Errno) in
            _ = try retrying { fchownat(descriptor.rawValue, "", owner, group, AT_EMPTY_PATH) }
        }
    }

    /// Not for symlinks, which have none on Linux.
    ///
    /// `fchmod` refuses a descriptor that is a place only, and `fchmodat2` is newer than the oldest kernel
    /// we run on, so the call goes by the descriptor's own link under `/proc`, which leads to the object
    /// and nowhere else.
    package func setPermissions(_ permissions: UInt16) throws(SystemError) {
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
        try calling("utimensat", path) { () throws(Errno) in
            var times = [FileTime.omitted, time.raw]
            _ = try retrying { utimensat(descriptor.rawValue, "", &times, AT_EMPTY_PATH) }
        }
    }
}
