import FileStorage
import FileSystem

/// One or several directories on this machine.
struct LocalTree: SourceTree, LocalContents {
    let root: Directory
    let facts: SourceFacts

    /// - Throws: `SyncError` with code `inputMissing` if a directory does not exist, or `pending` if it is a target
    ///   with an unfinished commit.
    init(_ source: MirrorSource) throws {
        try self.init(source, scanned: .now(), source.open())
    }

    /// - Parameter root: the open directory of the source.
    init(_ source: MirrorSource, scanned: ManifestHeader.Scan, _ root: Directory) throws {
        self.root = root
        for root in root.roots where try root.holdsUnfinishedCommit() {
            throw SyncError.pendingCommit(root.path)
        }
        let infos = try root.roots.map { root throws(SystemError) in try FileSystemInfo(of: root) }
        let devices = try root.roots.map { try $0.status().device }
        let disks = try root.roots.flatMap { root throws(SystemError) in try root.disksBeneath() }
        var sum = Checksum()
        sum.update(Array(disks.joined(separator: "\n").utf8)[...])
        facts = SourceFacts(
            identities: try zip(source.directories, zip(root.roots, infos)).map { source, root in
                ManifestHeader.Source(
                    name: source.name, path: try LocalFile(bytes: source.path).absolute(),
                    identity: try root.0.status().identity, fileSystem: root.1.identifier)
            },
            devices: devices,
            keepsIdentity: infos.map(\.keepsIdentity), sharesClock: infos.allSatisfy(\.sharesClock),
            devicesShowingChanges: Set(zip(devices, infos).filter(\.1.showsChanges).map(\.0)),
            devicesShowingStores: Set(zip(devices, infos).filter(\.1.showsStores).map(\.0)),
            hasDirectoryDigests: !root.isJoined && infos.allSatisfy(\.showsChanges),
            scanned: scanned, disks: disks.isEmpty ? "" : String(sum.value, radix: 16),
            writebackDelay: try KernelClock.writebackDelay(),
            isReadByRoot: Account.isRoot)
    }

    var roots: [FileStatus] {
        get throws { try root.roots.map { root throws(SystemError) in try root.status() } }
    }

    var isEarlier: Bool { false }

    func overlaps(with target: Overlap.Goal, _ filters: Filters) throws -> [Refusal] {
        try Overlap.refusals(of: root, and: target, filters)
    }

    func scan(
        _ filters: Filters, _ options: TreeScan.Options, _ monitor: any Monitor, record: SourceRecord? = nil
    ) throws -> BackgroundScan {
        let root = root
        return try BackgroundScan {
            try TreeCursor(
                root, options, filter: FilteredWalk(filters, DirectoryRules(of: root)), monitor: monitor)
        }
    }

    func rules() throws -> DirectoryRules { try DirectoryRules(of: root) }
    func reread(
        _ directories: () -> Set<RelativePath>, _ take: (RelativePath, FileStatus) -> Void
    ) throws {}

    func rootFile(_ selection: ExtendedAttributes.Selection) throws -> File? {
        guard !root.isJoined else { return nil }
        do {
            return try File(rootOf: root, selection)
        } catch  where !Errno.exhausted.contains(error.errno) {
            return File(path: .root, status: try root.status(), destination: []).withoutAttributes()
        }
    }

    var paths: PathResolver { PathResolver(root) }
}

extension Directory {
    /// Checks that each source is still in place. If it was removed or replaced, its files would seem to vanish.
    ///
    /// - Throws: `SyncError` with code `inputMissing`.
    func checkIsInPlace() throws {
        for root in roots {
            do throws(SystemError) {
                if try Directory.open(path: root.path).isSame(as: root) { continue }
            } catch {
                guard [.noSuchFile, .notDirectory].contains(error.errno) else { throw error }
            }
            throw SyncError(
                .inputMissing, path: root.path, "the source was removed or replaced while it was read")
        }
    }
}

/// Reads single entries of a directory on this machine, on one thread.
final class LocalReader: SourceReader {
    private let tree: PathResolver
    private var announced: AnnouncedFiles
    private let isEarlier: Bool
    private let probes: SettlingProbes?

    /// - Parameter isEarlier: the extended attributes of entries are known already.
    init(_ tree: PathResolver, _ probes: SettlingProbes?, isEarlier: Bool) {
        (self.tree, self.probes, self.isEarlier) = (tree, probes, isEarlier)
        announced = AnnouncedFiles(tree)
    }

    func announce(contents: [(path: RelativePath, form: ContentHash.Form)]) {
        announced.announce(contents.lazy.map(\.path))
    }
    func announce(attributesOf files: [File], _ selection: ExtendedAttributes.Selection) {}

    func extendedAttributes(
        of file: File, _ selection: ExtendedAttributes.Selection
    ) throws -> ExtendedAttributes? {
        if isEarlier { return file.extended }
        return try tree.extendedAttributes(of: file, selection)
    }

    func content(of path: RelativePath, _ form: ContentHash.Form) throws -> any SourceContent {
        let file = try announced.take(path) ?? tree.open(path)
        let probe = try probes.flatMap { probes in
            try calling("statx", path.bytes) { () throws(Errno) in
                try probes.probe(path, file.descriptor.status(), file.descriptor)
            }
        }
        return LocalContent(file: file, probe: probe)
    }

    func obstacles(to paths: [RelativePath]) throws -> [Errno?] {
        paths.map { path in
            do throws(SystemError) {
                _ = try tree.open(path)
                return nil
            } catch {
                // A file that no longer exists is no obstacle.
                return error.errno == .accessDenied ? error.errno : nil
            }
        }
    }
}

private struct LocalContent: SourceContent {
    let file: AnnouncedFile
    let probe: SettlingProbe?

    func settledStatus() throws(Errno) -> FileStatus? {
        guard let probe, try probe.settles(file.descriptor.status()) else { return nil }
        return probe.status
    }

    func digest(_ isCancelled: () -> Bool) throws(Errno) -> Digest {
        Digest(try file.descriptor.digest(isCancelled: isCancelled))
    }

    func isSame(
        as other: borrowing FileDescriptor, _ isCancelled: () -> Bool
    ) throws(FileComparison.Failure) -> Bool {
        try FileComparison.haveSameContent(file.descriptor, other, isCancelled: isCancelled)
    }
}

extension DigestReader: DigestSource {
    func announce(_ paths: [RelativePath]) { announce(paths[...]) }
}
