import FileStorage
import FileSystem

/// Compares a live tree with its manifest, and with the source that it mirrors, in one pass over streams; memory holds
/// only the differences.
public struct Verification: Sendable {
    /// Reads files and compares them with their digests.
    public var readsContent = false
    /// The part of the files that is read.
    public var part = Part.all
    /// The source of the tree. It shows which copy is rotten. A source on another machine is asked for digests.
    public var source: MirrorSource?
    /// The client that has the source; nil if this machine reaches it.
    package var client: Client?

    let manifest: Tree
    let tree: [UInt8]
    let monitor: any Monitor

    /// - Parameter tree: the path of a live directory; a target is scanned too, not read from its manifest.
    public init(of tree: [UInt8], by manifest: Tree, monitor: any Monitor = SilentMonitor()) {
        self.manifest = manifest
        self.tree = tree
        self.monitor = monitor
    }

    /// A part of all files that depends only on their paths. With part 3 of 30 today and 4 of 30 tomorrow, all files
    /// are read once in thirty days. Parts have about equally many files.
    public struct Part: Hashable, Sendable {
        public static let all = Part(number: 1, count: 1)

        /// From 1.
        public let number: Int
        public let count: Int

        private init(number: Int, count: Int) {
            (self.number, self.count) = (number, count)
        }

        /// `K/N`, as digits; nil for anything else.
        public init?(_ text: String) {
            let words = text.split(separator: "/", omittingEmptySubsequences: false)
            let numbers = words.filter {
                $0.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
            }.compactMap { Int($0) }
            guard words.count == 2, numbers.count == 2, numbers[0] >= 1, numbers[0] <= numbers[1] else {
                return nil
            }
            self.init(number: numbers[0], count: numbers[1])
        }

        /// `part 3 of 30`; nil for all files.
        public var text: String? { count > 1 ? "part \(number) of \(count)" : nil }

        /// Whether a path is in the part, by the checksum of its bytes.
        func contains(_ path: RelativePath) -> Bool {
            guard count > 1 else { return true }
            var checksum = Checksum()
            checksum.update(path.bytes[...])
            return checksum.value % UInt64(count) == UInt64(number - 1)
        }
    }

    /// Totals of a verification.
    public struct Summary: Hashable, Sendable {
        /// Entries of the manifest.
        public var entries = 0
        /// Files whose content was compared, and their bytes.
        public var filesRead = 0
        public var bytesRead: ByteCount = 0
        /// Files that were to be read but have no digest.
        public var withoutDigest = 0
        /// Entries that are missing from the manifest, which was made with filters. They are no discrepancies.
        public var unlisted = 0
    }

    /// Compares, and reports each discrepancy as it is found.
    ///
    /// - Throws: `SyncError`: `invalidDocument` for a damaged manifest, `pending` if a run replaced it meanwhile. All
    ///   reported discrepancies are then invalid.
    public func run(_ report: (Discrepancy) throws -> Void) throws -> Summary {
        let version = try manifest.manifestVersion()
        let recorded = try manifest.stream()
        let summary = try compare(recorded, manifest.header(of: recorded), report)
        try manifest.checkManifest(is: version)
        return summary
    }

    /// Paths of a tree with several sources begin with the names of the sources.
    private func checkSource(_ header: ManifestHeader?) throws {
        guard let source, let names = header?.sources.map(\.name), !names.isEmpty,
            names != source.directories.map(\.name)
        else { return }
        let list = names.map { "--source \($0.map { "\($0)=" } ?? "")DIR" }.joined(separator: " ")
        throw SyncError(.usage, path: manifest.path, "it is of other sources; give \(escapedText(list.utf8))")
    }

    private struct OtherCopy: Sendable {
        /// Reads its digests, on one thread.
        let digests: @Sendable () -> any DigestSource
        let edits: EditDetection
        /// Directories that could not be listed, with the reason. Their entries cannot be asked for.
        var unlisted: [RelativePath: String] = [:]

        func obstacle(to path: RelativePath) -> String? {
            guard !unlisted.isEmpty else { return nil }
            return sequence(first: path, next: \.parent).lazy.compactMap { unlisted[$0] }.first
        }
    }

    private func open(_ source: MirrorSource, _ header: ManifestHeader?) throws -> OtherCopy {
        let monitor = monitor
        guard let remote = client.map(RemoteSource.init) ?? RemoteSource(source) else {
            let tree = try LocalTree(source)
            return OtherCopy(
                digests: { tree.digests(monitor) }, edits: EditDetection(in: tree.facts, header))
        }
        let tree = try remote.open(SyncOptions(), monitor)
        // Only entries that were sent can be asked for.
        let scan = try tree.scan(Filters(), .source, monitor, record: nil)
        while try scan.advance() {}
        var copy = OtherCopy(
            digests: { tree.digests(monitor) }, edits: EditDetection(in: tree.facts, header))
        for problem in scan.findings.problems where problem.isOfWholeEntry {
            copy.unlisted[problem.path] = problem.message
        }
        return copy
    }

    private func compare(
        _ recorded: some EntryStream, _ header: ManifestHeader?, _ report: (Discrepancy) throws -> Void
    ) throws -> Summary {
        try checkSource(header)
        var policy = ComparisonPolicy()
        policy.knowsExtended = true
        policy.attributes = header?.attributes ?? .all
        let root = try LocalFile(bytes: tree).directory()
        let scan = try TreeScan(
            root, Tree.options(.source.prefetching(), policy.attributes), monitor: monitor)
        let (monitor, other) = (monitor, try source.map { try open($0, header) })
        let edits = try EditDetection(in: root, header)
        let copies = FilePipeline(
            threads: readsContent ? Processors.defaultThreads : 1, filesPerItem: other == nil ? 1 : 2
        ) {
            Copies(
                tree: DigestReader(PathResolver(root), monitor: monitor), edits: edits, copy: other,
                source: other?.digests())
        }
        defer { copies.close() }
        let isFiltered = !(header?.filters.lines.isEmpty ?? true)
        var summary = Summary()
        var reported = 0
        func take(_ outcome: Outcome) throws {
            summary.filesRead += outcome.isRead ? 1 : 0
            summary.bytesRead += outcome.isRead ? outcome.size : 0
            for found in outcome.found { try report(found) }
        }
        /// Reports a discrepancy after those of the files before it.
        func reportInOrder(_ found: Discrepancy) throws {
            guard readsContent else { return try report(found) }
            try copies.add(.found(found)) { try take($0) }
        }
        func reportProblems() throws {
            for problem in scan.findings.problems.dropFirst(reported) {
                try reportInOrder(
                    Discrepancy(kind: .unreadable, path: problem.path, message: problem.message))
            }
            reported = scan.findings.problems.count
        }
        var trees = MergeJoin(recorded, scan)
        /// A path that is unknown, with all entries below it.
        var unknown: RelativePath?
        while try trees.advance() {
            if trees.side != .left, !scan.isListed { unknown = scan.path }
            switch trees.side {
            case .both where scan.sight == .unseen, .right where scan.sight == .unseen: break
            case .left where unknown.map(recorded.path.isBelow) ?? false: break
            case .both:
                var causes = policy.causes(recorded, scan)
                if let last = scan.findings.problems.last, last.code == .attribute, last.path == scan.path {
                    causes.subtract([.xattrs, .acls])
                }
                if !causes.isEmpty {
                    try reportInOrder(Discrepancy(kind: .changed, path: scan.path, causes: causes))
                }
                if readsContent, recorded.status.type == .file,
                    causes.isDisjoint(with: [.type, .size, .modified]), part.contains(recorded.path)
                {
                    if recorded.digest == nil {
                        summary.withoutDigest += 1
                    } else {
                        try copies.add(
                            .file(recorded.file, recorded.base), bytes: recorded.status.size
                        ) { try take($0) }
                    }
                }
            // Earlier versions mirrored paths of this length.
            case .left where recorded.path.bytes.count > RelativePath.longest: break
            case .left: try reportInOrder(Discrepancy(kind: .missing, path: recorded.path))
            case .right where isFiltered: summary.unlisted += 1
            case .right: try reportInOrder(Discrepancy(kind: .added, path: scan.path))
            }
            if trees.side != .right { summary.entries += 1 }
            try reportProblems()
        }
        try reportProblems()
        try copies.finish { try take($0) }
        return summary
    }

    /// A discrepancy, or a file whose content is compared with the recorded one.
    private enum Item: Sendable {
        case found(Discrepancy)
        case file(File, BaseStatus)
    }

    private struct Outcome: Sendable {
        var found: [Discrepancy] = []
        var isRead = false
        /// The recorded size in bytes.
        var size: ByteCount = 0
    }

    /// The copies of files, in the tree and in its source.
    private struct Copies: FileWorker {
        let tree: DigestReader
        let edits: EditDetection
        let copy: OtherCopy?
        let source: (any DigestSource)?

        func announce(_ items: [Item]) {
            let paths = items.compactMap { item in
                if case .file(let file, _) = item { file.path } else { nil }
            }
            tree.announce(paths)
            source?.announce(paths)
        }

        private enum Finding {
            case asRecorded
            /// Other content, and a status that shows no edit.
            case other(FileStatus)
            case edited
            /// With the status if it is known and shows no edit.
            case unreadable(String, FileStatus?)
            /// The file changed since then, or is missing. It shows nothing about the recorded content.
            case unrelated
        }

        func value(of item: Item) throws -> Outcome {
            switch item {
            case .found(let found): Outcome(found: [found])
            case .file(let file, let base):
                Outcome(found: try judge(file, base), isRead: true, size: file.size)
            }
        }

        /// The discrepancies of a file: none, one, or two if the copies are wrong in different ways.
        private func judge(_ recorded: File, _ base: BaseStatus) throws -> [Discrepancy] {
            guard let digest = recorded.digest else { return [] }
            let own = try look(recorded, base, digest, tree, edits)
            let other =
                if let source, let copy {
                    try look(recorded, base, digest, source, copy.edits, copy)
                } else {
                    Finding.unrelated
                }
            func found(_ finding: Finding, _ side: Discrepancy.Side, _ better: Finding) -> Discrepancy? {
                var found = Discrepancy(kind: .rotten, path: recorded.path, side: side)
                switch finding {
                case .asRecorded, .unrelated: return nil
                case .edited: found.kind = .edited
                case .other(let status): found.judged = recorded.with(status)
                case .unreadable(let reason, let status):
                    (found.kind, found.message) = (.unreadable, reason)
                    found.judged = status.map(recorded.with)
                }
                if case .asRecorded = better { found.isRepairable = found.kind != .edited }
                return found
            }
            var all = [found(own, .tree, other), found(other, .source, own)].compactMap(\.self)
            if all.count == 2, all[0].kind == all[1].kind {
                all.removeLast()
                all[0].side = .both
            }
            return all
        }

        private func look(
            _ recorded: File, _ base: BaseStatus, _ digest: Digest, _ reader: any DigestSource,
            _ edits: EditDetection, _ copy: OtherCopy? = nil
        ) throws -> Finding {
            if let obstacle = copy?.obstacle(to: recorded.path) { return .unreadable(obstacle, nil) }
            func looksEqual(_ status: FileStatus) -> Bool {
                status.size == recorded.status.size
                    && (status.modified == recorded.status.modified || recorded.omitted.contains(.modified))
            }
            func isEdited(_ status: FileStatus) -> Bool {
                edits.isEdited(status, at: recorded.path, since: base)
            }
            do {
                guard let (found, status, _) = try reader.digest(of: recorded.path), looksEqual(status)
                else { return .unrelated }
                return found == digest ? .asRecorded : isEdited(status) ? .edited : .other(status)
            } catch let error as SystemError {
                let status = try reader.status(of: recorded.path)
                return .unreadable(
                    error.errno.description,
                    status.flatMap { looksEqual($0) && !isEdited($0) ? $0 : nil })
            }
        }
    }
}

extension ComparisonPolicy {
    /// The differences between an entry of a manifest and the live one, except content.
    fileprivate func causes(_ recorded: some EntryStream, _ live: some EntryStream) -> Causes {
        let (status, other) = (recorded.status, live.status)
        guard status.type == other.type else { return [.type] }
        // True for almost every entry, and found without allocating.
        if status.type == .file || status.type == .directory,
            compare(status, other, nil, Comparison.Payload()).causes.isEmpty,
            recorded.extended == live.extended
        {
            return []
        }
        var match = Match(source: recorded.file, target: live.file)
        // Without root, some extended attributes that root recorded are not visible.
        let selection = attributes.extended
        match.source.extended = recorded.extended.filter { selection.contains($0.name) }
        match.compare(by: self)
        return match.causes
    }
}
