import FileSystem

/// A tree to look at: a manifest file, a target (by its manifest), or a live directory.
public struct Tree: Sendable {
    /// The path as it was given.
    public let path: [UInt8]
    private let kind: Kind

    private enum Kind: Sendable {
        case manifest
        case target(TargetState)
        case directory
    }

    /// - Throws: `SyncError`: `inputMissing` where nothing is, `pending` for a target whose commit is
    ///   unfinished.
    public init(path: [UInt8]) throws {
        self.path = path
        let file = LocalFile(bytes: path)
        guard try file.exists else {
            throw SyncError(.inputMissing, path: path, "there is no such file or directory")
        }
        guard try file.isDirectory else {
            kind = .manifest
            return
        }
        guard let state = try TargetState(of: try file.directory()) else {
            kind = .directory
            return
        }
        if try state.hasJournal() {
            throw SyncError(
                .pending, path: path,
                "a commit was begun and not ended; run: fsync-lite recover \(escapedText(path))")
        }
        kind = try state.manifest() == nil ? .directory : .target(state)
    }

    /// What the manifest says before its entries; nil for a live directory.
    public func header() throws -> ManifestHeader? {
        try (stream() as? ManifestReader)?.header
    }

    /// The entries in order. Errors in a manifest can come as late as its last line.
    public func forEach(_ body: (File) throws -> Void) throws {
        let stream = try stream()
        while try stream.advance() { try body(stream.file) }
    }

    /// Reads all of it and counts.
    public func totals() throws -> (header: ManifestHeader?, summary: ManifestSummary) {
        let stream = try stream()
        var summary = ManifestSummary()
        while try stream.advance() { summary.count(stream.status) }
        return ((stream as? ManifestReader)?.header, summary)
    }

    /// What would make this tree the other one: moves are found where both know the inodes.
    public func changes(to other: Tree) throws -> Plan {
        var policy = ComparisonPolicy()
        policy.knowsExtended = true
        var merge = TreeMerge(policy)
        // The first tree is its own record: what it says of inodes is all there is.
        try merge.run(source: other.stream(), target: stream(), manifest: SelfRecord(stream()))
        return Plan(try Difference(matching: merge), root: nil)
    }

    /// Which manifest a target has, which an apply replaces; nil for what no apply writes to.
    func manifestInode() throws -> UInt64? {
        guard case .target(let state) = kind else { return nil }
        return try state.manifestInode()
    }

    /// Writes a manifest of a live directory.
    ///
    /// - Parameter withDigests: files are read for their digests.
    /// - Returns: what could not be read and is not in it.
    package func writeManifest(
        to sink: inout some ByteSink & ~Copyable, withDigests: Bool = false,
        monitor: any Monitor = SilentMonitor()
    ) throws -> [Problem] {
        let started = Timestamp.now
        let root = try LocalFile(bytes: path).directory()
        let scan = try TreeScan(root, Tree.options(.source), monitor: monitor)
        let contents = DigestReader(root, monitor: monitor)
        var problems: [Problem] = []
        var writer = ManifestWriter(
            ManifestHeader(
                id: TransactionID.next(now: started), root: try LocalFile(bytes: path).absolute(),
                created: started))
        while try scan.advance() {
            var (status, digest): (FileStatus, Digest?) = (scan.status, nil)
            if withDigests, status.type == .file {
                do {
                    if let found = try contents.digest(of: scan.path) {
                        (digest, status) = (found.digest, found.status)
                    } else {
                        problems.append(
                            Problem(path: scan.path, code: .changing, message: "it changed while it was read")
                        )
                    }
                } catch let error as SystemError {
                    problems.append(
                        Problem(path: scan.path, code: .unreadable, message: error.errno.description))
                }
            }
            writer.append(
                path: scan.path, status: status, destination: scan.destination,
                extended: scan.extended, targetInode: nil, digest: digest)
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

    func stream() throws -> any EntryStream {
        switch kind {
        case .manifest:
            let file = LocalFile(bytes: path)
            let place = try file.place()
            return try ManifestReader(place.directory.open(place.name, [.read, .nonBlocking]), path: path)
        case .target(let state):
            guard let manifest = try state.manifest() else {
                throw SyncError(.inputMissing, path: path, "the manifest is gone")
            }
            return manifest
        case .directory:
            return try TreeScan(
                try LocalFile(bytes: path).directory(), Tree.options(TreeScan.Options(omitsSockets: true)))
        }
    }
}
