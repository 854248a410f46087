import FileStorage
import FileSystem

/// A directory of the user in which this program stores its own records.
enum RecordDirectory {
    private static let lock = FileName("lock")

    /// Opens the directory, and makes it if it is missing. `serve` may be confined to another directory, so this does
    /// not use the calls for paths that a user gave.
    static func make(_ directory: LocalFile) throws -> Directory {
        do throws(SystemError) {
            return try Directory.open(path: directory.bytes)
        } catch {
            guard error.errno == .noSuchFile,
                let name = directory.bytes.split(separator: UInt8(ascii: "/")).last.flatMap({ FileName($0) })
            else { throw error }
            let parent = try make(directory.parent)
            do throws(SystemError) {
                try parent.makeDirectory(name, permissions: 0o755)
                // Regardless of the umask, everybody may ask for the age of root's targets.
                if Account.isRoot { try ObjectHandle(name, in: parent).setPermissions(0o755) }
            } catch {
                guard error.errno == .exists else { throw error }
            }
            return try parent.directory(name)
        }
    }

    /// The longest wait for the record. Runs that end at the same time write theirs one after the other.
    private static let patience = Duration.seconds(2)

    /// Runs `body` while no other process changes the records. The lock is on a file that only its owner can open,
    /// because anybody could lock the directory.
    ///
    /// - Throws: `SyncError` with code `locked` if another process has the lock for too long.
    static func locked<Result>(_ directory: Directory, _ body: () throws -> Result) throws -> Result {
        let file = try directory.open(lock, [.readWrite, .create, .noFollow], permissions: 0o600)
        do throws(SystemError) {
            try calling("flock", directory.path(of: lock)) { () throws(Errno) in
                try file.lock(waiting: patience)
            }
        } catch {
            guard error.errno == .wouldBlock else { throw error }
            throw SyncError(
                .locked, path: directory.path(of: lock), "another process has had this lock for \(patience)")
        }
        defer { file.unlock() }
        return try body()
    }
}
