import FileSystem

/// Writes a manifest as a stream: header, one line per entry in scan order, totals and checksum.
package struct ManifestWriter: Sendable {
    package static let format: StaticString = "fsync-lite-manifest"

    private var document: DocumentWriter
    package private(set) var summary = ManifestSummary()

    package init(_ header: ManifestHeader) {
        document = DocumentWriter(format: ManifestWriter.format.description)
        header.write(to: &document.text)
        document.beginArray("entries")
    }

    /// Appends an entry; the caller keeps the order.
    ///
    /// - Parameter targetInode: the inode in the tree that the manifest lies in, for a mirror.
    package mutating func append(
        path: RelativePath, status: FileStatus, destination: [UInt8],
        extended: ExtendedAttributes = ExtendedAttributes(), omitted: Omissions = [], targetInode: UInt64?,
        digest: Digest? = nil
    ) {
        summary.count(status)
        document.beginElement()
        document.text.entry(
            path: path, status: status, destination: destination, extended: extended, omitted: omitted,
            targetInode: targetInode, digest: digest)
        document.endElement()
    }

    /// Appends an entry as another manifest has it.
    mutating func append(line: UnsafeBufferPointer<UInt8>, of status: FileStatus) {
        summary.count(status)
        document.append(element: line)
    }

    /// Ends the document; `drain` hands over the rest.
    package mutating func end() {
        document.endArray()
        document.beginTrailer()
        document.text.key("summary")
        document.text.summary(summary)
        document.end(withChecksum: true)
    }

    /// Hands over what has been written, when it is worth a call or `all` of it is wanted.
    package mutating func drain(to sink: inout some ByteSink & ~Copyable, all: Bool = false) throws {
        try document.drain(to: &sink, all: all)
    }
}
