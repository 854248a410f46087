import FileStorage
import FileSystem

extension Target {
    /// Records that this user has written to this target. A target on a file system in memory is not recorded.
    ///
    /// - Throws: `SyncError` if the record cannot be written.
    public func remember(in known: KnownTargets) throws {
        let root = try TargetRoot(path)
        guard let directory = root.directory, let header = try root.state?.manifest()?.header,
            let id = header.stateID
        else { return }
        let fileSystem = try FileSystemName(of: directory)
        guard fileSystem.lasts else { return }
        let (path, _) = try KnownTargets.place(of: root)
        try known.add(
            KnownTargets.Entry(
                id: id, fileSystem: fileSystem, paths: [path], lastApply: header.created,
                mountPoint: try directory.mountPoint()))
    }
}

extension Target {
    /// The path in this target of a file that the source lacks and the next run deletes, such as a log; else nil.
    public func passing(_ file: LocalFile, _ options: SyncOptions) throws -> RelativePath? {
        guard !options.keepsDeleted, let root = try TargetRoot(path).directory,
            let path = try file.path(below: root), !path.isInState
        else { return nil }
        return options.deletesExcluded || !options.filters.excludes(path, .file) ? path : nil
    }
}

extension Filters {
    /// Whether a run mirrors the directory of a file in a tree. A new file changes the time of its directory, even if it
    /// is excluded itself.
    ///
    /// - Parameter tree: the path of a source or a target.
    public func includesDirectory(of file: LocalFile, in tree: [UInt8]) throws -> Bool {
        let tree = LocalFile(bytes: tree)
        guard try tree.exists, let parent = try file.path(below: tree.directory())?.parent else {
            return false
        }
        return parent.isRoot || !parent.isInState && !excludes(parent, .directory)
    }
}

extension LocalFile {
    /// The path of this file below a directory; nil if it is elsewhere.
    fileprivate func path(below root: Directory) throws -> RelativePath? {
        let place = try location()
        return try Overlap.path(from: root, to: place.directory)?.appending(place.name)
    }
}
