/// A part of a manifest in memory, as a manifest of its own: some of its entries, and all its directories.
struct ManifestExcerpt: Sendable {
    private var writer: ManifestWriter
    private(set) var text: [UInt8] = []
    /// The number of entries that are left out, without uncovered ones.
    private(set) var leftOut = 0

    /// Above this number of bytes, reading the manifest again is better.
    private static let limit = 16 << 20

    init(of manifest: ManifestReader) { writer = ManifestWriter(manifest.header) }

    /// Adds the present entry, or leaves it out.
    ///
    /// - Returns: false when the excerpt would be too large.
    mutating func take(_ manifest: ManifestReader, isWanted: Bool) throws -> Bool {
        if isWanted || manifest.status.type == .directory {
            writer.append(manifest)
            try writer.drain(to: &text)
        } else if !manifest.marks.contains(.uncovered) {
            leftOut += 1
        }
        return text.count <= ManifestExcerpt.limit
    }

    mutating func end() throws {
        writer.end()
        try writer.drain(to: &text, all: true)
    }
}
