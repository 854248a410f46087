import FileSystem

/// The part of a source that the other end has reported, beside the manifest's record. It knows which
/// directories are unchanged, and the entries of the others. It uses no connection.
struct ReceivedTree: Sendable {
    /// How a directory was reported. A directory without a value was reported with a directory above it.
    enum Reported: Sendable {
        /// It is unchanged, with everything below it.
        case recorded
        /// Its entries are unchanged. Its subdirectories were reported one by one.
        case same
        case entries
        /// It equals the record of another directory, with everything below it.
        case moved
        case unlisted
        case gone
    }

    /// A directory to ask for.
    struct Asked: Sendable {
        let path: RelativePath
        let list: AskedList
        /// The directory that the record has at this path.
        let node: Int?
    }

    /// The digests of the record.
    var digests: TreeDigests
    /// The file system of the source's root. Entries on another one are always reported.
    let device: DeviceNumber
    /// The findings of the scan for digests, and of the answers since.
    var findings = TreeScan.Findings()
    private(set) var reports: [RelativePath: Reported] = [:]
    private(set) var locator = EntryLocator()
    private var entries = PackedList<ReceivedCoding>()
    /// The new paths of moved directories, by the node of the recorded directory.
    private var moved: [Int: [RelativePath]] = [:]
    private var nodesByDigest: [DirectoryDigest: Int]?
    /// The name before the next entry of the present answer.
    private(set) var lastName: [UInt8] = []
    private var finder: TreeDigests.Finder?

    /// If there are more new entries than this, a stream of all entries is better than storing them.
    private static let mostEntries = 200_000

    init(_ digests: TreeDigests, on device: DeviceNumber) {
        (self.digests, self.device) = (digests, device)
    }

    var isTooLarge: Bool { entries.count > digests.count + ReceivedTree.mostEntries }

    // MARK: Asking

    /// The directory to ask for first.
    var first: [Asked] { [ask(.root, 0)] }

    private func ask(_ path: RelativePath, _ node: Int?) -> Asked {
        let own = node.map { digests.nodes[$0].own } ?? .unknown
        return Asked(
            path: path,
            list: AskedList(number: locator.number(of: path), own.isKnown ? .unless(own) : .entries),
            node: node)
    }

    /// Takes the next part of the answer for a directory.
    ///
    /// - Parameters:
    ///   - following: receives the directories to ask for next.
    ///   - take: called with the directory's entries, which are then not stored.
    /// - Returns: whether it was the last part.
    mutating func take(
        _ item: ListItem, of asked: Asked, following: inout [Asked],
        _ take: ((RelativePath, FileStatus) -> Void)? = nil
    ) throws(WireError) -> Bool {
        switch item {
        case .entry(let name, let entry, let digest):
            let path = asked.path.appending(name)
            guard path.bytes.count <= RelativePath.longest else { throw WireError("a path is too long") }
            lastName = Array(name.bytes)
            if let take {
                take(path, entry.status)
            } else {
                let file = File(path: path, status: entry.status, destination: entry.destination)
                entries.append((file, entry.exclusion, entry.sight))
            }
            if case .rest = asked.list.wish { return false }
            guard entry.status.type == .directory else { return false }
            if finder == nil { finder = TreeDigests.Finder(digests, in: asked.node) }
            let node = finder?.find(name.bytes, in: digests)
            guard entry.sight != .unseen else {
                try number(path)
                return false
            }
            try number(path, node, digest, isListed: true, &following)
            return false
        case .end:
            reports[asked.path] = .entries
        case .same(let found):
            guard case .unless = asked.list.wish, lastName.isEmpty, let node = asked.node else {
                throw WireError("a list that was not asked for")
            }
            let nodes = Array(digests.subdirectories(of: node))
            guard nodes.count == found.count else { throw WireError("digests of other directories") }
            reports[asked.path] = .same
            for (node, digest) in zip(nodes, found) {
                guard let name = FileName(digests.name(of: node)) else { continue }
                try number(asked.path.appending(name), node, digest, isListed: false, &following)
            }
        case .unlisted, .gone:
            guard lastName.isEmpty else { throw WireError("a list without an end") }
            if case .gone = item { reports[asked.path] = .gone } else { reports[asked.path] = .unlisted }
        }
        (lastName, finder) = ([], nil)
        return true
    }

    private mutating func number(_ path: RelativePath) throws(WireError) {
        guard locator.directories.count < UInt32.max else { throw WireError("too many directories") }
        locator.add(path, isDirectory: true)
    }

    /// Gives a directory its number, and asks for the directory if it has changed.
    ///
    /// - Parameter isListed: the entries of its parent were sent, so `reports` must say that it is unchanged.
    private mutating func number(
        _ path: RelativePath, _ node: Int?, _ digest: DirectoryDigest, isListed: Bool,
        _ following: inout [Asked]
    ) throws(WireError) {
        try number(path)
        if digest.isKnown {
            if let node, digests.nodes[node].tree == digest {
                if isListed { reports[path] = .recorded }
                return
            }
            if let other = recorded(with: digest) {
                reports[path] = .moved
                moved[other, default: []].append(path)
                return
            }
        }
        following.append(ask(path, node))
    }

    private mutating func recorded(with digest: DirectoryDigest) -> Int? {
        if nodesByDigest == nil {
            let known = digests.nodes.indices.filter { digests.nodes[$0].tree.isKnown }
            nodesByDigest = Dictionary(known.map { (digests.nodes[$0].tree, $0) }) { first, _ in first }
        }
        return nodesByDigest?[digest]
    }

    /// Returns the directories to ask for again, because they were reported only as unchanged. It is empty
    /// when the entries of all wanted directories are known.
    func next(for wanted: inout Set<RelativePath>) -> [Asked] {
        var asked: [RelativePath: Asked] = [:]
        for path in wanted {
            var known = path
            while locator.directories[known] == nil, let above = known.parent { known = above }
            let report = reports[known]
            switch report {
            case nil, .recorded, .moved:
                asked[known] = ask(known, report == .moved ? nil : digests.node(at: known))
            case .same where known == path:
                asked[path] = Asked(
                    path: path, list: AskedList(number: locator.number(of: path), .rest), node: nil)
            // Its entries were reported, or it is gone.
            case .same, .entries, .unlisted, .gone: wanted.remove(path)
            }
        }
        return asked.values.sorted { $0.path < $1.path }
    }

    // MARK: Giving

    var hasMoved: Bool { !moved.isEmpty }

    /// Makes a recorded status one of the source.
    func status(_ recorded: FileStatus) -> FileStatus {
        var status = recorded
        status.device = device
        // The record does not have the allocated size. The file is looked at again before it is copied.
        if status.type == .file { status.allocated = status.size }
        return status
    }

    /// Stores the recorded entries of moved directories under their new paths.
    ///
    /// - Parameter record: read from its beginning.
    mutating func gather(_ record: some EntryStream) throws {
        var node = 0
        /// The moved directories above the present entry.
        var open: [(path: RelativePath, goals: [RelativePath])] = []
        while try record.advance(), !isTooLarge {
            let path = record.path
            while let last = open.last, !path.isBelow(last.path) { open.removeLast() }
            for (directory, goals) in open {
                for goal in goals {
                    let rest = path.bytes[directory.bytes.count...].drop { $0 == UInt8(ascii: "/") }
                    let place = RelativePath(
                        validated: goal.bytes + (goal.isRoot ? [] : [UInt8(ascii: "/")]) + rest)
                    let file = File(
                        path: place, status: status(record.status), destination: record.destination)
                    entries.append((file, .none, .whole))
                }
            }
            if record.status.type == .directory {
                node += 1
                if let goals = moved[node] { open.append((path, goals)) }
            }
        }
    }

    /// Gives all entries in order.
    ///
    /// - Parameters:
    ///   - record: read from its beginning.
    ///   - push: takes a batch; returns false to end it.
    /// - Returns: whether all entries were given.
    mutating func give(_ record: some EntryStream, _ push: (BackgroundScan.Batch) throws -> Bool) throws
        -> Bool
    {
        entries.sort()
        let entries = entries
        self.entries.clear()
        var batch = BackgroundScan.Batch()
        func add(
            _ path: RelativePath, _ status: FileStatus, _ destination: [UInt8],
            _ exclusion: Exclusion = .none, _ sight: Sight = .whole
        ) throws -> Bool {
            let report = status.type == .directory ? reports[path] : nil
            if report == .gone { return true }
            batch.append(
                path.bytes, status, report == .unlisted ? .unlisted : sight, exclusion,
                destination: destination)
            guard batch.isFull else { return true }
            defer { batch = BackgroundScan.Batch() }
            return try push(batch)
        }
        var next = entries.startIndex
        func addReceived(before path: RelativePath?) throws -> Bool {
            while next < entries.endIndex,
                path.map({ entries.order(next, comparedTo: $0) < 0 }) ?? true
            {
                let (file, exclusion, sight) = entries[next]
                next += 1
                guard try add(file.path, file.status, file.destination, exclusion, sight) else {
                    return false
                }
            }
            return true
        }
        /// Whether the entries of each open directory are those of the record.
        var open = [
            (path: RelativePath.root, isRecorded: ReceivedTree.isRecorded(reports[.root], below: true))
        ]
        while try record.advance() {
            let path = record.path
            while open.count > 1, !path.isBelow(open[open.count - 1].path) { open.removeLast() }
            let isRecorded = open[open.count - 1].isRecorded
            if isRecorded {
                guard try addReceived(before: path),
                    try add(path, status(record.status), record.destination)
                else { return false }
            }
            if record.status.type == .directory {
                open.append((path, ReceivedTree.isRecorded(reports[path], below: isRecorded)))
            }
        }
        guard try addReceived(before: nil) else { return false }
        return try batch.isEmpty || push(batch)
    }

    private static func isRecorded(_ report: Reported?, below isAboveRecorded: Bool) -> Bool {
        switch report {
        case nil: isAboveRecorded
        case .recorded, .same: true
        case .entries, .moved, .unlisted, .gone: false
        }
    }
}

/// Packs the entries that were reported.
private enum ReceivedCoding: PackedCoding {
    typealias Element = (file: File, exclusion: Exclusion, sight: Sight)

    static func path(of element: Element) -> RelativePath { element.file.path }

    static func pack(_ element: Element, into store: inout PackedStore) {
        store.put(byte: element.exclusion == .byStatus ? 1 : 0)
        store.put(byte: element.sight.rawValue)
        store.put(element.file)
    }

    static func unpack(
        _ cursor: inout PackedStore.Cursor, _: Void, at path: RelativePath, other: RelativePath?,
        _ store: PackedStore
    ) -> Element {
        let exclusion = cursor.byte() != 0 ? Exclusion.byStatus : .none
        let sight = Sight(rawValue: cursor.byte()) ?? .unseen
        return (store.file(&cursor, at: path), exclusion, sight)
    }
}
