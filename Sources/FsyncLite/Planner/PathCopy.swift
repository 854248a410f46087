import FileStorage
import FileSystem

/// Copies paths of an earlier tree into a directory. Other entries of the directory are neither read nor changed.
struct PathCopy {
    let contents: any ContentSource
    let directory: Directory
    let paths: [RelativePath]
    /// Different files are replaced; otherwise each is a refusal.
    let overwrites: Bool
    private(set) var refusals: [Refusal] = []
    private(set) var notes: [String] = []

    init(_ restoration: Restoration, from contents: any ContentSource, to directory: Directory) {
        (self.contents, self.directory) = (contents, directory)
        (paths, overwrites) = (restoration.paths, restoration.overwrites)
    }

    /// The maximum number of paths named in refusals, and in a note.
    private static let named = 20

    /// Compares files, and decides about those that differ. Only `overwrites` allows a change of existing directories.
    ///
    /// - Returns: the files that could not be compared, and are left unchanged.
    mutating func decide(
        _ difference: inout Difference, _ options: SyncOptions, _ monitor: any Monitor
    ) throws -> [Problem] {
        let (target, selection) = (PathResolver(directory), options.attributes.extended)
        let comparison = ContentComparison(
            source: contents, target: directory, threads: contents.threads(options), probes: nil,
            monitor: monitor)
        defer { comparison.close() }
        try difference.decide(
            inspect: {
                ($0.source.extended, try target.extendedAttributes(of: $0.target, selection) ?? .init())
            },
            lookUp: { try target.extendedAttributes(of: $0, selection) ?? $0.extended },
            compare: { try comparison.compare($0) })
        refusals += try targetRefusals(difference)
        difference.edit { difference in
            difference.changes.updateMatches(where: { index, changes in
                changes.head(at: index).targetIsDirectory
                    && (!overwrites || !changes.targetPath(at: index).isWithin(paths))
            }) { $0.keepTarget() }
        }
        for file in difference.deleted where file.isDirectory || !file.path.isWithin(paths) {
            refusals.append(.otherKind(file.path, file.status.type))
        }
        let replaced =
            (difference.matches.filter { !$0.isUnchanged }.map(\.target)
            + difference.deleted).filter { !$0.isDirectory }.sorted()
        guard !replaced.isEmpty else { return comparison.problems }
        guard !overwrites else {
            noteOverwritten(difference)
            return comparison.problems
        }
        refusals += replaced.prefix(PathCopy.named).map {
            .wouldOverwrite($0.path, of: $0.modified)
        }
        if replaced.count > PathCopy.named {
            refusals.append(.moreWouldBeOverwritten(replaced.count - PathCopy.named))
        }
        return comparison.problems
    }

    /// A file is not overwritten if only its attributes differ.
    private mutating func noteOverwritten(_ difference: Difference) {
        let paths =
            (difference.matches.filter { $0.replacesContent && !$0.target.isDirectory }.map(\.target.path)
            + difference.deleted.map(\.path)).sorted()
        guard !paths.isEmpty, refusals.isEmpty else { return }
        let names = Amount.list(paths.prefix(PathCopy.named).map(\.description), of: paths.count)
        notes.append("with --overwrite, the snapshot's content replaces that of \(names)")
    }
}

/// The entries of a directory at the paths of another tree.
final class PresentEntries: EntryStream {
    private let wanted: any EntryStream
    private let resolver: PathResolver
    private let device: DeviceNumber
    /// Directories into which no object can be moved.
    private(set) var mounts: [(path: RelativePath, isMountPoint: Bool)] = []
    /// Entries that cannot be replaced, and directories that cannot get entries.
    private(set) var locked: [RelativePath: FileStatus] = [:]
    private(set) var status: FileStatus
    private(set) var destination: [UInt8] = []

    init(at wanted: any EntryStream, in root: Directory) throws {
        self.wanted = wanted
        resolver = PathResolver(root)
        status = try root.status()
        device = status.device
    }

    func advance() throws -> Bool {
        while try wanted.advance() {
            guard let found = try resolver.status(of: wanted.path) else { continue }
            status = found
            destination = []
            if found.type == .symlink, let (directory, name) = try resolver.location(of: wanted.path) {
                destination = try directory.destination(of: name)
            }
            if found.isMountRoot || found.device != device { mounts.append((wanted.path, found.isMountRoot)) }
            if found.isImmutable || found.isAppendOnly { locked[wanted.path] = found }
            return true
        }
        return false
    }

    var path: RelativePath { wanted.path }
}
