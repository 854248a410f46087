import FileSystem

/// The stages of interrupted runs: files that are complete and durable are used again, and so is what was copied of others.
final class PreviousStage {
    private let stages: Directory
    private var names: [FileName] = []
    /// With the time at which the last line of its log was written.
    private var files: [RelativePath: (file: StagedFile, stage: PathResolver, logged: FileTime?)] = [:]
    /// Parts of files, also of those whose sources have changed: what is taken from them is compared.
    private(set) var parts: [RelativePath: OlderContent.Place] = [:]

    /// Finds files that serve these entries, and removes all others, since they may take the space that the new stage
    /// needs. nil if nothing is usable. Files that are in no log are not usable.
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
            var kept: Set<RelativePath> = []
            // The content of a stage that others may write to cannot be trusted.
            if let status = try stages.status(of: name), status.type == .directory,
                status.owner == Account.effectiveUser, status.permissions & 0o022 == 0
            {
                let stage = try stages.directory(name)
                let resolver = PathResolver(stage)
                do throws(SystemError) {
                    let logged = try stage.status(of: TransactionEntry.log)?.modified
                    try StageLog.read(in: stage, if: { $0.attributes == attributes }) { file in
                        guard let source = wanted[file.path] else { return }
                        if file.isPart {
                            parts[file.path] = OlderContent.Place(root: stage, path: file.location)
                        } else if file.isFrom(source.status) {
                            files[file.path] = (file, resolver, logged)
                        } else {
                            return
                        }
                        kept.insert(file.location)
                    }
                } catch {
                    // Files missing from the log are copied again.
                }
                if !kept.isEmpty { try PreviousStage.prune(stage, keeping: kept) }
            }
            if kept.isEmpty {
                try state.discard(name, in: stages)
            } else {
                names.append(name)
            }
        }
        try state.emptyTrash()
    }

    /// Removes all other files, and makes the directories accessible: some have their final mode already.
    private static func prune(_ stage: Directory, keeping kept: Set<RelativePath>) throws {
        let scan = try TreeScan(stage, TreeScan.Options(toleratesUnreadable: true))
        let resolver = PathResolver(stage)
        let log = RelativePath.root.appending(TransactionEntry.log)
        while try scan.advance() {
            guard let (directory, name) = try resolver.location(of: scan.path) else { continue }
            if scan.status.type == .directory {
                guard scan.status.permissions & 0o700 != 0o700 else { continue }
                try ObjectHandle(name, in: directory).setPermissions(0o700)
            } else if !kept.contains(scan.path), scan.path != log {
                try directory.unlink(name)
            }
        }
    }

    /// Moves a staged file to its new location, if its source is unchanged.
    ///
    /// - Returns: its status; nil if there is none to use.
    func take(_ file: File, to parent: Directory, _ name: FileName) throws -> FileStatus? {
        guard let (staged, stage, logged) = files[file.path], staged.isFrom(file.status),
            let (directory, oldName) = try? stage.location(of: staged.location),
            let status = try directory.status(of: oldName), status.type == .file,
            status.inode == staged.stagedInode,
            status.size == file.size, status.modified == file.status.modified, status.links == 1,
            // Nothing has touched it since, also if size and time were put back.
            let logged, status.changed <= logged
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

    /// Removes what is left.
    func discard(from state: StateDirectory) throws {
        for name in names { try state.discard(name, in: stages) }
        try state.emptyTrash()
    }
}
