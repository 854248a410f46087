import FileSystem

/// Reads a manifest as a stream of entries, strictly. Any damage is an error with file and line. So is a path that is
/// invalid, repeated or not sorted, an entry without its directory, and a wrong type or total.
///
/// The last line can still have an error. So do not act on a manifest before `advance` has returned false.
package final class ManifestReader: EntryStream {
    /// Only one thread uses it, and its accesses never overlap. A check of that would cost time for each entry.
    @exclusivity(unchecked) private var cursor: ManifestCursor
    private let readsUncovered: Bool

    /// - Parameters:
    ///   - path: the path of the manifest, for messages.
    ///   - withUncovered: also yields uncovered entries, which are not in the totals.
    package convenience init(
        _ descriptor: consuming FileDescriptor, path: [UInt8], withUncovered: Bool = false
    ) throws {
        try self.init(
            DocumentReader(
                descriptor, path: path, format: ManifestWriter.format, newestVersion: ManifestWriter.version),
            withUncovered: withUncovered)
    }

    /// Reads an excerpt, including uncovered entries.
    convenience init(_ excerpt: ManifestExcerpt) throws {
        try self.init(
            DocumentReader(
                text: excerpt.text, format: ManifestWriter.format, newestVersion: ManifestWriter.version),
            withUncovered: true)
    }

    private init(_ document: consuming DocumentReader, withUncovered: Bool) throws {
        readsUncovered = withUncovered
        var document = document
        var header = ManifestHeader(
            id: "", root: [], created: .unknown)
        try document.leadingFields(ManifestHeader.fields, into: &header)
        guard header.isWhole else { throw document.error("a field of a mirror is here without its source") }
        try document.beginArray("entries")
        cursor = ManifestCursor(document, after: header)
    }

    package func advance() throws -> Bool {
        while try cursor.advance() {
            if readsUncovered || !cursor.record.marks.contains(.uncovered) { return true }
        }
        return false
    }

    package var header: ManifestHeader { cursor.header }
    /// The totals so far. After the end, they are those of the whole tree.
    package var summary: ManifestSummary { cursor.summary }
    /// The number of files with a digest so far.
    package var digests: Int { cursor.digests }
    package var path: RelativePath { cursor.path }
    package var status: FileStatus { cursor.record.status }
    package var destination: [UInt8] { cursor.record.destination }
    package var extended: ExtendedAttributes { cursor.record.extended }
    package var omitted: Omissions { cursor.record.omitted }
    package var targetInode: UInt64 { cursor.record.targetInode ?? cursor.record.status.inode }
    package var targetChanged: FileTime? { cursor.record.targetChanged }
    package var marks: EntryMarks { cursor.record.marks }
    package var digest: Digest? { cursor.record.digest }
    package var object: UInt64 { cursor.object }
    /// After the end, the first number that no entry has.
    package var nextObject: UInt64 { cursor.nextObject }

    /// Appends the line unchanged. It must be in the plain form, which is also the shortest. Both manifests must have
    /// numbers of objects, or neither.
    package func append(to writer: inout ManifestWriter) -> Bool {
        writer.isNumbered == (header.nextObject != nil) && cursor.append(to: &writer)
    }
}

/// The state of reading a manifest. It is a noncopyable value inside `ManifestReader`, so that one thread can use it
/// without an exclusivity check at each step.
private struct ManifestCursor: ~Copyable {
    let header: ManifestHeader
    private(set) var summary = ManifestSummary()
    private(set) var digests = 0
    private(set) var path = RelativePath.root
    private(set) var record = EntryRecord()
    /// The number of the entry's object. In a manifest of an earlier version, it is a number of the line. There, all
    /// names of a file have the number of the first one.
    private(set) var object: UInt64 = 0
    private(set) var nextObject: UInt64
    private var numbers: [UInt64: UInt64] = [:]
    private var previous = RelativePath.root
    private var document: DocumentReader
    private var isFirst = true

    init(_ document: consuming DocumentReader, after header: ManifestHeader) {
        self.document = document
        self.header = header
        nextObject = header.nextObject ?? 1
    }

    mutating func advance() throws -> Bool {
        guard try document.nextElement(isFirst: isFirst) else {
            try end()
            return false
        }
        let previousType = record.status.type
        // Swapped, so that no array is allocated for each entry.
        swap(&path, &previous)
        if !document.takeLine({ PlainEntry.read($0, into: &record) }) { try document.entry(into: &record) }
        swap(&path.bytes, &record.path)
        if let fault = EntryOrder.fault(path, after: previous, previousType) { throw document.error(fault) }
        isFirst = false
        try number()
        if !record.marks.contains(.uncovered) {
            summary.count(record.status)
            if record.digest != nil { digests += 1 }
        }
        return true
    }

    private mutating func number() throws {
        if let next = header.nextObject {
            object = record.object
            guard 1..<next ~= object else {
                throw document.error("the number of an object is missing, or was never given")
            }
        } else if !header.sources.isEmpty {
            object = nextObject
            nextObject += 1
            guard record.status.links > 1 else { return }
            let inode = record.targetInode ?? record.status.inode
            object = numbers[inode] ?? object
            numbers[inode] = object
        }
    }

    func append(to writer: inout ManifestWriter) -> Bool {
        var isDone = false
        document.withConsumed {
            writer.append(line: $0, at: path, of: record.status)
            isDone = true
        }
        return isDone
    }

    private mutating func end() throws {
        try document.beginTrailer()
        guard try document.key("summary") else { throw document.error("\"summary\" is missing") }
        var recorded = ManifestSummary()
        try document.object(ManifestSummary.fields, into: &recorded)
        // If the sum is too large, versions whose sums wrapped may have written any number.
        if summary.bytes == .max { recorded.bytes = .max }
        guard recorded == summary else {
            throw document.error("the summary does not fit the list of files")
        }
        try document.expect(",")
        try document.end()
    }
}
