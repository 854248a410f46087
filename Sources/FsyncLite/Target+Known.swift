import FileStorage
import FileSystem

extension Target {
    /// Records that this user has written here. On a file system in memory nothing is recorded.
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
