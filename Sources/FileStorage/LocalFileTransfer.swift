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
            try self.copy(directory(), with: &copy, to: target, force)
        } else {
            _ = try copy(location().open([.read, .nonBlocking]), to: target, force)
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
            if try source.status()?.type == .directory {
                var copy = TreeCopy(.all)
                try self.copy(
                    reporting(source.directory.directory(source.name)), with: &copy, to: target, force)
                try reporting { () throws(SystemError) in
                    try TreeRemoval.remove(source.name, in: source.directory) { copy.isUnchanged($0) }
                }
                guard try source.status() == nil else { throw stale }
            } else {
                let copied = try copy(
                    source.open([.read, .nonBlocking, .noFollow]), to: target, force, wholly: true)
                // RACE: a write between this check and the deletion is lost with the old file. A file that was replaced
                // by another stays.
                guard let now = try source.status(), now.isSameState(as: copied) else { throw stale }
                try reporting(source.directory.unlink(source.name))
            }
            try reporting(source.directory.sync())
        }
    }

    private var stale: SyncError { SyncError(.stale, path: bytes, "changed while it was copied") }

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
            throw failure(error, target)
        }
    }

    private static func isSameName(_ source: Location, _ target: Location) throws(SystemError) -> Bool {
        guard source.name == target.name else { return false }
        return try source.directory.status().isSameObject(as: target.directory.status())
    }

    private func copy(
        _ source: Directory, with copy: inout TreeCopy, to target: Location, _ force: Bool
    ) throws(SyncError) {
        try LocalFile.checkFree(target, force)
        do throws(SystemError) {
            try copy.copy(source, to: target.name, in: target.directory, force ? .replace : .noReplace)
        } catch {
            throw LocalFile.failure(error, target)
        }
    }

    /// Returns the status of what was copied.
    private func copy(
        _ source: borrowing FileDescriptor, to target: Location, _ force: Bool, wholly: Bool = false
    ) throws(SyncError) -> FileStatus {
        let before = try naming(source.status())
        try checkIsRegular(before)
        try LocalFile.checkFree(target, force)
        let pending = try reporting(PendingFile(target.name, in: target.directory))
        _ = try reporting(pending.copy(source))
        if wholly {
            try reporting(pending.setAttributes(like: before))
        } else {
            try reporting(pending.setPermissions(before.permissions & 0o777))
        }
        guard try naming(source.status()).isSameState(as: before) else { throw stale }
        do throws(SystemError) {
            try pending.commit(force ? .replace : .noReplace)
        } catch {
            throw LocalFile.failure(error, target)
        }
        return before
    }

    /// The commit decides; this check only avoids a useless copy.
    private static func checkFree(_ target: Location, _ force: Bool) throws(SyncError) {
        if !force, try target.status() != nil { throw SyncError(.refused, path: target.path, .exists) }
    }

    /// Why a name is not taken. The name that exists is the new one.
    private static func failure(_ error: SystemError, _ target: Location) -> SyncError {
        switch error.errno {
        case .exists, .notEmpty: SyncError(.refused, path: target.path, error.errno)
        case .stale: SyncError(.stale, path: error.path, "changed while it was copied")
        default: SyncError(error)
        }
    }
}
