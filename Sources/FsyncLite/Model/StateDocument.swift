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
        try CodableStorage(DiskStorage(directory, sizeLimit: limit), keys: .snakeCase)
            .document(name, in: directory)
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
            throw SyncError(.invalidDocument, path: directory.path(of: name), "\(error)")
        }
    }
}
