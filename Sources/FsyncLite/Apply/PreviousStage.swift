import FileSystem

/// What runs that were cut short have staged: files that are whole and durable are used again.
final class PreviousStage {
    private let stages: Directory
    private let names: [FileName]
    private var files: [RelativePath: (file: StageRecord.StagedFile, stage: TreeWalker)] = [:]

    /// nil where nothing was left behind. What has no record, or a damaged one, is of no use.
    init?(_ state: TargetState) throws {
        guard try state.directory.status(of: TargetState.Name.stage) != nil else { return nil }
        stages = try state.directory.directory(TargetState.Name.stage)
        names = try DirectoryListing.names(in: stages).sorted()
        for name in names where try stages.status(of: name)?.type == .directory {
            let directory = try stages.directory(name)
            guard let record = try? StageRecord.read(in: directory) else { continue }
            let walker = TreeWalker(directory)
            for file in record.files {
                guard let path = RelativePath(file.path) else { continue }
                files[path] = (file, walker)
            }
        }
    }

    /// Moves a staged file to its new place, if it was made from the very same source.
    ///
    /// - Returns: its status; nil where there is none to use.
    func take(_ file: File, to parent: Directory, _ name: FileName) throws -> FileStatus? {
        guard let (staged, stage) = files[file.path], staged.isFrom(file.status),
            let path = RelativePath(staged.place), let (directory, oldName) = try? stage.place(of: path),
            let status = try directory.status(of: oldName), status.type == .file,
            status.inode == staged.stagedInode,
            status.size == file.size, status.modified == file.status.modified, status.links == 1
        else { return nil }
        try directory.rename(oldName, to: parent, name, .noReplace)
        return status
    }

    /// Takes away what was of no use.
    func discard(from state: TargetState) throws {
        for name in names { try state.discard(name, in: stages) }
        try TreeRemoval.remove(TargetState.Name.trash, in: state.directory)
    }
}
