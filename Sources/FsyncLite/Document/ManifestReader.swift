import FileSystem

/// Reads a manifest as a stream of entries, strictly: a duplicate, unsorted or invalid path, an entry without its
/// directory, a wrong type or total, and any damage is an error with file and line.
///
/// An error can come as late as the last line, so a manifest must not be acted on before `advance` has returned false.
package final class ManifestReader: EntryStream {
    /// One thread uses it, and no access lasts while another begins, which would be checked for each entry.
    @exclusivity(unchecked) private var cursor: ManifestCursor
    private let readsUncovered: Bool

    /// - Parameters:
    ///   - path: the manifest's own, for messages.
    ///   - withUncovered: also yields uncovered entries, which are in no total.
    package convenience init(
        _ descriptor: consuming FileDescriptor, path: [UInt8], withUncovered: Bool = false
    ) throws {
        try self.init(
            DocumentReader(
                descriptor, path: path, format: ManifestWriter.format, newestVersion: ManifestWriter.version),
            withUncovered: withUncovered)
    }

    /// Reads an excerpt, with uncovered entries.
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
    /// The totals so far; after the end, those of the whole tree.
    package var summary: ManifestSummary { cursor.summary }
    /// The number of files so far that have a digest.
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
    /// After the end: the first number that no entry has.
    package var nextObject: UInt64 { cursor.nextObject }

    /// Appends the line unchanged, if it is in the plain form, which is also the shortest, and has what the manifest that
    /// is written has.
    package func append(to writer: inout ManifestWriter) -> Bool {
        writer.isNumbered == (header.nextObject != nil) && cursor.append(to: &writer)
    }
}

/// The state of reading a manifest. A noncopyable value inside `ManifestReader`, because one thread then uses it
/// without an exclusivity check at each step.
private struct ManifestCursor: ~Copyable {
    let header: ManifestHeader
    private(set) var summary = ManifestSummary()
    private(set) var digests = 0
    private(set) var path = RelativePath.root
    private(set) var record = EntryRecord()
    /// The number of the entry's object: the recorded one, or in a manifest of an earlier version that of the line, where
    /// the names of one file have the number of the first.
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
        // Swapped, so that no array is allocated per entry.
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
        document.withTaken {
            writer.append(line: $0, at: path, of: record.status)
            isDone = true
        }
        return isDone
    }

    private mutating func end() throws {
        try document.beginTrailer()
        guard try document.key("summary") else { throw document.error("\"summary\" is missing") }
        var recorded = ManifestSummary()
        try document.object(ManifestSummary.fields, into: &recorded, incomplete: "a total is missing")
        // Versions whose sums wrapped wrote any number for a sum that is beyond all.
        if summary.bytes == .max { recorded.bytes = .max }
        guard recorded == summary else {
            throw document.error("the summary does not fit the list of files")
        }
        try document.expect(",")
        try document.end()
    }
}
