import FileStorage
import FileSystem

/// Input documents that a user names.
extension LocalFile {
    /// Opens a file, or a pipe, `/dev/stdin` or a terminal that a shell passes instead. A pipe blocks until it has a
    /// writer, and can be read once.
    ///
    /// - Throws: `inputMissing` if it does not exist; `invalidDocument` for a directory or a type without content.
    package func openInput() throws(SyncError) -> FileDescriptor {
        do throws(SyncError) {
            let file = try location().open(.read)
            switch try naming(file.status()).type {
            case .file, .fifo, .characterDevice: return file
            case .directory: throw SyncError(.invalidDocument, path: bytes, .isDirectory)
            default: throw SyncError(.invalidDocument, path: bytes, "is neither a file nor a pipe")
            }
        } catch {
            guard error.isNotFound else { throw error }
            throw SyncError(.inputMissing, path: bytes, "there is no such file", errno: error.errno)
        }
    }

    /// The whole content of an input document.
    ///
    /// - Parameter limit: in bytes. A larger document is `invalidDocument` and is not read to its end.
    package func input(limit: Int) throws(SyncError) -> [UInt8] {
        let file = try openInput()
        do throws(SyncError) {
            return try naming(file.readAll(limit: limit))
        } catch {
            guard error.errno == Errno.fileTooLarge.rawValue else { throw error }
            throw SyncError(.invalidDocument, path: bytes, .fileTooLarge)
        }
    }
}
