import FileSystem

/// Copying, moving, renaming.
///
/// `force: false` refuses a name that exists, checked atomically; `force: true` replaces atomically. The old file is
/// never deleted first. A directory replaces an empty one only.
extension LocalFile {
    /// Copies a regular file, or a directory with its content: what is in it, and permission bits. Symlinks in a directory
    /// stay symlinks. The copy is complete and durable, or does not exist.
    ///
    /// - Throws: `refused` if the name exists; `stale` if the source changed meanwhile.
    public func copy(to destination: LocalFile, force: Bool = false) throws(SyncError) {
        let target = try destination.location()
        if try isDirectory {
            var copy = TreeCopy(.permissions)
            try self.copy(&copy, directory(), to: destination, target, force)
        } else {
            _ = try copy(from: location(), to: destination, target, force, wholly: false)
        }
    }

    private func copy(
        _ copy: inout TreeCopy, _ source: Directory, to destination: LocalFile, _ target: Location,
        _ force: Bool
    ) throws(SyncError) {
        try checkFree(destination, target, force)
        do throws(SystemError) {
            try copy.copy(source, to: target.name, in: target.directory, force ? .replace : .noReplace)
        } catch {
            switch error.errno {
            case .exists, .notEmpty: throw SyncError(.refused, path: destination.bytes, error.errno)
            case .stale: throw SyncError(.stale, path: error.path, "changed while it was copied")
            default: throw SyncError(error)
            }
        }
    }

    /// Moves to another path, atomically within a file system. To another file system, a regular file or a directory is
    /// copied, with owner, permissions and modification date, and deleted only when the copy is durable.
    ///
    /// - Throws: `refused` if the name exists; `stale` if the source changed while it was copied; then what changed stays.
    public func move(to destination: LocalFile, force: Bool = false) throws(SyncError) {
        let (source, target) = (try location(), try destination.location())
        do {
            try LocalFile.rename(source, to: target, force)
        } catch {
            guard error.errno == Errno.crossDevice.rawValue else { throw error }
            let status = try reporting { () throws(SystemError) in
                try source.directory.status(of: source.name)
            }
            if status?.type == .directory {
                var copied = TreeCopy(.all)
                let top = try reporting { () throws(SystemError) in
                    try source.directory.directory(source.name)
                }
                try copy(&copied, top, to: destination, target, force)
                try reporting { () throws(SystemError) in
                    try TreeRemoval.remove(source.name, in: source.directory) { copied.isUnchanged($0) }
                    guard try source.directory.status(of: source.name) == nil else {
                        throw SystemError("unlinkat", bytes, .stale)
                    }
                    try source.directory.sync()
                }
                return
            }
            let copied = try copy(from: source, to: destination, target, force, wholly: true)
            try reporting { () throws(SystemError) in
                // RACE: a write between this check and the deletion is lost with the old file. A file that was replaced
                // by another stays.
                guard let now = try source.directory.status(of: source.name), now.isSameState(as: copied)
                else {
                    throw SystemError("unlinkat", bytes, .stale)
                }
                try source.directory.unlink(source.name)
                try source.directory.sync()
            }
        }
    }

    /// Renames the file in its directory and returns it under the new name.
    ///
    /// - Throws: `refused` if the name exists; `usage` for an invalid name.
    @discardableResult
    public func rename(to newName: String, force: Bool = false) throws(SyncError) -> LocalFile {
        guard let name = FileName(newName.utf8) else {
            throw .noName(newName)
        }
        let source = try location()
        try LocalFile.rename(source, to: Location(directory: source.directory, name: name), force)
        return parent + newName
    }

    private static func rename(_ source: Location, to target: Location, _ force: Bool) throws(SyncError) {
        do throws(SystemError) {
            let before = force ? try source.directory.status(of: source.name) : nil
            try source.directory.rename(
                source.name, to: target.directory, target.name, force ? .replace : .noReplace)
            // For two names of one file, `rename` does nothing and reports success. The old name still leads to that
            // file, which keeps the new one.
            if let before, before.links > 1, before.type != .directory,
                let left = try source.directory.status(of: source.name), left.inode == before.inode,
                try !isSameName(source, target)
            {
                try source.directory.unlink(source.name)
            }
            try target.directory.sync()
            if target.directory !== source.directory { try source.directory.sync() }
        } catch {
            // The existing name is the new one.
            guard error.errno == .exists || error.errno == .notEmpty else { throw SyncError(error) }
            throw SyncError(.refused, path: target.directory.path(of: target.name), error.errno)
        }
    }

    private static func isSameName(_ source: Location, _ target: Location) throws(SystemError) -> Bool {
        guard source.name == target.name else { return false }
        return try source.directory.status().isSameObject(as: target.directory.status())
    }

    /// Returns the status of what was copied.
    private func copy(
        from source: Location, to destination: LocalFile, _ target: Location, _ force: Bool, wholly: Bool
    ) throws(SyncError) -> FileStatus {
        let file = try reporting { () throws(SystemError) in
            try source.directory.open(
                source.name, wholly ? [.read, .nonBlocking, .noFollow] : [.read, .nonBlocking])
        }
        let before = try naming { () throws(Errno) in try file.status() }
        guard before.type == .file else {
            throw SyncError(.failed, path: bytes, "is no regular file", errno: Errno.invalid.rawValue)
        }
        try checkFree(destination, target, force)
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

    /// The commit decides; this check only avoids a useless copy.
    private func checkFree(
        _ destination: LocalFile, _ target: Location, _ force: Bool
    ) throws(SyncError) {
        let taken = try reporting { () throws(SystemError) in try target.directory.status(of: target.name) }
        if !force, taken != nil { throw SyncError(.refused, path: destination.bytes, .exists) }
    }
}
