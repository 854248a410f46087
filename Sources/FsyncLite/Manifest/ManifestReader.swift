import FileSystem

/// Reads a manifest as a stream of entries, strictly: a duplicate, unsorted or impossible path, an entry
/// without its directory, a wrong type or total, and any damage is an error that names file and line.
///
/// An error can come as late as the last line, so nothing may be done on the strength of a manifest before
/// `advance` has returned false.
package final class ManifestReader: EntryStream {
    package private(set) var header: ManifestHeader
    /// The totals so far; after the end, of the whole tree.
    package private(set) var summary = ManifestSummary()
    package private(set) var path = RelativePath.root
    private var record = EntryRecord()
    private var document: DocumentReader
    private var isFirst = true

    package var status: FileStatus { record.status }
    package var destination: [UInt8] { record.destination }
    package var extended: ExtendedAttributes { record.extended }
    package var omitted: Omissions { record.omitted }
    package var targetInode: UInt64 { record.targetInode ?? record.status.inode }

    /// - Parameter path: the manifest's own, for messages.
    package init(_ descriptor: consuming FileDescriptor, path: [UInt8]) throws {
        document = try DocumentReader(descriptor, path: path, format: ManifestWriter.format)
        header = try ManifestHeader(from: &document)
        try document.beginArray("entries")
    }

    package func advance() throws -> Bool {
        guard try document.nextElement(isFirst: isFirst) else {
            try end()
            return false
        }
        let (previousPath, previousType) = (path, record.status.type)
        try document.entry(into: &record)
        guard let next = RelativePath(record.path), !next.isRoot else {
            throw document.error("\"\(escapedText(record.path))\" is no path below the root")
        }
        guard isFirst || previousPath < next else {
            throw document.error("\"\(next)\" does not come after \"\(previousPath)\"")
        }
        try checkParent(of: next, previousPath, previousType)
        isFirst = false
        path = next
        summary.count(record.status)
        return true
    }

    /// The directory of an entry is the one before it, or one that holds the one before it; that one was
    /// checked in its turn.
    private func checkParent(of next: RelativePath, _ previous: RelativePath, _ type: FileType) throws {
        guard let parent = next.parent, !parent.isRoot else {
            guard next.bytes != Array(TreeScan.reservedName.bytes) else {
                throw document.error("\"\(next)\" is reserved at the root")
            }
            return
        }
        guard parent == previous ? type == .directory : previous.isBelow(parent) else {
            throw document.error("the directory of \"\(next)\" is missing")
        }
    }

    private func end() throws {
        try document.beginTrailer()
        guard try document.key("summary") else { throw document.error("\"summary\" is missing") }
        guard try ManifestSummary(from: &document) == summary else {
            throw document.error("the summary does not fit the entries")
        }
        try document.expect(",")
        try document.end()
    }
}
