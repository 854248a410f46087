import FileStorage
import FileSystem

/// The directory on which a target is mounted.
struct MountPlace {
    private let file: LocalFile
    private let tell: @Sendable (String) -> Void

    init(_ file: LocalFile, _ tell: @escaping @Sendable (String) -> Void) {
        (self.file, self.tell) = (file, tell)
    }

    /// - Throws: `SyncError` with the reason and the way out, if the directory is unsuitable.
    func directory(outside target: Directory) throws -> Directory {
        let directory = try opened()
        guard try !directory.status().isMountRoot else {
            throw refusal(
                "something is mounted there already. Unmount it first: umount \(file), or give another directory"
            )
        }
        guard try Overlap.names(from: target, to: directory) == nil else {
            throw refusal("it lies in the target. Give a directory outside of it")
        }
        guard try DirectoryListing.names(in: directory).isEmpty else {
            throw refusal("it is not empty, and the mount would hide what it has. Give an empty directory")
        }
        return directory
    }

    private func opened() throws -> Directory {
        do {
            return try file.directory()
        } catch {
            switch error.errno.map(Errno.init(rawValue:)) {
            case Errno.notConnected?: return try withoutDeadMount()
            case Errno.noSuchFile?:
                throw SyncError(
                    .inputMissing, path: file.bytes, "there is no such directory. Make it: mkdir \(file)")
            case Errno.notDirectory?: throw refusal("it is no directory. Give an empty directory")
            default: throw error
            }
        }
    }

    /// A server that was killed leaves its mount behind, which no call gets into.
    private func withoutDeadMount() throws -> Directory {
        let location = try file.location()
        let place = try (LocalFile(bytes: location.directory.presentPath()) + Array(location.name.bytes))
            .bytes
        guard try FuseConnection.isOurs(place) else {
            throw refusal(
                "a file system of another program is mounted there, and its server is dead. Unmount it: umount \(file)"
            )
        }
        try explaining { try FuseConnection.unmount(place) }
        tell("note: \(file): a server was killed and had left its mount behind; that was removed")
        return try file.directory()
    }

    private func refusal(_ reason: String) -> SyncError { SyncError(.refused, path: file.bytes, reason) }
}

extension MountPlace {
    /// Says in words why a place cannot be mounted, and the way out.
    func explaining<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let failure as FuseConnection.Failure {
            let reason =
                switch failure {
                case .noDevice:
                    "there is no /dev/fuse. Load it: modprobe fuse. A container needs --device /dev/fuse --cap-add SYS_ADMIN"
                case .noHelper:
                    "fusermount3 is missing, which mounts for users other than root. Install the package fuse3"
                case .helper(let code): "fusermount3 refused it (exit \(code)). Its message is above"
                }
            throw SyncError(.refused, path: file.bytes, reason)
        } catch let error as SystemError where error.errno == .notPermitted || error.errno == .accessDenied {
            throw SyncError(
                .refused, path: file.bytes,
                "\(error.call) is not permitted here. Run it as root of the machine. A container needs --device /dev/fuse --cap-add SYS_ADMIN"
            )
        }
    }

    /// Checks that other users can be let in, and says which directories hid the tree from them until now.
    func checkOthers(_ root: Directory) throws {
        let settings = LocalFile("/etc/fuse.conf")
        guard try Account.isRoot || letsOthersIn(settings) else {
            throw SyncError(
                .refused, path: file.bytes,
                "--allow-other is for root, or needs a line user_allow_other in \(settings). Add it as root, or leave --allow-other out"
            )
        }
        var directory = root
        while true {
            let above = try directory.parent()
            guard try !above.isSame(as: directory) else { return }
            directory = above
            if try directory.status().permissions & 0o001 == 0 {
                return tell(
                    "note: \(escapedText(try directory.presentPath())) lets no other users in. With --allow-other they see the tree in the mount, as its own rights say"
                )
            }
        }
    }

    private func letsOthersIn(_ settings: LocalFile) throws -> Bool {
        guard try settings.exists else { return false }
        let file = try settings.openInput()
        let text = try calling("read", settings.bytes) { () throws(Errno) in try file.readAll(limit: 1 << 20)
        }
        return text.split(separator: UInt8(ascii: "\n")).contains {
            $0.elementsEqual("user_allow_other".utf8)
        }
    }
}
