import FileSystem

/// Input documents that a user names.
extension LocalFile {
    /// Opens a file, or what a shell passes instead: a pipe, `/dev/stdin`, a terminal. A pipe blocks until its writer
    /// comes, and can be read once.
    ///
    /// - Parameter isNamed: a user named the file. Otherwise it must be regular, and opening never blocks.
    /// - Throws: `inputMissing` if it does not exist, `invalidDocument` for a directory or another type without
    ///   content.
    package func openInput(isNamed: Bool = true) throws(SyncError) -> FileDescriptor {
        do throws(SyncError) {
            let file = try location().open(isNamed ? .read : [.read, .nonBlocking])
            switch try naming(file.status()).type {
            case .file: return file
            case .fifo, .characterDevice:
                if isNamed { return file }
                throw SyncError(.invalidDocument, path: bytes, "is no regular file")
            case .directory: throw SyncError(.invalidDocument, path: bytes, .isDirectory)
            default: throw SyncError(.invalidDocument, path: bytes, "is neither a file nor a pipe")
            }
        } catch {
            guard error.isNotFound else { throw error }
            throw SyncError(.inputMissing, path: bytes, "there is no such file", errno: error.errno)
        }
    }

    /// The whole content of such a document.
    ///
    /// - Parameter limit: in bytes; a larger one is an `invalidDocument` and is not read to its end.
    package func input(limit: Int, isNamed: Bool = true) throws(SyncError) -> [UInt8] {
        let file = try openInput(isNamed: isNamed)
        do throws(SyncError) {
            return try naming(file.readAll(limit: limit))
        } catch {
            guard error.errno == Errno.fileTooLarge.rawValue else { throw error }
            throw SyncError(.invalidDocument, path: bytes, .fileTooLarge)
        }
    }
}
