import FileStorage
import FileSystem

extension TargetRoot {
    /// Whether a process holds the lock on the target's root, by the kernel's list of locks. Trying to take the lock
    /// could make a run fail that starts at this moment.
    ///
    /// - Parameter process: nil for any.
    func isLocked(by process: Int32? = nil) throws -> Bool {
        guard let inode = try directory?.trueStatus().inode else { return false }
        let locks = try Directory.open(path: Array("/proc".utf8)).open(FileName("locks"), [.read])
        let list = try calling("read", Array("/proc/locks".utf8)) { () throws(Errno) in try locks.readAll() }
        // For example `1: FLOCK  ADVISORY  WRITE 4242 08:01:131073 0 EOF`.
        return String(decoding: list, as: UTF8.self).split(separator: "\n").contains { line in
            let fields = line.split(separator: " ")
            return fields.count > 5 && fields[1] == "FLOCK"
                && process.map { fields[4] == "\($0)" } ?? true
                && fields[5].split(separator: ":").last == "\(inode)"
        }
    }

    /// Takes the lock on the target's root. It is released when the process ends or this value is deinitialized.
    ///
    /// - Parameter breaking: takes the lock over from a run on another machine.
    /// - Throws: `SyncError` with code `locked` if another run holds it.
    func lock(breaking: Bool = false) throws {
        lockFile.isWanted = true
        guard let directory else { return }
        do {
            try directory.lock()
        } catch  where error.errno == .wouldBlock {
            throw SyncError(.locked, path: path, "another fsync-lite is writing to this target")
        }
        // RACE: the path may have led to another directory before the lock was taken. Two runs would then write to what
        // each takes for the target.
        guard try LocalFile(bytes: path).directory().isSame(as: directory) else {
            throw SyncError(.locked, path: path, "another directory has just taken this path; run again")
        }
        if let state { try lockFile.take(in: state, of: path, breaking: breaking) }
    }
}
