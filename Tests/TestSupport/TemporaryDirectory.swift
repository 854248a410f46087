import FileStorage
import FileSystem
import Foundation
import FsyncLite

/// A directory of its own for one test, deleted with all that is in it when the object goes.
package final class TemporaryDirectory: Sendable {
    package let path: String

    /// - Parameter inMemory: where a sync costs nothing, if there is such a place: for tests of many commits.
    package init(inMemory: Bool = false) throws {
        let shared = "/dev/shm"
        let parent =
            inMemory && FileManager.default.isWritableFile(atPath: shared)
            ? URL(fileURLWithPath: shared) : FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        let directory = parent.appendingPathComponent("fsync-lite-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        path = directory.path
    }

    /// Makes one at a path that a test chooses.
    package init(at path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        self.path = path
    }

    deinit {
        // What a test made unreadable stays behind; that is no reason for it to fail.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The directory itself as the library sees it.
    package var file: LocalFile { LocalFile(path) }

    /// The directory, open.
    package func open() throws -> Directory { try Directory.open(path: Array(path.utf8)) }

    package func makeSymlink(_ name: String, to destination: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: "\(path)/\(name)", withDestinationPath: destination)
    }

    package func makeHardLink(_ name: String, to other: String) throws {
        try FileManager.default.linkItem(atPath: "\(path)/\(other)", toPath: "\(path)/\(name)")
    }

    /// The path of a directory on another file system than the temporary one's; nil where there is none.
    package static var onOtherFileSystem: String? {
        let candidate = "/dev/shm"
        var (here, there) = (stat(), stat())
        guard stat(NSTemporaryDirectory(), &here) == 0, stat(candidate, &there) == 0,
            here.st_dev != there.st_dev, access(candidate, W_OK) == 0
        else { return nil }
        return candidate
    }
}
