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

    /// The entries that are selected, in order, without a value made for each.
    package func forEach(in selection: EntrySelection, _ body: (any EntryStream) throws -> Void) throws {
        let stream = try stream()
        var selection = selection
        while try stream.advance() {
            if selection.selects(stream) { try body(stream) }
        }
    }

    /// What would make this tree the other one: moves are found where both tell of the same directory.
    public func changes(to other: Tree) throws -> Plan {
        var policy = ComparisonPolicy()
        policy.knowsExtended = true
        policy.isRecordItself = true
        // Between a tree and a copy of it, inodes say nothing.
        let origin = try origin()
        policy.followsIdentity = try origin?.created != nil && origin == other.origin()
        var merge = TreeMerge(policy)
        try merge.run(
            source: other.stream(withExtended: true), target: stream(withExtended: true),
            manifest: FileList?.none)
        return Plan(try Difference(matching: merge), root: nil)
    }

    /// The directory that the inodes of the entries belong to; nil where a manifest does not say.
    private func origin() throws -> FileIdentity? {
        guard case .directory = kind else { return try header()?.source?.identity }
        return try LocalFile(bytes: path).directory().status().identity
    }

    /// The directory whose files can be read; nil for a manifest file.
    func directory() throws -> Directory? {
        if case .manifest = kind { return nil }
        return try LocalFile(bytes: path).directory()
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
        let directory = try LocalFile(bytes: path).directory()
        let scan = try TreeScan(directory, Tree.options(.source.helped(trees: 1)), monitor: monitor)
        let root = try LocalFile(bytes: path).absolute()
        let origin = ManifestHeader.Source(
            path: root, identity: try directory.status().identity,
            fileSystem: try FileSystemFacts(of: directory).identifier)
        let contents = DigestReader(directory, monitor: monitor)
        var problems: [Problem] = []
        var writer = ManifestWriter(
            ManifestHeader(
                id: TransactionID.next(now: started), root: root, created: started, source: origin))
        while try scan.advance() {
            var (status, digest): (FileStatus, Digest?) = (scan.status, nil)
            if withDigests, status.type == .file,
                let found = try contents.digest(of: scan.path, problems: &problems)
            {
                (digest, status) = found
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

    /// - Parameter withExtended: looks up extended attributes in a live directory too.
    func stream(withExtended: Bool = false) throws -> any EntryStream {
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
            let options = TreeScan.Options(omitsSockets: true)
            return try TreeScan(
                try LocalFile(bytes: path).directory(), withExtended ? Tree.options(options) : options)
        }
    }
}
