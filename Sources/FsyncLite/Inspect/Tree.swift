import FileStorage
import FileSystem

/// A tree to inspect: a manifest file, a target (by its manifest), a snapshot of one, or a live directory.
public struct Tree: Sendable {
    /// The path as given.
    public let path: [UInt8]
    private let kind: Kind

    private enum Kind: Sendable {
        case manifest
        case fetched(FetchedManifest)
        case target(StateDirectory)
        case snapshot(Earlier)
        case directory
    }

    /// A snapshot, as the layer from the present manifest.
    private struct Earlier: Sendable {
        let state: StateDirectory
        let snapshot: Snapshot
        let layer: ListLayer
        /// The header of the snapshot's list; nil for the present one.
        let header: ManifestHeader?
        /// The version of the present manifest.
        let manifest: StateDirectory.ManifestVersion?
    }

    /// - Parameter path: the path of an existing file or directory; else `TARGET@ID`, with the names of snapshots.
    /// - Throws: `SyncError`: `inputMissing` if there is no such tree, `pending` for a target with an unfinished
    ///   commit.
    public init(path: [UInt8]) throws {
        self.path = path
        let file = LocalFile(bytes: path)
        guard try file.exists else {
            kind = try Tree.snapshot(path)
            return
        }
        guard try file.isDirectory else {
            kind = .manifest
            return
        }
        guard let state = try Tree.state(of: path) else {
            kind = .directory
            return
        }
        let isTarget = try state.manifest() != nil
        // Without a manifest, a commit may have begun since.
        guard try isTarget || !state.hasInterruptedCommit() else { throw SyncError.pendingCommit(path) }
        kind = isTarget ? .target(state) : .directory
    }

    /// A tree of another machine, by its manifest.
    ///
    /// - Parameter path: for messages.
    package init(_ manifest: FetchedManifest, path: [UInt8]) {
        self.path = path
        kind = .fetched(manifest)
    }

    /// The manifest is of another machine.
    package var isFetched: Bool {
        if case .fetched = kind { true } else { false }
    }

    private static func snapshot(_ path: [UInt8]) throws -> Kind {
        guard let at = path.lastIndex(of: UInt8(ascii: "@")), at > 0,
            let id = String(validating: path[(at + 1)...], as: UTF8.self),
            try LocalFile(bytes: Array(path[..<at])).isDirectory
        else { throw SyncError(.inputMissing, path: path, "there is no such file or directory") }
        guard let state = try state(of: Array(path[..<at])) else {
            throw SyncError(.inputMissing, path: path, "no target of fsync-lite has this snapshot")
        }
        let version = try state.manifestVersion()
        do {
            let history = try History(state)
            let index = try history.index(of: id)
            let layers = try TargetLists(history).layers(to: index)
            return .snapshot(
                Earlier(
                    state: state, snapshot: try history.snapshots()[index], layer: layers.found,
                    header: layers.list?.header, manifest: version))
        } catch {
            // A concurrent run may remove a record.
            guard try state.manifestVersion() == version else { throw SyncError.changedMeanwhile(path) }
            throw error
        }
    }

    /// The state of a target without an unfinished commit; nil for any other directory.
    private static func state(of path: [UInt8]) throws -> StateDirectory? {
        guard let state = try StateDirectory(of: try LocalFile(bytes: path).directory().asTarget()) else {
            return nil
        }
        guard try !state.hasInterruptedCommit() else { throw SyncError.pendingCommit(path) }
        return state
    }

    /// The header of the manifest; nil for a live directory, and for the tree that the first run found.
    public func header() throws -> ManifestHeader? {
        try header(of: stream())
    }

    /// The header of the manifest that a stream reads, because a run may have replaced the manifest.
    func header(of stream: some EntryStream) throws -> ManifestHeader? {
        guard case .snapshot(let earlier) = kind else { return (stream as? ManifestReader)?.header }
        guard let created = earlier.snapshot.created else { return nil }
        var header = try earlier.header ?? manifest(of: earlier).header
        (header.id, header.created) = (earlier.snapshot.id, created)
        return header
    }

    /// The root's entry in a list of a target.
    private func root(of stream: some EntryStream) throws -> File? {
        if case .snapshot(let earlier) = kind, let header = earlier.header { return header.rootEntry }
        return try header(of: stream)?.rootEntry
    }

    /// The entries in order. A manifest from a pipe can be read once. Its last line may be the one that has an error.
    public func forEach(_ body: (File) throws -> Void) throws {
        let stream = try stream()
        while try stream.advance() { try body(stream.file) }
    }

    /// The selected entries in order, without a value allocated for each.
    package func forEach(in selection: EntrySelection, _ body: (any EntryStream) throws -> Void) throws {
        let stream = try stream()
        var selection = selection
        while try stream.advance() {
            if selection.selects(stream) { try body(stream) }
        }
    }

    /// The changes that would turn this tree into the other. Moves are found if both trees are of the same directory.
    public func changes(to other: Tree) throws -> Plan {
        let (stream, otherStream) = (try stream(withExtended: true), try other.stream(withExtended: true))
        if let state, let second = other.state,
            try state.directory.status().identity == second.directory.status().identity
        {
            return try TargetLists.changes(
                from: stream, to: otherStream, roots: (try root(of: stream), try other.root(of: otherStream)))
        }
        var policy = ComparisonPolicy()
        policy.knowsExtended = true
        policy.targetIsBase = true
        // Between a tree and a copy of it, inodes cannot be compared.
        let origin = try origin(of: stream)
        policy.followsIdentity = try origin?.created != nil && origin == other.origin(of: otherStream)
        var merge = TreeMerge(policy)
        try merge.run(source: otherStream, target: stream)
        return Plan(try Difference(matching: merge), root: nil)
    }

    /// The directory to which the inodes of the entries belong; nil if a manifest does not say. Also nil for a
    /// snapshot, because its objects in the history have the inodes of the target.
    private func origin(of stream: some EntryStream) throws -> FileIdentity? {
        switch kind {
        case .directory: try LocalFile(bytes: path).directory().status().identity
        case .manifest, .fetched, .target: try header(of: stream)?.source?.identity
        case .snapshot: nil
        }
    }

    /// The content of a snapshot may be anywhere in the target.
    var isSnapshot: Bool {
        if case .snapshot = kind { true } else { false }
    }

    private var state: StateDirectory? {
        switch kind {
        case .target(let state): state
        case .snapshot(let earlier): earlier.state
        case .manifest, .fetched, .directory: nil
        }
    }

    /// The directory whose files can be read; nil for a manifest file and a snapshot.
    func directory() throws -> Directory? {
        switch kind {
        case .manifest, .fetched, .snapshot: nil
        case .target, .directory: try LocalFile(bytes: path).directory()
        }
    }

    /// The version of a target's manifest, which a run replaces; nil for other trees.
    func manifestVersion() throws -> StateDirectory.ManifestVersion? { try state?.manifestVersion() }

    /// Writes a manifest of a live directory.
    ///
    /// - Parameter withDigests: files are read for their digests.
    /// - Returns: the problems of entries that could not be read and are left out.
    package func writeManifest(
        to sink: inout some ByteSink & ~Copyable, withDigests: Bool = false,
        monitor: any Monitor = SilentMonitor()
    ) throws -> [Problem] {
        let started = Timestamp.now
        let directory = try LocalFile(bytes: path).directory()
        let scan = try TreeScan(directory, Tree.options(.source.prefetching()), monitor: monitor)
        let root = try LocalFile(bytes: path).absolute()
        let origin = ManifestHeader.Source(
            path: root, identity: try directory.status().identity,
            fileSystem: try FileSystemInfo(of: directory).identifier)
        var problems: [Problem] = []
        var writer = ManifestWriter(
            ManifestHeader(
                id: TransactionID.next(now: started), root: root, created: started, source: origin))
        if withDigests {
            let digests = FilePipeline(threads: Processors.defaultThreads) {
                FileDigests(reader: DigestReader(PathResolver(directory), monitor: monitor))
            }
            defer { digests.close() }
            func take(_ answer: FileDigests.Answer) {
                let file = answer.file.with(answer.found, &problems)
                writer.append(
                    path: file.path, status: file.status, destination: file.destination,
                    extended: file.extended, targetInode: nil, digest: file.digest)
            }
            while try scan.advance() {
                if scan.sight == .unseen { continue }
                let file = scan.file
                try digests.add((file, file.isFile ? file.path : nil), bytes: file.size) { take($0) }
                try writer.drain(to: &sink)
            }
            try digests.finish { take($0) }
        }
        while try !withDigests && scan.advance() {
            if scan.sight == .unseen { continue }
            writer.append(scan, isMirror: false)
            try writer.drain(to: &sink)
        }
        writer.end()
        try writer.drain(to: &sink, all: true)
        return (scan.findings.problems + problems).sorted { $0.path < $1.path }
    }

    static func options(
        _ base: TreeScan.Options, _ attributes: MirroredAttributes = .all
    ) -> TreeScan.Options {
        var options = base
        options.extended = attributes.extended
        return options
    }

    /// - Parameter withExtended: reads extended attributes in a live directory too.
    func stream(withExtended: Bool = false) throws -> any EntryStream {
        switch kind {
        case .manifest:
            return try ManifestReader(LocalFile(bytes: path).openInput(), path: path)
        case .fetched(let manifest):
            return try ManifestReader(manifest.open(), path: path)
        case .target(let state):
            return try state.manifest(of: path)
        case .snapshot(let earlier):
            return try ListStream(earlier.layer, withUncovered: false) {
                try manifest(of: earlier, withUncovered: true)
            }
        case .directory:
            let options = TreeScan.Options(omitsSockets: true).bounded.prefetching()
            return try TreeScan(
                try LocalFile(bytes: path).directory(), withExtended ? Tree.options(options) : options)
        }
    }

    private func manifest(
        of earlier: Earlier, withUncovered: Bool = false
    ) throws -> ManifestReader {
        let manifest = try earlier.state.manifest(of: path, withUncovered: withUncovered)
        try checkManifest(is: earlier.manifest)
        return manifest
    }

    /// - Throws: `SyncError` with code `pending` if a run has replaced the manifest.
    func checkManifest(is version: StateDirectory.ManifestVersion?) throws {
        guard try manifestVersion() == version else { throw SyncError.changedMeanwhile(path) }
    }
}
