import FileSystem

/// Documents that are input: patterns, settings, saved plans, manifests.
extension LocalFile {
    /// Opens a file, or what a shell has in its place: a pipe, `/dev/stdin`, a terminal. A pipe is waited for, and can
    /// be read once.
    ///
    /// - Parameter isNamed: a person named it. What is only looked for is never waited for, and is a regular file.
    /// - Throws: `inputMissing` where nothing is, `invalidDocument` for a directory and what else holds no document.
    func openInput(isNamed: Bool = true) throws(SyncError) -> FileDescriptor {
        do throws(SyncError) {
            let place = try place()
            let file = try reporting { () throws(SystemError) in
                try place.directory.open(place.name, isNamed ? [.read] : [.read, .nonBlocking])
            }
            switch try naming({ () throws(Errno) in try file.status() }).type {
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
    /// - Parameter limit: in bytes; a larger one is an `invalidDocument`, and is not read to its end.
    package func input(limit: Int, isNamed: Bool = true) throws(SyncError) -> [UInt8] {
        let file = try openInput(isNamed: isNamed)
        do throws(SyncError) {
            return try naming { () throws(Errno) in try file.readAll(limit: limit) }
        } catch {
            guard error.errno == Errno.fileTooLarge.rawValue else { throw error }
            throw SyncError(.invalidDocument, path: bytes, .fileTooLarge)
        }
    }
}
