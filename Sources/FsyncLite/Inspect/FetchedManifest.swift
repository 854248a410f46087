import FileStorage
import FileSystem

/// A manifest of another machine, in a file without a name.
package final class FetchedManifest: Sendable {
    private let file: FileDescriptor

    private static let name = Array("a temporary file; TMPDIR names the directory for it".utf8)

    package init() throws {
        do {
            file = try HostProcess.temporaryFile()
        } catch {
            throw SyncError(
                .failed, path: error.path,
                "no temporary file can be made there; TMPDIR names another directory",
                errno: error.errno.rawValue)
        }
    }

    package func append(_ bytes: ArraySlice<UInt8>) throws {
        try calling("write", FetchedManifest.name) { () throws(Errno) in try file.write(Array(bytes)) }
    }

    /// Opens the file at its beginning, with a position of its own.
    func open() throws -> FileDescriptor {
        try calling("open", FetchedManifest.name) { () throws(Errno) in try file.reopened() }
    }
}
