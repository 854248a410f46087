import FileStorage
import FileSystem

extension CodableStorage {
    /// Reads one of the program's own documents in an open directory.
    ///
    /// - Parameter limit: in bytes. A larger document is refused, and is not read to its end.
    /// - Throws: `invalidDocument`, also if there is no file.
    static func document<Value: Decodable>(
        _ name: FileName, in directory: Directory, limit: Int
    ) throws(SyncError) -> Value {
        try storage(in: directory, limit: limit).document(name, in: directory)
    }

    /// The same; nil if the document is damaged, or if there is none.
    ///
    /// - Throws: the error of the kernel if the document cannot be read. It may be whole.
    static func documentIfWhole<Value: Decodable>(
        _ name: FileName, in directory: Directory, limit: Int
    ) throws(SyncError) -> Value? {
        do {
            return try storage(in: directory, limit: limit).value(for: name.description)
        } catch {
            guard case .cannotRead(_, let cause as SyncError) = error, let errno = cause.errno,
                errno != Errno.tooManyLinks.rawValue
            else { return nil }
            throw cause
        }
    }

    private static func storage(in directory: Directory, limit: Int) -> CodableStorage {
        CodableStorage(DiskStorage(directory, sizeLimit: limit), keys: .snakeCase)
    }

    /// - Parameter directory: for messages.
    func document<Value: Decodable>(
        _ name: FileName, in directory: Directory
    ) throws(SyncError) -> Value {
        do {
            return try value(for: name.description)
        } catch {
            // The owner of the file is a better cause than that it cannot be read.
            if case .cannotRead(_, let cause as SyncError) = error, cause.code == .refused { throw cause }
            // The path has the key.
            let reason =
                if case .cannotDecode(_, let cause) = error { "it is damaged: \(cause)" } else { "\(error)" }
            throw SyncError(.invalidDocument, path: directory.path(of: name), reason)
        }
    }
}
