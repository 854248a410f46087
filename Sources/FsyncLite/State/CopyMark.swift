import FileSystem

/// The document `copy` of a state in a directory that becomes a copy of an earlier tree. A complete copy has none.
extension StateDirectory {
    /// The earlier tree whose copy the directory becomes; nil for a target.
    func copy() throws -> [UInt8]? { try read(.copy, limit: 1 << 24) }

    /// Durable after the next barrier.
    func setCopy(_ copy: [UInt8]?) throws {
        if let copy { try replace(.copy, copy) } else { try remove(.copy) }
    }
}

extension TargetRoot {
    /// Whether an interrupted run has completed this copy, and only its state remains.
    ///
    /// - Parameter isAlone: whether the directory has no other entries.
    func holds(copy: [UInt8], isAlone: Bool) throws -> Bool {
        guard let directory, let state, try state.copy() == copy else { return false }
        // One commit makes the whole tree.
        return try state.manifest() != nil
            || isAlone && DirectoryListing.names(in: directory).contains { $0 != FileName.state }
    }

    /// Removes the state. An ordinary directory remains.
    func removeState() throws {
        guard let directory, let state else { return }
        let handle = try ObjectHandle(of: directory)
        let modified = try handle.status().modified
        // RACE: a kill in the next call leaves the owner write permission on a directory that had none.
        try handle.whileWritable { try state.removeAll(from: directory) }
        try handle.setModified(modified)
        try directory.syncFileSystem()
    }
}
