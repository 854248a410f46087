import FileStorage
import FileSystem

extension LocalFile {
    /// The output file that a user named: a regular file, also behind a symlink, is replaced atomically or created, for
    /// this user only; anything else, such as `/dev/stdout` or a FIFO, is written to. What another user has put there is
    /// refused as in `append`.
    package func output() throws(SyncError) -> PendingFile {
        let place = try place()
        if place.isNamed, place.status?.type ?? .file == .file {
            return try place.file.pendingReplacement(new: 0o600)
        }
        return try reporting { () throws(SystemError) in
            try PendingFile(through: place.location.name, in: place.location.directory)
        }
    }
}
