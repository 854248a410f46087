import FileStorage
import FileSystem

extension LocalFile {
    /// - Parameter title: the role of the directory for the user who named it, such as `the source`.
    /// - Throws: `inputMissing` if the path leads to another type; an error with `isNotFound` if it does not exist.
    package func directory(_ title: String) throws(SyncError) -> Directory {
        do {
            return try directory()
        } catch {
            guard error.errno == Errno.notDirectory.rawValue else { throw error }
            let type = try? status.type
            let kind = type == .file ? "is a file, not a directory" : "is not a directory"
            throw SyncError(
                .inputMissing, path: bytes,
                "\(title) \(type == nil ? "cannot exist: a part of its path is a file" : kind)")
        }
    }
}
