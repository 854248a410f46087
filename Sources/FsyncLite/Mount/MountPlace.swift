import FileStorage
import FileSystem

/// The directory on which a target is mounted.
struct MountPlace {
    private let file: LocalFile
    private let tell: @Sendable (String) -> Void

    init(_ file: LocalFile, _ tell: @escaping @Sendable (String) -> Void) {
        (self.file, self.tell) = (file, tell)
    }

    /// - Throws: `SyncError` with a refusal, if the directory is unsuitable.
    func directory(outside target: Directory) throws -> Directory {
        let directory = try opened()
        guard try !directory.status().isMountRoot else {
            throw refusal(.mountedMountPoint(file.bytes, isDead: false))
        }
        guard try Overlap.names(from: target, to: directory) == nil else {
            throw refusal(.mountPointInTarget(try target.presentPath()))
        }
        guard try DirectoryListing.names(in: directory).isEmpty else {
            throw refusal(.occupiedMountPoint(try directory.presentPath(), isDirectory: true))
        }
        return directory
    }

    private func opened() throws -> Directory {
        do {
            return try file.directory()
        } catch {
            switch error.errno.map(Errno.init(rawValue:)) {
            case Errno.notConnected?: return try withoutDeadMount()
            case Errno.noSuchFile?: throw refusal(.missingMountPoint(file.bytes))
            case Errno.notDirectory?: throw refusal(.occupiedMountPoint(file.bytes, isDirectory: false))
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
            throw refusal(.mountedMountPoint(file.bytes, isDead: true))
        }
        try explaining { try FuseConnection.unmount(place) }
        tell("note: \(file): a server was killed and had left its mount behind; that was removed")
        return try file.directory()
    }

    private func refusal(_ refusal: Refusal) -> SyncError { SyncError(refusal, path: file.bytes) }

    /// Says in words why a place cannot be mounted, and the way out.
    func explaining<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch FuseConnection.Failure.noDevice {
            throw refusal(.noFuse)
        } catch FuseConnection.Failure.noHelper {
            throw refusal(
                .mountForbidden(
                    "a user other than root needs fusermount3. Install the package fuse3, or run as root"))
        } catch FuseConnection.Failure.helper(let code) {
            throw refusal(.mountForbidden("fusermount3 refused it (exit \(code)). Its message is above"))
        } catch let error as SystemError where [.notPermitted, .accessDenied].contains(error.errno) {
            throw refusal(
                .mountForbidden(
                    "\(error.call) is not permitted here. A container needs --device /dev/fuse --cap-add SYS_ADMIN"
                ))
        }
    }

    /// Checks that other users can be let in, and says which directories hid the tree from them until now.
    func checkOthers(_ root: Directory) throws {
        let settings = LocalFile("/etc/fuse.conf")
        guard try Account.isRoot || letsOthersIn(settings) else {
            throw refusal(.othersForbidden(settings))
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
