import FileSystem

/// Making directories, and deleting.
extension LocalFile {
    /// Creates the directory.
    ///
    /// - Parameters:
    ///   - parents: creates missing parents too, and accepts an existing directory. If false, an existing name is
    ///     `refused`.
    ///   - permissions: the permission bits before the umask.
    public func makeDirectory(parents: Bool = false, permissions: UInt16 = 0o755) throws(SyncError) {
        if parents {
            guard try !isDirectory else { return }
            try parent.makeDirectory(parents: true, permissions: permissions)
        }
        do {
            let location = try location()
            try reporting(location.directory.makeDirectory(location.name, permissions: permissions))
        } catch {
            // Another process has just created it.
            guard parents, error.errno == Errno.exists.rawValue, try isDirectory else { throw error }
        }
    }

    /// Deletes this name. A symlink itself is deleted, never its destination.
    ///
    /// - Parameter recursive: deletes a directory with its content. A mount point inside is an error. If false, a
    ///   directory that is not empty is `refused`.
    public func delete(recursive: Bool = false) throws(SyncError) {
        let location = try location()
        try reporting { () throws(SystemError) in
            switch try location.directory.status(of: location.name)?.type {
            case .directory where recursive: try TreeRemoval.remove(location.name, in: location.directory)
            case .directory: try location.directory.removeDirectory(location.name)
            default: try location.directory.unlink(location.name)
            }
        }
    }

    /// Deletes the content of this directory, and follows no symlink. A mount point inside is an error.
    public func deleteChildren() throws(SyncError) {
        let directory = try FileName(split.name) == nil ? directory() : location().opened
        try reporting { () throws(SystemError) in
            for name in try DirectoryListing.names(in: directory) {
                try TreeRemoval.remove(name, in: directory)
            }
        }
    }
}
