import FileStorage
import FileSystem

/// A manifest of another machine, in a file without a name.
package final class FetchedManifest: Sendable {
    private let file: FileDescriptor

    package init() throws { file = try HostProcess.temporaryFile() }

    package func append(_ bytes: ArraySlice<UInt8>) throws {
        try calling("write", Array("a temporary file".utf8)) { () throws(Errno) in
            try file.write(Array(bytes))
        }
    }

    /// Opens it at its beginning, with a position of its own.
    func open() throws -> FileDescriptor {
        try LocalFile("/proc/self/fd/\(file.rawValue)").openInput()
    }
}
