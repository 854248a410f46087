import FileStorage
import FileSystem

/// Writes a manifest as a stream: header, one line per entry in the order of a scan, totals and checksum.
///
///     {"format":"fsync-lite-manifest","version":3,"id":…,"root":…,"created":…,
///     "entries":[
///     {"path":"a","type":"file","size":1,"modified":…,"mode":"0644","owner":0,"group":0,"inode":…,"changed":…}
///     ],
///     "summary":{"files":1,"directories":0,"symlinks":0,"others":0,"bytes":1},"checksum":"…"}
package struct ManifestWriter: Sendable {
    package static let format: StaticString = "fsync-lite-manifest"
    /// Version 2 added marks and the target's change times, version 3 the numbers of objects. Both can still be read.
    package static let version = 3

    private var document: DocumentWriter
    /// Whether each entry has the number of its object.
    let isNumbered: Bool
    package private(set) var summary = ManifestSummary()
    private var previous = RelativePath.root
    private var previousType = FileType.directory
    /// The previous covered entry; nil if it is the previous entry.
    private var covered: (path: RelativePath, type: FileType)?
    /// The reason why no reader would accept the document.
    private var fault: String?

    package init(_ header: ManifestHeader) {
        isNumbered = header.nextObject != nil
        document = DocumentWriter(
            format: ManifestWriter.format.description, version: ManifestWriter.version)
        document.text.fields(ManifestHeader.fields, of: header)
        document.beginArray("entries")
    }

    /// Appends an entry. If entries are out of order, `drain` throws.
    ///
    /// - Parameter targetInode: for a mirror, the inode in the tree of the manifest.
    package mutating func append(
        path: RelativePath, status: FileStatus, destination: [UInt8],
        extended: ExtendedAttributes = ExtendedAttributes(), omitted: Omissions = [], targetInode: UInt64?,
        targetChanged: FileTime? = nil, marks: EntryMarks = [], digest: Digest? = nil, object: UInt64 = 0
    ) {
        check(path, status.type, isCovered: !marks.contains(.uncovered))
        if !marks.contains(.uncovered) { summary.count(status) }
        document.beginElement()
        document.text.entry(
            path: path, status: status, destination: destination, extended: extended, omitted: omitted,
            targetInode: targetInode, targetChanged: targetChanged, marks: marks, digest: digest,
            object: object)
        document.endElement()
    }

    /// Appends the present entry of a stream.
    ///
    /// - Parameter isMirror: if false, the manifest has no facts about a target.
    package mutating func append(_ entry: some EntryStream, isMirror: Bool = true) {
        guard !entry.append(to: &self) else { return }
        append(
            path: entry.path, status: entry.status, destination: entry.destination,
            extended: entry.extended, omitted: entry.omitted,
            targetInode: isMirror ? entry.targetInode : nil,
            targetChanged: isMirror ? entry.targetChanged : nil, marks: entry.marks, digest: entry.digest,
            object: isNumbered ? entry.object : 0)
    }

    /// Appends a line of another manifest.
    mutating func append(line: UnsafeBufferPointer<UInt8>, at path: RelativePath, of status: FileStatus) {
        check(path, status.type)
        summary.count(status)
        document.append(element: line)
    }

    /// Checks the order. The covered entries must form a tree by themselves, too.
    private mutating func check(_ path: RelativePath, _ type: FileType, isCovered: Bool = true) {
        if fault == nil { fault = EntryOrder.fault(path, after: previous, previousType) }
        if !isCovered, covered == nil { covered = (previous, previousType) }
        if isCovered, let before = covered {
            if fault == nil { fault = EntryOrder.fault(path, after: before.path, before.type) }
            covered = (path, type)
        }
        previous.bytes.removeAll(keepingCapacity: true)
        previous.bytes.append(contentsOf: path.bytes)
        previousType = type
    }

    /// Ends the document. `drain` writes out the rest.
    package mutating func end() {
        document.endArray()
        document.beginTrailer()
        document.text.summary(summary)
        document.end(withChecksum: true)
    }

    /// Writes out the gathered bytes if there are enough of them, or `all`.
    ///
    /// - Throws: `SyncError` with code `failed` if no reader would accept the manifest.
    package mutating func drain(to sink: inout some ByteSink & ~Copyable, all: Bool = false) throws {
        if let fault { throw SyncError(.failed, "the new manifest could not be read again: \(fault)") }
        try document.drain(to: &sink, all: all)
    }
}
