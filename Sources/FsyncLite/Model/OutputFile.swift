import FileStorage
import FileSystem

extension LocalFile {
    /// The output file that a user named: a regular file, also behind a symlink, is replaced atomically or created, for
    /// this user only; anything else, such as `/dev/stdout` or a FIFO, is written to. What another user has put there is
    /// refused as in a log.
    package func output() throws(SyncError) -> PendingFile {
        let place = try place()
        return try reporting { () throws(SystemError) in
            let (name, directory) = (place.location.name, place.location.directory)
            guard place.isNamed, place.status?.type ?? .file == .file else {
                return try PendingFile(through: name, in: directory)
            }
            return try PendingFile.replacing(name, in: directory, new: 0o600)
        }
    }
}
