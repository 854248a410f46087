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
        let place = try file.location()
        guard let root = try TargetRoot(path).directory,
            let names = try Overlap.names(from: root, to: place.directory), names.first != .state,
            !options.keepsDeleted
        else { return nil }
        let path = (names + [place.name]).reduce(RelativePath.root) { $0.appending($1) }
        return options.deletesExcluded || !options.filters.excludes(path, .file) ? path : nil
    }
}
