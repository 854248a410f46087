import CLinux
import Glibc

/// A file system of this process that is mounted: the kernel's requests come over one descriptor of `/dev/fuse`.
public final class FuseConnection: Sendable {
    public enum Failure: Error {
        /// There is no `/dev/fuse`.
        case noDevice
        /// Others than root need `fusermount3`, of the package `fuse3`.
        case noHelper
        /// The helper has said why.
        case helper(code: Int32)
    }

    private let device: FileDescriptor
    /// The place of the mount, from `/` and without symlinks.
    public let place: [UInt8]

    private init(_ device: consuming FileDescriptor, at place: [UInt8]) {
        self.device = device
        self.place = place
    }

    /// Mounts a read-only file system, on which no file is a device or gives rights to who runs it.
    ///
    /// - Parameters:
    ///   - source: what lists of mounts call it.
    ///   - allowsOthers: other users than this one get in.
    public static func mount(
        _ source: [UInt8], at directory: Directory, allowsOthers: Bool
    ) throws -> FuseConnection {
        let place = try directory.presentPath()
        guard access(path, F_OK) == 0 else { throw Failure.noDevice }
        guard Account.isRoot else {
            return FuseConnection(try mountByHelper(source, place, allowsOthers), at: place)
        }
        return FuseConnection(try mount(source, directory, allowsOthers), at: place)
    }

    private static let path = "/dev/fuse"

    private static func mount(
        _ source: [UInt8], _ directory: Directory, _ allowsOthers: Bool
    ) throws(SystemError) -> FileDescriptor {
        let file = FileDescriptor(
            owning: try calling("open", Array(path.utf8)) { () throws(Errno) in
                try FileDescriptor.open(AT_FDCWD, path, .readWrite)
            })
        let options =
            "fd=\(file.rawValue),rootmode=40000,user_id=\(geteuid()),group_id=\(getegid()),default_permissions"
            + (allowsOthers ? ",allow_other" : "")
        try calling("mount", directory.path) { () throws(Errno) in
            try directory.withRawDescriptor { (place) throws(Errno) in
                try withCString(terminated: source + [0]) { (source) throws(Errno) in
                    // The directory itself, whatever its path leads to by now.
                    _ = try retrying { fuse_mount(source, "/proc/self/fd/\(place)", options) }
                }
            }
        }
        return file
    }

    private static func words(_ source: [UInt8], _ allowsOthers: Bool) -> [UInt8] {
        var name: [UInt8] = []
        for byte in source {
            if [UInt8(ascii: ","), UInt8(ascii: "\\")].contains(byte) { name.append(UInt8(ascii: "\\")) }
            name.append(byte)
        }
        return Array(
            "ro,nosuid,nodev,default_permissions\(allowsOthers ? ",allow_other" : ""),subtype=fsync-lite,fsname="
                .utf8)
            + name
    }

    /// `fusermount3` mounts, and sends the descriptor over a socket.
    private static func mountByHelper(
        _ source: [UInt8], _ place: [UInt8], _ allowsOthers: Bool
    ) throws -> FileDescriptor {
        var ends: [Int32] = [-1, -1]
        try calling("socketpair", place) { () throws(Errno) in
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            _ = try retrying { socketpair(AF_UNIX, kind, 0, &ends) }
        }
        defer { for end in ends { _ = Glibc.close(end) } }
        let arguments = [Array("-o".utf8), words(source, allowsOthers), Array("--".utf8), place]
        let code = try helper(arguments, giving: ends[1])
        guard code == 0 else { throw Failure.helper(code: code) }
        let own = ends[0]
        return FileDescriptor(
            owning: try calling("recvmsg", place) { () throws(Errno) in
                try retrying { fuse_receive_descriptor(own) }
            })
    }

    /// The descriptor under which the helper has the socket.
    private static let socket: Int32 = 3

    /// - Returns: the exit code.
    private static func helper(_ arguments: [[UInt8]], giving socket: Int32? = nil) throws -> Int32 {
        do throws(Errno) {
            return try ChildProcess.run(
                [Array("fusermount3".utf8)] + arguments,
                giving: socket.map { [($0, FuseConnection.socket)] } ?? [],
                variables: socket == nil ? [:] : ["_FUSE_COMMFD": "\(FuseConnection.socket)"])
        } catch {
            guard error != .noSuchFile else { throw Failure.noHelper }
            throw SystemError("posix_spawn", Array("fusermount3".utf8), error)
        }
    }

    // MARK: Unmounting

    public func unmount() throws { try FuseConnection.unmount(place) }

    /// Takes a mount away: its name at once, and the rest when its last file is closed.
    public static func unmount(_ place: [UInt8]) throws {
        guard Account.isRoot else {
            let code = try helper([Array("-uz".utf8), Array("--".utf8), place])
            guard code == 0 else { throw Failure.helper(code: code) }
            return
        }
        try calling("umount2", place) { () throws(Errno) in
            try withCString(terminated: place + [0]) { (place) throws(Errno) in
                _ = try retrying { fuse_unmount(place) }
            }
        }
    }

    /// Whether a mount of this program is at a place.
    public static func isOurs(_ place: [UInt8]) throws -> Bool {
        let mount = try Directory.mountList().last { $0.count > 4 && Directory.unescaped($0[4]) == place }
        return mount?.contains("fuse.fsync-lite") ?? false
    }

    // MARK: Messages

    /// Waits for a request.
    ///
    /// - Returns: its length; nil once the file system is unmounted.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
        while true {
            do throws(Errno) {
                return try device.read(into: buffer)
            } catch {
                switch error {
                case .noDevice: return nil
                // The request was taken back.
                case .noSuchFile, .wouldBlock: break
                default: throw SystemError("read", Array(FuseConnection.path.utf8), error)
                }
            }
        }
    }

    /// Sends a reply or a notice.
    ///
    /// - Returns: false if the request was interrupted, or the file system is unmounted.
    @discardableResult
    func send(_ unique: UInt64, _ error: Int32, _ content: UnsafeRawBufferPointer) -> Bool {
        let length = MemoryLayout<fuse_reply>.size + content.count
        var head = fuse_reply(len: UInt32(length), error: error, unique: unique)
        return withUnsafeMutableBytes(of: &head) { head in
            var parts = [
                iovec(iov_base: head.baseAddress, iov_len: head.count),
                iovec(
                    iov_base: UnsafeMutableRawPointer(mutating: content.baseAddress), iov_len: content.count),
            ]
            return writev(device.rawValue, &parts, 2) == length
        }
    }

    /// Makes the kernel forget a name in a directory, and all below it.
    public func forget(_ name: [UInt8], in directory: UInt64) {
        var bytes = [UInt8](repeating: 0, count: MemoryLayout<fuse_inval_entry>.size)
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(
                of: fuse_inval_entry(parent: directory, namelen: UInt32(name.count), flags: 0),
                as: fuse_inval_entry.self)
        }
        (bytes + name + [0]).withUnsafeBytes { _ = send(0, FUSE_NOTICE_INVAL_ENTRY, $0) }
    }

    /// Lets the kernel read a file by itself.
    public func pass(_ file: borrowing FileDescriptor) throws(Errno) -> Int32 {
        let descriptor = file.rawValue
        return try retrying { fuse_open_backing(device.rawValue, descriptor) }
    }

    public func endPassing(_ id: Int32) { _ = fuse_close_backing(device.rawValue, id) }
}
