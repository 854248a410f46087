import Foundation
import TestSupport
import Testing

/// A tool or a right that a test needs, and how to get it. Missing ones are listed when all tests are done.
package struct Need: Sendable {
    private let name: String
    /// How to get it.
    private let remedy: String
    package let isMet: Bool

    private init(_ name: String, _ remedy: String, _ isMet: Bool) {
        (self.name, self.remedy, self.isMet) = (name, remedy, isMet)
    }

    private static let asRoot = "run as root"

    package static let root = Need("root", asRoot, geteuid() == 0)
    package static let strace = Need(
        "strace that may trace", "apt-get install strace", PausedCommand.isAvailable)
    package static let otherUser = Need(
        "a user whom permissions stop", "apt-get install util-linux", OrdinaryUser.isAvailable)
    package static let later = Need("time namespaces", asRoot, LaterRun.isAvailable)
    package static let userNamespaces = Need(
        "user namespaces", asRoot,
        geteuid() == 0 && HostCommand.works("unshare", "--user", "--map-root-user", "true"))
    package static let mounts = Need(
        "mounts of ext4", "\(asRoot); apt-get install e2fsprogs mount", TestDisk.ext4(megabytes: 4).canMount)
    package static let btrfs = Need(
        "btrfs", "\(asRoot); apt-get install btrfs-progs",
        HostCommand.isInstalled("btrfs") && TestDisk.btrfs.canMount)
    package static let xfs = Need("XFS", "\(asRoot); apt-get install xfsprogs", TestDisk.xfs.canMount)
    /// A file system for weak commits.
    package static func disk(_ disk: TestDisk, _ packages: String) -> Need {
        Need("\(disk)", "\(asRoot), with /dev/fuse; apt-get install \(packages)", disk.canMount)
    }
    package static let exfat = disk(.exfat, "exfat-fuse exfatprogs")
    package static let ntfs = disk(.ntfs, "ntfs-3g")
    package static let bindfs = disk(.bindfs, "bindfs")
    package static let overlay = disk(.overlay, "mount")
    /// `snapshot mount` as root.
    package static let fuse = Need(
        "FUSE", "\(asRoot), with /dev/fuse",
        access("/dev/fuse", R_OK | W_OK) == 0 && TestDisk.tmpfs(options: "size=1m").canMount)
    /// `snapshot mount` as another user.
    package static let fuseOfUsers = Need(
        "fusermount3", "\(asRoot), with a /dev/fuse that all may open; apt-get install fuse3",
        fuse.isMet && HostCommand.works(OrdinaryUser.prefix + ["fusermount3", "-V"])
            && HostCommand.works(OrdinaryUser.prefix + ["test", "-w", "/dev/fuse"]))
    package static let encryption = Need(
        "ext4 with encryption", "\(asRoot), with a kernel that has it",
        {
            guard geteuid() == 0, let directory = try? TemporaryDirectory(inMemory: true) else {
                return false
            }
            let mounted: Void? = try? TestDisk.ext4With(feature: "encrypt").mounted(at: directory.path) {
                // The root of the file system is not empty.
                let inner = "\(directory.path)/d"
                try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
                try Project.encrypt(inner)
            }
            return mounted != nil
        }())
    package static let immutableFiles = Need(
        "immutable files", "\(asRoot); apt-get install e2fsprogs",
        {
            guard geteuid() == 0, let directory = try? TemporaryDirectory() else { return false }
            defer { _ = HostCommand.works("chattr", "-ia", directory.path) }
            return HostCommand.works("chattr", "+i", directory.path)
        }())
    package static let otherFileSystem = Need(
        "a second file system that can be written to", "mount a tmpfs on /dev/shm",
        TemporaryDirectory.onOtherFileSystem != nil)

    package static let staticCommand = Need(
        "a command that needs no library", "FSYNC_LITE=$(scripts/build --static)",
        {
            guard let path = try? BuiltCommand.path(), let file = FileHandle(forReadingAtPath: path) else {
                return false
            }
            return !String(decoding: file.readData(ofLength: 4096), as: UTF8.self).contains("/ld-")
        }())

    /// A command of the machine.
    package static func tool(_ name: String, package: String? = nil) -> Need {
        Need(name, "apt-get install \(package ?? name)", HostCommand.isInstalled(name))
    }

    package static func file(_ path: String, package: String? = nil) -> Need {
        Need(
            path, package.map { "apt-get install \($0)" } ?? "another kernel",
            FileManager.default.fileExists(atPath: path))
    }

    /// An attribute that only some kernels and file systems can store.
    package static func attribute(_ name: String, _ isTaken: Bool) -> Need {
        Need("a file system that takes \(name)", "another kernel or file system", isTaken)
    }

    /// For the need of one part of a test. If it is missing, that is noted.
    package func isThere() -> Bool {
        if !isMet { NotTried.note(self) }
        return isMet
    }

    fileprivate var line: String { "not tried for want of \(name) (\(remedy))" }
    fileprivate var comment: Comment { "needs \(name): \(remedy)" }
}

extension Trait where Self == ConditionTrait {
    /// Runs the test only if all needs are met.
    package static func needs(_ needs: Need..., sourceLocation: SourceLocation = #_sourceLocation) -> Self {
        let comment = needs.first { !$0.isMet }?.comment
        return .enabled(comment, sourceLocation: sourceLocation) { needs.allSatisfy { $0.isThere() } }
    }
}

/// The missing needs. They are printed when the process ends.
private enum NotTried {
    private static let counts = Counts()

    private final class Counts: @unchecked Sendable {
        private let lock = NSLock()
        private var counts: [String: Int] = [:]

        init() {
            atexit { NotTried.tell() }
        }

        func count(_ line: String) { lock.withLock { counts[line, default: 0] += 1 } }
        var all: [String: Int] { lock.withLock { counts } }
    }

    static func note(_ need: Need) { counts.count(need.line) }

    private static func tell() {
        for (line, count) in counts.all.sorted(by: { $0.key < $1.key }) { print("\(count) \(line)") }
    }
}
