import FileSystem

/// Copying, moving, renaming.
///
/// `force: false` refuses a name that is taken, and decides that in the step that takes it; `force: true`
/// replaces in one step. The old file is never deleted first.
extension LocalFile {
    /// Copies a regular file: content and permission bits. The copy is durable and whole, or not there.
    ///
    /// - Throws: `refused` for a name that is taken; `stale` for a source that changed meanwhile.
    public func copy(to destination: LocalFile, force: Bool) throws(SyncError) {
        _ = try copy(from: place(), to: destination, destination.place(), force, wholly: false)
    }

    /// Moves to another path. Within a file system that is one step, for a directory too. A regular file
    /// also moves to another file system, with owner, permissions and modification date: it is copied, and
    /// goes only when the copy is durable.
    ///
    /// - Throws: `refused` for a name that is taken; `stale` for a source that changed while it was copied,
    ///   which then stays.
    public func move(to destination: LocalFile, force: Bool) throws(SyncError) {
        let (source, target) = (try place(), try destination.place())
        do {
            try LocalFile.rename(source, to: target, force)
        } catch {
            guard error.errno == Errno.crossDevice.rawValue else { throw error }
            let copied = try copy(from: source, to: destination, target, force, wholly: true)
            try reporting { () throws(SystemError) in
                // RACE: a write between this look and the deletion goes with the old file. A file that was
                // swapped for another stays.
                guard let now = try source.directory.status(of: source.name), now.isSameState(as: copied)
                else {
                    throw SystemError("unlinkat", bytes, .stale)
                }
                try source.directory.unlink(source.name)
                try source.directory.sync()
            }
        }
    }

    /// Gives it another name in the same directory, and returns it under that name.
    ///
    /// - Throws: `refused` for a name that is taken; `usage` for what cannot be a name.
    @discardableResult
    public func rename(to newName: String, force: Bool) throws(SyncError) -> LocalFile {
        guard let name = FileName(newName.utf8) else {
            throw SyncError(.usage, path: Array(newName.utf8), "is no name", errno: Errno.invalid.rawValue)
        }
        let source = try place()
        try LocalFile.rename(source, to: Place(directory: source.directory, name: name), force)
        return parent + newName
    }

    private static func rename(_ source: Place, to target: Place, _ force: Bool) throws(SyncError) {
        do throws(SystemError) {
            let before = force ? try source.directory.status(of: source.name) : nil
            try source.directory.rename(
                source.name, to: target.directory, target.name, force ? .replace : .noReplace)
            // Two names of one file: the kernel then does nothing and says that it has. The name that goes is
            // still that file's, which the other name keeps.
            if let before, before.links > 1, before.type != .directory,
                let left = try source.directory.status(of: source.name), left.inode == before.inode,
                try !isSameName(source, target)
            {
                try source.directory.unlink(source.name)
            }
            try target.directory.sync()
            if target.directory !== source.directory { try source.directory.sync() }
        } catch {
            // The name that is in the way is the new one.
            guard error.errno == .exists || error.errno == .notEmpty else { throw SyncError(error) }
            throw SyncError(.refused, path: target.directory.path(of: target.name), error.errno)
        }
    }

    private static func isSameName(_ source: Place, _ target: Place) throws(SystemError) -> Bool {
        guard source.name == target.name else { return false }
        return try source.directory.status().isSameObject(as: target.directory.status())
    }

    /// Returns the status of what was copied.
    private func copy(
        from source: Place, to destination: LocalFile, _ target: Place, _ force: Bool, wholly: Bool
    ) throws(SyncError) -> FileStatus {
        let file = try reporting { () throws(SystemError) in
            try source.directory.open(
                source.name, wholly ? [.read, .nonBlocking, .noFollow] : [.read, .nonBlocking])
        }
        let before = try naming { () throws(Errno) in try file.status() }
        guard before.type == .file else {
            throw SyncError(.failed, path: bytes, "is no regular file", errno: Errno.invalid.rawValue)
        }
        // The answer is the commit's; this one only saves the copying.
        let taken = try reporting { () throws(SystemError) in try target.directory.status(of: target.name) }
        if !force, taken != nil { throw SyncError(.refused, path: destination.bytes, .exists) }
        let pending = try reporting { () throws(SystemError) in
            try PendingFile(target.name, in: target.directory)
        }
        try reporting { () throws(SystemError) in
            _ = try pending.copy(file)
            if wholly {
                try pending.setAttributes(like: before)
            } else {
                try pending.setPermissions(before.permissions & 0o777)
            }
        }
        guard try naming({ () throws(Errno) in try file.status() }).isSameState(as: before) else {
            throw SyncError(.stale, path: bytes, "changed while it was copied")
        }
        do throws(SystemError) {
            try pending.commit(force ? .replace : .noReplace)
        } catch {
            guard error.errno == .exists else { throw SyncError(error) }
            throw SyncError(.refused, path: destination.bytes, error.errno)
        }
        return before
    }
}

extension FileStatus {
    /// The same object, and nothing was written to it or changed about it.
    fileprivate func isSameState(as other: FileStatus) -> Bool {
        isSameObject(as: other) && size == other.size && modified == other.modified
            && changed == other.changed
    }
}
