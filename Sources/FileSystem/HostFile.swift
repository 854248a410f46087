import Glibc

/// Small files in which the kernel and the system describe themselves, such as `/proc/locks`.
public enum HostFile {
    static func bytes(_ path: String) throws(SystemError) -> [UInt8] {
        try calling("read", Array(path.utf8)) { () throws(Errno) -> [UInt8] in
            let file = FileDescriptor(owning: try FileDescriptor.open(AT_FDCWD, path, .read))
            return try file.readAll()
        }
    }

    /// The whole file.
    public static func text(_ path: String) throws(SystemError) -> String {
        String(decoding: try bytes(path), as: UTF8.self)
    }

    /// The first line.
    static func line(_ path: String) throws(SystemError) -> String {
        try text(path).split(separator: "\n").first.map(String.init) ?? ""
    }
}
