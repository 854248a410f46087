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
    /// How many of the files so far have a digest.
    package private(set) var digests = 0
    package private(set) var path = RelativePath.root
    private var previous = RelativePath.root
    private var record = EntryRecord()
    private var document: DocumentReader
    private var isFirst = true

    package var status: FileStatus { record.status }
    package var destination: [UInt8] { record.destination }
    package var extended: ExtendedAttributes { record.extended }
    package var omitted: Omissions { record.omitted }
    package var targetInode: UInt64 { record.targetInode ?? record.status.inode }
    package var digest: Digest? { record.digest }

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
        let previousType = record.status.type
        // The two take turns, so that neither is made anew for each entry.
        swap(&path, &previous)
        if !document.takeLine({ PlainEntry.read($0, into: &record) }) { try document.entry(into: &record) }
        guard RelativePath.isValid(record.path), !record.path.isEmpty else {
            throw document.error("\"\(escapedText(record.path))\" is no path below the root")
        }
        swap(&path.bytes, &record.path)
        guard isFirst || previous < path else {
            throw document.error("\"\(path)\" does not come after \"\(previous)\"")
        }
        try checkParent(previousType)
        isFirst = false
        summary.count(record.status)
        if record.digest != nil { digests += 1 }
        return true
    }

    /// Appends the line as it stands, where that is as short a way as there is: a plain one.
    package func append(to writer: inout ManifestWriter) -> Bool {
        var isDone = false
        document.withTaken {
            writer.append(line: $0, of: record.status)
            isDone = true
        }
        return isDone
    }

    /// The directory of an entry is the one before it, or one that holds the one before it; that one was checked in
    /// its turn.
    private func checkParent(_ previousType: FileType) throws {
        guard let slash = path.bytes.lastIndex(of: UInt8(ascii: "/")) else {
            guard !path.bytes.elementsEqual(TreeScan.reservedName.bytes) else {
                throw document.error("\"\(path)\" is reserved at the root")
            }
            return
        }
        guard previous.lies(inFirst: slash, of: path, orIsIt: previousType == .directory) else {
            throw document.error("the directory of \"\(path)\" is missing")
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

extension RelativePath {
    /// Whether the path lies below the directory that the first bytes of another name, or is that directory.
    fileprivate func lies(inFirst length: Int, of other: RelativePath, orIsIt mayBeIt: Bool) -> Bool {
        let (bytes, directory) = (bytes.span, other.bytes.span)
        guard bytes.count >= length else { return false }
        var index = 0
        while index < length, bytes[index] == directory[index] { index += 1 }
        return index == length && (bytes.count == length ? mayBeIt : bytes[length] == UInt8(ascii: "/"))
    }
}
