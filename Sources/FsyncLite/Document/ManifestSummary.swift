import FileSystem

/// The totals of a tree.
public struct ManifestSummary: Hashable, Sendable {
    public internal(set) var files = 0
    public internal(set) var directories = 0
    public internal(set) var symlinks = 0
    /// FIFOs and device nodes.
    public internal(set) var others = 0
    /// Bytes of content in files.
    public internal(set) var bytes: ByteCount = 0

    public init() {}

    public var entries: Int { [directories, symlinks, others].reduce(files) { $0.saturatingAdd($1) } }

    mutating func count(_ status: FileStatus) {
        switch status.type {
        case .file:
            files += 1
            bytes += status.size
        case .directory: directories += 1
        case .symlink: symlinks += 1
        case .fifo, .characterDevice, .blockDevice, .socket: others += 1
        }
    }

    /// The totals in order. All are required.
    static let fields: [Field<ManifestSummary>] = [
        Field("files", .integer, \.files), Field("directories", .integer, \.directories),
        Field("symlinks", .integer, \.symlinks), Field("others", .integer, \.others),
        Field(
            "bytes", .integer, isRequired: true, get: { $0.bytes.rawCount },
            set: { $0.bytes = ByteCount(sum: $1) }),
    ]
}

extension JSONText {
    package mutating func summary(_ summary: ManifestSummary) {
        object("summary") { $0.fields(ManifestSummary.fields, of: summary) }
    }
}
