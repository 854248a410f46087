import FileStorage
import FileSystem

extension LocalFile {
    /// The output file that a user named. A regular file, also behind a symlink, is replaced atomically or created,
    /// with permissions for this user only. Another object, such as `/dev/stdout` or a FIFO, is written to. As in a
    /// log, a file or symlink that another user made there is refused.
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
