import CLinux
import Glibc
import Synchronization

extension Directory {
    /// Opens a directory below this one by a path. Neither a component of it nor a symlink may lead outside. The
    /// corresponding C function is `openat2` with `RESOLVE_BENEATH`.
    public func directory(
        beneath path: [UInt8], followingSymlinks follows: Bool = true
    ) throws(SystemError) -> Directory {
        let whole = self.path + [UInt8(ascii: "/")] + path
        let opened = try calling("openat2", whole) { () throws(Errno) -> Int32 in
            try withRawDescriptor { (descriptor) throws(Errno) -> Int32 in
                try withCString(terminated: path + [0]) { (pointer) throws(Errno) -> Int32 in
                    Int32(
                        try retrying {
                            open_beneath(
                                descriptor, pointer, UInt64(O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                                follows ? 1 : 0)
                        })
                }
            }
        }
        return Directory(path: whole, descriptor: FileDescriptor(owning: opened))
    }

    private static let isConfined = Atomic(false)

    /// Makes every path that a user gives relative to this directory from now on. No component of it may lead outside
    /// or be a symlink. This is for the whole process, and final. The corresponding C function is `fchdir`.
    public func confine() throws(SystemError) {
        try calling("fchdir", path) { () throws(Errno) in
            try withRawDescriptor { (descriptor) throws(Errno) in _ = try retrying { fchdir(descriptor) } }
        }
        Directory.isConfined.store(true, ordering: .sequentiallyConsistent)
    }

    /// Opens a directory by a path that a user gave.
    public static func open(
        given path: [UInt8], _ flags: FileDescriptor.Flags = .read
    ) throws(SystemError) -> Directory {
        guard isConfined.load(ordering: .sequentiallyConsistent) else { return try open(path: path, flags) }
        let opened = try calling("openat2", path) { () throws(Errno) -> Int32 in
            try withCString(terminated: path + [0]) { (pointer) throws(Errno) -> Int32 in
                let flags = UInt64(flags.rawValue | O_DIRECTORY | O_CLOEXEC)
                return Int32(try retrying { open_beneath(AT_FDCWD, pointer, flags, 0) })
            }
        }
        return Directory(path: path, descriptor: FileDescriptor(owning: opened))
    }

    /// Whether only this user has access, or nothing in it can be a device or run with another user's rights.
    public func keepsOthersOut() throws(SystemError) -> Bool {
        let status = try status()
        if status.isOwn, status.permissions & 0o077 == 0 { return true }
        var raw = statvfs()
        try calling("fstatvfs", path) { () throws(Errno) in
            try withRawDescriptor { (descriptor) throws(Errno) in
                _ = try retrying { fstatvfs(descriptor, &raw) }
            }
        }
        let safe = UInt(ST_NOSUID | 0x0004)
        return UInt(raw.f_flag) & safe == safe
    }
}
