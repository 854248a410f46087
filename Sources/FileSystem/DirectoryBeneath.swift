import CLinux
import Glibc

extension Directory {
    /// Opens a directory below this one by a path; no component of it, and no symlink, leads outside. The corresponding
    /// C function is `openat2` with `RESOLVE_BENEATH`.
    public func directory(beneath path: [UInt8]) throws(SystemError) -> Directory {
        let whole = self.path + [UInt8(ascii: "/")] + path
        let opened = try calling("openat2", whole) { () throws(Errno) -> Int32 in
            try withRawDescriptor { (descriptor) throws(Errno) -> Int32 in
                try withCString(terminated: path + [0]) { (pointer) throws(Errno) -> Int32 in
                    Int32(
                        try retrying {
                            open_beneath(descriptor, pointer, UInt64(O_RDONLY | O_DIRECTORY | O_CLOEXEC))
                        })
                }
            }
        }
        return Directory(path: whole, descriptor: FileDescriptor(owning: opened))
    }
}
