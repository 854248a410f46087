import FileSystem

/// Copying, moving, renaming.
///
/// `force: false` refuses a name that exists, with an atomic check. `force: true` replaces atomically. The old file is
/// never deleted first. A directory can replace only an empty one.
extension LocalFile {
    /// Copies a regular file, or a directory with its content, and the permission bits. Symlinks in a directory are
    /// copied as symlinks. The copy is complete and durable, or does not exist.
    ///
    /// - Throws: `refused` if the name exists; `stale` if the source changed meanwhile.
    public func copy(to destination: LocalFile, force: Bool = false) throws(SyncError) {
        var copy = TreeCopy(.permissions)
        let target = try destination.location()
        try self.copy(isDirectory ? directory() : nil, [.read, .nonBlocking], with: &copy, to: target, force)
    }

    /// Moves to another path, atomically within a file system. On another file system, a regular file or a directory is
    /// copied, with owner, permissions and modification date. The old one is deleted only when the copy is durable.
    ///
    /// - Throws: `refused` if the name exists; `stale` if the source changed while it was copied. The changed files are
    ///   then left.
    public func move(to destination: LocalFile, force: Bool = false) throws(SyncError) {
        let (source, target) = (try location(), try destination.location())
        do {
            try LocalFile.rename(source, to: target, force)
        } catch {
            guard error.errno == Errno.crossDevice.rawValue else { throw error }
            var copy = TreeCopy(.all)
            let isDirectory = try source.status()?.type == .directory
            try self.copy(
                isDirectory ? source.opened : nil, [.read, .nonBlocking, .noFollow], with: &copy, to: target,
                force)
            // RACE: a write between the check and the deletion is lost with the old file. A replaced file is left.
            try reporting { () throws(SystemError) in
                try TreeRemoval.remove(source.name, in: source.directory) { copy.isUnchanged($0) }
            }
            guard try source.status() == nil else {
                throw SyncError(.stale, path: bytes, "changed while it was copied")
            }
            try reporting(source.directory.sync())
        }
    }

    /// Copies a directory, or, if it is nil, the file at this path.
    private func copy(
        _ tree: Directory?, _ flags: FileDescriptor.Flags, with copy: inout TreeCopy, to target: Location,
        _ force: Bool
    ) throws(SyncError) {
        // The commit decides. This check only avoids a useless copy.
        if !force, try target.status() != nil { throw SyncError(.refused, path: target.path, .exists) }
        let mode: Directory.RenameMode = force ? .replace : .noReplace
        if let tree {
            return try LocalFile.taking(target) { (name, directory) throws(SystemError) in
                try copy.copy(tree, to: name, in: directory, mode)
            }
        }
        let file = try location().open(flags)
        try checkIsRegular(naming(file.status()))
        try LocalFile.taking(target) { (name, directory) throws(SystemError) in
            try copy.copy(file, at: bytes, to: name, in: directory, mode)
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
        try taking(target) { (name, directory) throws(SystemError) in
            let before = force ? try source.directory.status(of: source.name) : nil
            try source.directory.rename(source.name, to: directory, name, force ? .replace : .noReplace)
            // For two names of one file, `rename` does nothing and reports success. The old name still leads to that
            // file, which has the new name, too.
            if let before, before.links > 1, before.type != .directory,
                let left = try source.directory.status(of: source.name), left.inode == before.inode,
                case let isSame = try source.directory.isSame(as: directory), !isSame || source.name != name
            {
                try source.directory.unlink(source.name)
            }
            try directory.sync()
            if directory !== source.directory { try source.directory.sync() }
        }
    }

    /// Runs `body`. If the new name exists, throws an error that names it.
    static func taking(
        _ target: Location, _ body: (FileName, Directory) throws(SystemError) -> Void
    ) throws(SyncError) {
        do {
            try body(target.name, target.directory)
        } catch {
            switch error.errno {
            case .exists, .notEmpty: throw SyncError(.refused, path: target.path, error.errno)
            case .stale: throw SyncError(.stale, path: error.path, "changed while it was copied")
            default: throw SyncError(error)
            }
        }
    }
}
