import FileSystem

/// What a state says in a directory that becomes a copy of an earlier tree: it goes when the copy is complete.
extension StateDirectory {
    /// Which earlier tree the directory becomes a copy of; nil for a target.
    func copy() throws -> [UInt8]? { try read(.copy, limit: 1 << 24) }

    /// The next barrier makes it durable.
    func setCopy(_ copy: [UInt8]?) throws {
        if let copy { try replace(.copy, copy) } else { try remove(.copy) }
    }
}

extension TargetRoot {
    /// Whether a run that was cut short has made the directory this copy, and has only left its state there.
    func holds(copy: [UInt8]) throws -> Bool {
        guard let directory, let state, try state.copy() == copy else { return false }
        // One commit brings all of it.
        return try state.manifest() != nil
            || DirectoryListing.names(in: directory).contains { $0 != FileName.state }
    }

    /// Takes the state away when all is done: what is left is a directory like any other.
    func removeState() throws {
        guard let directory, let state else { return }
        let handle = try ObjectHandle(of: directory)
        let modified = try handle.status().modified
        try state.removeAll(from: directory)
        try handle.setModified(modified)
        try directory.syncFileSystem()
    }
}
