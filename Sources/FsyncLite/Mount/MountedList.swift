import FileSystem

/// A list of a target as rows: those of the manifest, and in between the lines of a layer. Memory holds the layer, and a
/// run for each piece of the manifest that is in the list.
final class MountedList: Sendable {
    /// Rows that follow each other in the list, and where they come from.
    struct Run: Sendable {
        /// The first row in the list, and its path.
        let first: Int
        let path: RelativePath
        /// In the manifest, or among the layer's own entries.
        let start: Int
        /// The directory of the list that has the content of one in the manifest; nil for own entries.
        let moved: (older: RelativePath, newer: RelativePath)?
    }

    let lines: ManifestLines
    let own: PackedList<ListLineCoding>
    /// In order; the last one ends with the list.
    let runs: [Run]
    let count: Int
    /// Runs of the manifest, by their rows there.
    private let byStart: [Int]
    /// Own entries by the numbers of their objects.
    private let ownRows: [UInt64: Int]
    /// The number of own names of files with several names, by object.
    private let ownLinks: [UInt64: UInt32]

    init(_ layer: ListLayer, over lines: ManifestLines, _ reader: EntryReader) throws {
        var builder = RunBuilder(lines)
        own = layer.entries
        try builder.add(layer.lines.sorted, reader)
        let runs = builder.runs
        (self.lines, self.runs, count) = (lines, runs, builder.count)
        (ownRows, ownLinks) = (builder.ownRows, builder.ownLinks)
        byStart = runs.indices.filter { runs[$0].moved != nil }.sorted { runs[$0].start < runs[$1].start }
    }

    // MARK: Rows

    func runIndex(of row: Int) -> Int { runs.partitionPoint(where: { $0.first <= row }) - 1 }

    private func end(ofRun index: Int) -> Int { index + 1 < runs.count ? runs[index + 1].first : count }

    /// A row of an object; nil if the list does not have it.
    func row(of object: UInt64) -> Int? { ownRows[object] ?? rows(of: object).first }

    /// The rows of an object that come from the manifest.
    private func rows(of object: UInt64) -> [Int] {
        lines.rows(of: object).compactMap { line in
            let next = byStart.partitionPoint(where: { runs[$0].start <= line })
            guard next > 0 else { return nil }
            let index = byStart[next - 1]
            let row = runs[index].first + line - runs[index].start
            return row < end(ofRun: index) ? row : nil
        }
    }

    /// The first row whose path is not before another one.
    func row(notBefore path: RelativePath, _ reader: EntryReader) throws -> Int {
        let index = runs.partitionPoint(where: { $0.path <= path }) - 1
        guard index >= 0 else { return 0 }
        let (run, end) = (runs[index], end(ofRun: index))
        let rows = run.start..<run.start + end - run.first
        guard let moved = run.moved else {
            let found = rows.partitionPoint(where: { own.order($0, comparedTo: path) < 0 })
            return run.first + found - run.start
        }
        // A path that is not below the directory comes after all of it.
        guard moved.older.isRoot || path.isBelow(moved.older) else { return end }
        let found = try reader.row(
            notBefore: path.replacing(moved.older, by: moved.newer), in: rows, of: lines)
        return run.first + found - run.start
    }

    /// How many names a file has in the list. The manifest may have more, or fewer.
    func linkCount(_ recorded: UInt32, of object: UInt64) -> UInt32 {
        guard recorded > 1 || ownLinks[object] != nil else { return recorded }
        return (ownLinks[object] ?? 0) + UInt32(rows(of: object).count)
    }
}

/// Finds which rows a list consists of.
private struct RunBuilder {
    /// A directory of the list, and the rows of the manifest that it still takes its content from.
    private struct Region {
        let older, newer: RelativePath
        var rows: Range<Int>
    }

    private let lines: ManifestLines
    private var regions: [Region]
    private(set) var runs: [MountedList.Run] = []
    private(set) var count = 0
    private(set) var ownRows: [UInt64: Int] = [:]
    private(set) var ownLinks: [UInt64: UInt32] = [:]

    init(_ lines: ManifestLines) {
        self.lines = lines
        regions = [Region(older: .root, newer: .root, rows: 0..<lines.count)]
    }

    mutating func add(_ sorted: PackedList<ListLineCoding>, _ reader: EntryReader) throws {
        var next = 0
        for index in sorted.indices {
            let path = sorted.path(at: index)
            while regions.count > 1, !path.isBelow(regions[regions.count - 1].older) { try leave(reader) }
            try leaveOut(path, reader)
            guard let head = sorted.beginning(at: index) else { continue }
            add(next, head, path)
            next += 1
            if head.isDirectory, let below = sorted.otherPath(at: index) { try enter(path, below, reader) }
        }
        while !regions.isEmpty { try leave(reader) }
    }

    /// Takes the rows of the present region before this one.
    private mutating func take(upTo row: Int, _ reader: EntryReader) throws {
        let region = regions[regions.count - 1]
        guard row > region.rows.lowerBound else { return }
        try reader.seek(region.rows.lowerBound, in: lines)
        let path = RelativePath(validated: reader.record.path)
        runs.append(
            MountedList.Run(
                first: count, path: path.replacing(region.newer, by: region.older),
                start: region.rows.lowerBound, moved: (older: region.older, newer: region.newer)))
        count += row - region.rows.lowerBound
        regions[regions.count - 1].rows = row..<region.rows.upperBound
    }

    private mutating func leave(_ reader: EntryReader) throws {
        try take(upTo: regions[regions.count - 1].rows.upperBound, reader)
        regions.removeLast()
    }

    /// Leaves out the manifest's entries at a path and below it.
    private mutating func leaveOut(_ path: RelativePath, _ reader: EntryReader) throws {
        let region = regions[regions.count - 1]
        let replaced = path.replacing(region.older, by: region.newer)
        try take(upTo: reader.row(notBefore: replaced, in: region.rows, of: lines), reader)
        let rest = regions[regions.count - 1].rows
        let next = try reader.row(notBefore: replaced.endOfSubtree, in: rest, of: lines)
        regions[regions.count - 1].rows = next..<rest.upperBound
    }

    private mutating func enter(
        _ path: RelativePath, _ below: RelativePath, _ reader: EntryReader
    ) throws {
        let all = 0..<lines.count
        let first = RelativePath(validated: below.bytes + [separator])
        let content = try reader.row(notBefore: first, in: all, of: lines)
        let end = try reader.row(notBefore: below.endOfSubtree, in: all, of: lines)
        regions.append(Region(older: path, newer: below, rows: content..<max(content, end)))
    }

    private mutating func add(_ index: Int, _ head: ListLineCoding.Beginning, _ path: RelativePath) {
        if runs.isEmpty || runs[runs.count - 1].moved != nil {
            runs.append(MountedList.Run(first: count, path: path, start: index, moved: nil))
        }
        if head.isMultiplyLinked { ownLinks[head.object, default: 0] += 1 }
        ownRows[head.object] = count
        count += 1
    }
}

extension RelativePath {
    /// The same path in another directory than the one that it is below, or is.
    fileprivate func replacing(_ directory: RelativePath, by other: RelativePath) -> RelativePath {
        if directory == other { return self }
        if directory.isRoot { return RelativePath(validated: other.bytes + [separator] + bytes) }
        let rest = bytes[directory.bytes.count...]
        return RelativePath(validated: Array(other.isRoot ? rest.dropFirst() : other.bytes + rest))
    }
}

/// Reads rows of lists, on one thread. The properties tell of the present row.
final class RowReader {
    let lines = EntryReader()
    private(set) var path = RelativePath.root
    /// With the number of names that the list has.
    private(set) var status = EntryRecord().status
    private(set) var object: UInt64 = 0
    private(set) var isUncovered = false
    /// Of an entry that the manifest does not have at its path.
    private(set) var own: File?
    /// The path in the manifest; nil for an own entry.
    private(set) var present: RelativePath?

    func seek(_ row: Int, in list: MountedList) throws {
        let run = list.runs[list.runIndex(of: row)]
        let index = run.start + row - run.first
        if let moved = run.moved {
            try lines.seek(index, in: list.lines)
            let record = lines.record
            let path = RelativePath(validated: record.path)
            (present, own) = (path, nil)
            self.path = path.replacing(moved.newer, by: moved.older)
            (status, object, isUncovered) = (record.status, record.object, record.marks.contains(.uncovered))
        } else if let entry = list.own[index].entry {
            (present, own) = (nil, entry.file)
            (path, status) = (entry.file.path, entry.file.status)
            (object, isUncovered) = (entry.object, entry.isUncovered)
        }
        if status.type != .directory { status.links = list.linkCount(status.links, of: object) }
    }

    var destination: [UInt8] { own?.destination ?? lines.record.destination }
    var extended: ExtendedAttributes { own?.extended ?? lines.record.extended }
    var omitted: Omissions { own?.omitted ?? lines.record.omitted }
    var digest: Digest? { own.map(\.digest) ?? lines.record.digest }
}
