import FileSystem
import Synchronization

/// A source on another machine, over a connection. It is one directory or several.
///
/// All answers are checked like an untrusted manifest. A request names an entry that was sent before, by the
/// number of its directory and its name.
final class RemoteTree: SourceTree, FarEntries {
    let link: RemoteLink
    let monitor: any Monitor
    private let opened: OpenedTree
    /// The answer to `rules`. It is asked for before the scan, because answers come in order.
    private let rulesAhead = Mutex<RemoteLink.Answer?>(nil)
    private let rulesFound = Mutex(DirectoryRules(said: [:]))
    private let sent = Mutex(EntryLocator())
    /// The tree that the other end has reported, after a scan with a record.
    private let received = Mutex<ReceivedTree?>(nil)
    private let attributes: MirroredAttributes

    /// Opens the source for a run with these options.
    init(_ link: RemoteLink, _ options: SyncOptions, _ monitor: any Monitor) throws {
        (self.link, self.monitor) = (link, monitor)
        attributes = options.settableAttributes
        let attributes = attributes
        let answer = try link.ask(.open) { frame in
            frame.bytes(link.endpoint.path)
            frame.byte(attributes.rawValue)
            frame.selection(attributes.extended)
            frame.flag(options.recordsDigests || options.verifiesCopies)
            frame.size(options.mostHoles)
            frame.flag(options.strict)
            frame.filters(options.filters)
        }
        opened = try link.reading {
            try OpenedTree(answer.end(monitor), attributes.extended, at: link.endpoint)
        }
    }

    // MARK: Content

    var facts: SourceFacts { opened.facts }
    var isEarlier: Bool { false }

    func rootFile(_ selection: ExtendedAttributes.Selection) throws -> File? {
        guard !opened.isJoined else { return nil }
        return File(
            path: .root, status: opened.roots[0].status, destination: [],
            extended: opened.extended.filter { selection.contains($0.name) })
    }

    var roots: [FileStatus] { opened.roots.map(\.status) }

    var locator: EntryLocator { sent.withLock(\.self) }

    // MARK: Scan

    func overlaps(with target: Overlap.Goal, _ filters: Filters) throws -> [Refusal] {
        // Inodes and devices of two machines may be the same by chance.
        let isOfThisMachine = try KernelClock.boot() == facts.scanned.clock.boot
        let places = opened.roots.map { Overlap.Place(name: $0.name, chain: $0.chain) }
        return Overlap.found(
            between: places, and: isOfThisMachine ? try Overlap.chain(from: target.directory) : [],
            isThere: target.isThere
        ).map { .overlap($0.text(places)) }
    }

    func rules() throws -> DirectoryRules {
        if let answer = rulesAhead.withLock({ $0.take() }) {
            let rules = try link.reading {
                var reader = try answer.end(monitor)
                return DirectoryRules(said: try RemoteTree.rules(&reader))
            }
            rulesFound.withLock { $0 = rules }
        }
        return rulesFound.withLock(\.self)
    }

    static func rules(_ reader: inout FrameReader) throws(WireError) -> [RelativePath: FilterDirectory] {
        var said: [RelativePath: FilterDirectory] = [:]
        while !reader.isAtEnd {
            let path = try reader.path()
            var directory = FilterDirectory()
            if try reader.flag() { directory.ignoreFile = try reader.bytes(upTo: FilterRules.sizeLimit) }
            directory.isCache = try reader.flag()
            directory.isOtherFileSystem = try reader.flag()
            guard said.updateValue(directory, forKey: path) == nil else {
                throw WireError("a directory twice")
            }
        }
        return said
    }

    func scan(
        _ filters: Filters, _ options: TreeScan.Options, _ monitor: any Monitor, record: SourceRecord?
    ) throws -> BackgroundScan {
        if let record, let tree = takeReceived() {
            return try BackgroundScan(producing: { [self] push in
                try link.reading { try readChanged(tree, record, options, monitor, push) }
            })
        }
        sent.withLock { $0 = EntryLocator() }
        received.withLock { $0 = nil }
        if filters.readDirectories {
            let rules = try link.ask(.rules)
            rulesAhead.withLock { $0 = rules }
        }
        guard let record else {
            let answer = try askForAll(options)
            return try BackgroundScan(producing: { [self] push in
                try link.reading { try read(answer, options, monitor, push) }
            })
        }
        let salt = RandomID.bytes(WireFormat.saltSize)
        let digests = TreeDigests(salt: salt, attributes)
        let answer = try link.ask(.digests) { frame in
            frame.flag(options.others.contains(where: \.isMountRoot))
            frame.bytes(salt)
        }
        return try BackgroundScan(producing: { [self] push in
            try link.reading { try readRecorded(answer, digests, record, options, monitor, push) }
        })
    }

    func askForAll(_ options: TreeScan.Options) throws -> RemoteLink.Answer {
        try link.ask(.scan) { $0.flag(options.others.contains(where: \.isMountRoot)) }
    }

    func takeReceived() -> ReceivedTree? { received.withLock { $0.take() } }

    /// Stores the reported tree, so that its entries can be asked for.
    func keep(_ tree: ReceivedTree) {
        sent.withLock { $0 = tree.locator }
        received.withLock { $0 = tree }
    }

    /// - Returns: nil if the reader has closed the stream.
    func read(
        _ answer: RemoteLink.Answer, _ options: TreeScan.Options, _ monitor: any Monitor,
        _ push: (BackgroundScan.Batch) -> Bool
    ) throws -> TreeScan.Findings? {
        var decoder = EntryDecoder(parts: opened.roots.compactMap(\.name))
        var progress = SyncProgress(.scanning)
        struct ReaderIsGone: Error {}
        do {
            var end = try answer.end(monitor) { reader in
                while !reader.isAtEnd {
                    guard try push(batch(&reader, &decoder)) else { throw ReaderIsGone() }
                }
                progress.entries = decoder.count
                if options.reportsProgress { monitor.report(progress) }
            }
            return try end.findings()
        } catch is ReaderIsGone {
            answer.abandon()
            return nil
        }
    }

    /// The size of a batch, in bytes of whole paths in memory. A shared prefix is sent only once.
    private static let batchBytes = 256 * 1024

    private func batch(
        _ reader: inout FrameReader, _ decoder: inout EntryDecoder
    ) throws(WireError) -> BackgroundScan.Batch {
        var batch = BackgroundScan.Batch()
        var found: [RelativePath] = []
        var length = 0
        while !reader.isAtEnd, length < RemoteTree.batchBytes {
            let entry = try decoder.next(&reader)
            length += decoder.path.count
            batch.append(
                decoder.path, entry.status, entry.sight, entry.exclusion,
                destination: entry.destination)
            if entry.status.type == .directory { found.append(RelativePath(validated: decoder.path)) }
        }
        sent.withLock { sent in
            for path in found { sent.add(path, isDirectory: true) }
        }
        return batch
    }
}
