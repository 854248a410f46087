import FileStorage
import FileSystem

extension TargetRoot {
    /// Whether a process has the lock on the target. This does not try to take the lock, because a run that starts at
    /// this moment could fail.
    ///
    /// - Parameter process: only this process; nil for any.
    func isLocked(by process: Int32? = nil) throws -> Bool {
        guard let locked = state?.directory ?? directory else { return false }
        let holders = try locked.lockHolders()
        return process.map(holders.contains) ?? !holders.isEmpty
    }

    /// Takes the lock on the target's state, which only its owner can open. Also takes the lock on its root, which
    /// earlier versions ask for. Both are released when the process ends or this value is deinitialized.
    ///
    /// - Parameter breaking: takes the lock over from a run on another machine.
    /// - Returns: a note about another user who has the lock on the root.
    /// - Throws: `SyncError` with code `locked` if another run has it.
    @discardableResult
    func lock(breaking: Bool = false) throws -> String? {
        lockFile.isWanted = true
        guard let directory else { return nil }
        if let state { try lock(state) }
        let note = try directory.lockRoot(of: path)
        // RACE: the path may have led to another directory before the lock was taken. Two runs would then write to what
        // each treats as the target.
        guard try LocalFile(bytes: path).directory().isSame(as: directory) else {
            throw SyncError(.locked, path: path, "another directory has just taken this path; run again")
        }
        guard let state else { return note }
        try lockFile.take(in: state, of: path, breaking: breaking)
        if state.mark == .missing { try state.directory.markAsState() }
        return note
    }

    /// Locks the state, which this value may have just made.
    func lock(_ state: StateDirectory) throws {
        do {
            try state.directory.lock()
        } catch  where error.errno == .wouldBlock {
            throw SyncError(.locked, path: path, "another fsync-lite is writing to this target")
        }
        // RACE: another run may have moved or removed it before the lock was taken. Two runs would then write to one
        // target.
        let found = try directory.flatMap { try StateDirectory.found(of: $0) }
        guard found?.isBeside == state.isBeside, try found?.directory.isSame(as: state.directory) == true
        else { throw SyncError(.locked, path: path, "another run has just moved its state; run again") }
        lockFile.hold(state.directory)
    }
}

extension Directory {
    /// Takes the lock that runs of earlier versions ask for. Any user who can open this directory can have that lock
    /// for any time. So this is no reason to stop.
    ///
    /// - Returns: a note about such a process.
    @discardableResult
    func lockRoot(of target: [UInt8]) throws -> String? {
        do throws(SystemError) {
            try lock()
            return nil
        } catch {
            guard error.errno == .wouldBlock else { throw error }
        }
        let isOwn =
            try fileSystem?.capabilities.showsMountOwner ?? false
            || lockHolders().contains { try HostProcess.effectiveUser(of: $0) == Account.effectiveUser }
        guard !isOwn else {
            throw SyncError(.locked, path: target, "another fsync-lite is writing to this target")
        }
        return
            "a process of another user holds a lock on \(escapedText(path)); only the lock on its state matters"
    }

    /// The processes that have a lock on this directory, in the kernel's list. It may lack those of other containers.
    func lockHolders() throws -> [Int32] {
        let status = try trueStatus()
        // For example `1: FLOCK  ADVISORY  WRITE 4242 08:01:131073 0 EOF`. On btrfs, the device is another one.
        return try HostFile.text("/proc/locks").split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 5, fields[1] == "FLOCK",
                fields[5].split(separator: ":").last == "\(status.inode)"
            else { return nil }
            return Int32(fields[4])
        }
    }
}
