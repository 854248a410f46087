import FileStorage
import FileSystem
import Foundation
import FsyncLite

/// A directory for one test. It is deleted with its content when the object is released.
package final class TemporaryDirectory: Sendable {
    package let path: String

    /// - Parameter inMemory: use a file system in memory if there is one, where many commits are fast.
    package init(inMemory: Bool = false) throws {
        let shared = "/dev/shm"
        let parent =
            inMemory && FileManager.default.isWritableFile(atPath: shared)
            ? URL(fileURLWithPath: shared) : FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        let directory = parent.appendingPathComponent("fsync-lite-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        path = directory.path
    }

    /// Makes one at the path that a test chooses.
    package init(at path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        self.path = path
    }

    deinit {
        // An unreadable file may remain. The test does not fail because of it.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The directory as the library sees it.
    package var file: LocalFile { LocalFile(path) }

    /// Opens the directory.
    package func open() throws -> Directory { try Directory.open(path: Array(path.utf8)) }

    package func makeSymlink(_ name: String, to destination: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: "\(path)/\(name)", withDestinationPath: destination)
    }

    package func makeHardLink(_ name: String, to other: String) throws {
        try FileManager.default.linkItem(atPath: "\(path)/\(other)", toPath: "\(path)/\(name)")
    }

    /// The path of a directory on another file system; nil if there is none.
    package static var onOtherFileSystem: String? {
        let candidate = "/dev/shm"
        var (here, there) = (stat(), stat())
        guard stat(NSTemporaryDirectory(), &here) == 0, stat(candidate, &there) == 0,
            here.st_dev != there.st_dev, access(candidate, W_OK) == 0
        else { return nil }
        return candidate
    }
}
