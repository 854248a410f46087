import FileSystem

extension TargetRoot {
    /// Takes the lock on the target's root, which ends with the process or with this value.
    ///
    /// - Throws: `SyncError` with code `locked` while another run has it.
    func lock() throws {
        guard let directory else { return }
        do {
            try directory.lock()
        } catch  where error.errno == .wouldBlock {
            throw SyncError(.locked, path: path, "another fsync-lite is writing to this target")
        }
        // RACE: the path led to another directory before the lock was taken. Two runs would then write to
        // what each takes for the target.
        guard try LocalFile(bytes: path).directory().status().isSameObject(as: directory.status()) else {
            throw SyncError(.locked, path: path, "another directory took this place just now; run again")
        }
    }
}
