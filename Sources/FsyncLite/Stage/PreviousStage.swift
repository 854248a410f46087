import FileSystem

/// The stages of interrupted runs. Complete and durable files are used again, and copied parts of others.
final class PreviousStage {
    private let stages: Directory
    private var names: [FileName] = []
    private var files: [RelativePath: (file: StagedFile, stage: PathResolver)] = [:]
    /// Parts of files, even if the source has changed. Data from them is compared before it is used.
    private(set) var parts: [RelativePath: OlderContent.Place] = [:]

    /// Finds files that can be used for these entries. It removes all others, because the new stage may need their
    /// space. Files that are in no log cannot be used. The result is nil if there are none.
    init?(_ state: StateDirectory, for entries: some Sequence<File>, _ attributes: MirroredAttributes) throws
    {
        guard let stages = try state.stage() else { return nil }
        self.stages = stages
        let found = try DirectoryListing.names(in: stages).sorted()
        let wanted =
            found.isEmpty
            ? [:]
            : Dictionary(uniqueKeysWithValues: entries.filter(\.isFile).map { ($0.path, $0) })
        for name in found {
            var usable: [RelativePath: RelativePath] = [:]
            // If others may write to a stage, its content cannot be trusted.
            if let status = try stages.status(of: name), status.type == .directory, status.isOwn,
                status.permissions & 0o022 == 0
            {
                let stage = try stages.directory(name)
                let resolver = PathResolver(stage)
                do throws(SystemError) {
                    try StageLog.read(in: stage, if: { $0.attributes == attributes }) { file in
                        guard let source = wanted[file.path] else { return }
                        if file.isPart {
                            parts[file.path] = OlderContent.Place(root: stage, path: file.location)
                        } else if file.isFrom(source.status) {
                            files[file.path] = (file, resolver)
                        } else {
                            return
                        }
                        usable[file.location] = file.path
                    }
                } catch {
                    // Files missing from the log are copied again.
                }
                if !usable.isEmpty {
                    for location in try PreviousStage.prune(stage, keeping: usable) {
                        usable[location].map { files[$0] = nil }
                    }
                }
            }
            if usable.isEmpty {
                try state.discard(name, in: stages)
            } else {
                names.append(name)
            }
        }
        try state.emptyTrash()
    }

    /// Removes all other files, and makes the directories accessible, because some already have their final mode.
    ///
    /// - Returns: the wanted files that were touched after the log's last line, even if size and time were restored.
    private static func prune(
        _ stage: Directory, keeping usable: [RelativePath: RelativePath]
    ) throws -> [RelativePath] {
        let scan = try TreeScan(stage, TreeScan.Options(toleratesUnreadable: true))
        let resolver = PathResolver(stage)
        let log = RelativePath.root.appending(TransactionEntry.log)
        let logged = try stage.status(of: TransactionEntry.log)?.modified
        var (others, touched): ([RelativePath], [RelativePath]) = ([], [])
        while try scan.advance() {
            if scan.status.type == .directory {
                guard scan.status.permissions & 0o700 != 0o700,
                    let (directory, name) = try resolver.location(of: scan.path)
                else { continue }
                try ObjectHandle(name, in: directory).setPermissions(0o700)
            } else if usable[scan.path] == nil {
                if scan.path != log { others.append(scan.path) }
            } else if logged.map({ scan.status.changed > $0 }) ?? true {
                touched.append(scan.path)
            }
        }
        // This is done last, because removing another name of a file would touch the file.
        for path in others {
            if let (directory, name) = try resolver.location(of: path) { try directory.unlink(name) }
        }
        return touched
    }

    /// Moves a staged file to its new location, if its source is unchanged.
    ///
    /// - Returns: its status; nil if there is no usable file.
    func take(_ file: File, to parent: Directory, _ name: FileName) throws -> FileStatus? {
        // A file that cannot be reached is copied again.
        guard let (staged, stage) = files[file.path], staged.isFrom(file.status),
            let (directory, oldName) = try? stage.location(of: staged.location),
            let status = try directory.status(of: oldName), status.type == .file,
            status.inode == staged.stagedInode, status.equals(file.status, in: .content), status.links == 1
        else { return nil }
        do throws(SystemError) {
            try directory.rename(oldName, to: parent, name, .noReplace)
        } catch {
            // The new location belongs to another project.
            guard error.errno == .crossDevice else { throw error }
            return nil
        }
        return status
    }

    /// Removes the rest.
    func discard(from state: StateDirectory) throws {
        for name in names { try state.discard(name, in: stages) }
        try state.emptyTrash()
    }
}
