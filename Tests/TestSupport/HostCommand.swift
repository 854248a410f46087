import Foundation

/// A tool of the machine that a test needs. Variables may come before it, as for `env`.
package enum HostCommand {
    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs it. It must succeed.
    package static func run(_ words: String...) throws {
        let code = try SpawnedProcess(["env"] + words).wait()
        guard code == 0 else { throw failure(words, code) }
    }

    package static func works(_ words: String...) -> Bool { works(words) }

    package static func works(_ words: [String]) -> Bool {
        (try? SpawnedProcess(["env"] + words).wait()) == 0
    }

    /// Its output.
    package static func output(_ words: String...) throws -> String { try output(words) }

    package static func output(_ words: [String]) throws -> String {
        let result = try HostCommand.result(words)
        guard result.code == 0 else { throw failure(words, result.code) }
        return String(decoding: result.output, as: UTF8.self)
    }

    /// Its exit code and output.
    package static func result(
        _ words: [String], input: String = "/dev/null"
    ) throws -> (code: Int32, output: Data) {
        // The output is a file, because an unread pipe becomes full.
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/output"
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        let code = try SpawnedProcess(["env"] + words, input: input, output: file.fileDescriptor).wait()
        return (code, try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private static func failure(_ words: [String], _ code: Int32) -> Failure {
        Failure(description: "\(words.joined(separator: " ")): exit \(code)")
    }

    /// Whether the machine has it.
    package static func isInstalled(_ name: String) -> Bool {
        works("sh", "-c", "command -v \(name)")
    }
}

/// A file system that a test mounts for a while.
package enum TestDisk: Sendable {
    case tmpfs(options: String)
    /// A new ext4 in a file.
    case ext4(megabytes: Int)
    /// An ext4 with a feature of `mkfs.ext4`.
    case ext4With(feature: String)
    /// An ext4 with times of whole seconds.
    case ext4OfSeconds
    /// An ext4 with few inodes.
    case ext4Holding(inodes: Int)
    /// The smallest btrfs in a file.
    case btrfs
    /// The smallest XFS in a file.
    case xfs
    /// A file that contains a file system.
    case image(String)
    /// A second mount of an existing path.
    case bind(String)
    /// File systems for weak commits.
    case exfat, ntfs, bindfs, overlay

    package static let weak: [TestDisk] = [.exfat, .ntfs, .bindfs, .overlay]

    package var canMount: Bool {
        guard geteuid() == 0, let directory = try? TemporaryDirectory(inMemory: true) else { return false }
        return (try? mounted(at: directory.path) {}) != nil
    }

    /// Mounts it on a directory while `body` runs.
    @discardableResult
    package func mounted<Value>(at path: String, _ body: () throws -> Value) throws -> Value {
        let image = "\(path).image"
        switch self {
        case .tmpfs(let options): try HostCommand.run("mount", "-t", "tmpfs", "-o", options, "tmpfs", path)
        case .bind(let other): try HostCommand.run("mount", "--bind", other, path)
        case .image(let image): try HostCommand.run("mount", "-o", "loop", image, path)
        case .exfat:
            return try inUserSpace("mkfs.exfat", "mount.exfat-fuse", at: path, body)
        case .ntfs:
            return try inUserSpace("mkntfs -Q -F", "mount.ntfs-3g", at: path, body)
        case .bindfs, .overlay:
            let back = "\(path).layers"
            defer { try? FileManager.default.removeItem(atPath: back) }
            for name in ["lower", "upper", "work"] {
                try FileManager.default.createDirectory(
                    atPath: "\(back)/\(name)", withIntermediateDirectories: true)
            }
            let layers = "lowerdir=\(back)/lower,upperdir=\(back)/upper,workdir=\(back)/work"
            if case .bindfs = self {
                try HostCommand.run("bindfs", "\(back)/upper", path)
            } else {
                try HostCommand.run("mount", "-t", "overlay", "-o", layers, "overlay", path)
            }
            defer { _ = HostCommand.works("umount", "--lazy", path) }
            return try body()
        default:
            // Once it is mounted, the loop device has it open.
            defer { unlink(image) }
            try makeFileSystem(in: image)
            try HostCommand.run("mount", "-o", "loop", image, path)
        }
        defer { _ = HostCommand.works("umount", "--lazy", path) }
        return try body()
    }

    /// Uses a loop device, because a portable disk is a device.
    private func inUserSpace<Value>(
        _ make: String, _ mount: String, at path: String, _ body: () throws -> Value
    ) throws -> Value {
        let image = "\(path).image"
        try TestDisk.makeFile(image, megabytes: 64)
        defer { unlink(image) }
        try HostCommand.run("sh", "-c", "exec \(make) '\(image)'")
        let device = try HostCommand.output("losetup", "-f", "--show", image)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        defer { _ = HostCommand.works("losetup", "-d", device) }
        try HostCommand.run(mount, device, path)
        // Not a lazy unmount: the process of the file system writes to the device until it ends.
        defer { _ = HostCommand.works("umount", path) }
        return try body()
    }

    private func makeFileSystem(in image: String) throws {
        switch self {
        case .tmpfs, .bind, .image, .exfat, .ntfs, .bindfs, .overlay: break
        case .ext4(let megabytes): try TestDisk.makeImage(image, megabytes: megabytes)
        case .ext4With(let feature):
            try TestDisk.makeFile(image, megabytes: 32)
            try HostCommand.run("mkfs.ext4", "-q", "-I", "256", "-O", feature, image)
        case .ext4OfSeconds:
            try TestDisk.makeFile(image, megabytes: 16)
            try HostCommand.run("mkfs.ext4", "-q", "-I", "128", image)
        case .ext4Holding(let inodes):
            try TestDisk.makeFile(image, megabytes: 16)
            try HostCommand.run("mkfs.ext4", "-q", "-N", "\(inodes)", image)
        case .btrfs:
            try TestDisk.makeFile(image, megabytes: 128)
            try HostCommand.run("mkfs.btrfs", "-q", "-f", image)
        case .xfs:
            try TestDisk.makeFile(image, megabytes: 300)
            try HostCommand.run("mkfs.xfs", "-q", "-f", image)
        }
    }

    /// Makes a file that contains an empty ext4.
    package static func makeImage(_ path: String, megabytes: Int) throws {
        try makeFile(path, megabytes: megabytes)
        try HostCommand.run("mkfs.ext4", "-q", "-O", "^has_journal", "-E", "lazy_itable_init=1", path)
    }

    private static func makeFile(_ path: String, megabytes: Int) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            truncate(path, megabytes << 20) == 0
        else { throw TreeError("truncate", Array(path.utf8)) }
    }
}
