/// A part of a manifest, in memory and as a manifest of its own. It has some of the entries, and all directories.
struct ManifestExcerpt: Sendable {
    private var writer: ManifestWriter
    private(set) var text: [UInt8] = []
    /// The numbers of entries that are left out.
    private(set) var leftOut = (covered: 0, uncovered: 0)

    /// If the excerpt has more bytes, it is better to read the manifest again.
    private static let limit = 4 << 20

    init(of manifest: ManifestReader) { writer = ManifestWriter(manifest.header) }

    /// Adds the present entry, or leaves it out.
    ///
    /// - Returns: false if the excerpt becomes too large. Also for a manifest without numbers, because a reader counts
    ///   its lines.
    mutating func take(_ manifest: ManifestReader, isWanted: Bool) throws -> Bool {
        if isWanted || manifest.status.type == .directory {
            writer.append(manifest)
            try writer.drain(to: &text)
        } else if manifest.marks.contains(.uncovered) {
            leftOut.uncovered += 1
        } else {
            leftOut.covered += 1
        }
        return writer.isNumbered && text.count <= ManifestExcerpt.limit
    }

    mutating func end() throws {
        writer.end()
        try writer.drain(to: &text, all: true)
    }
}
