import FileSystem

/// What a tree holds in all.
public struct ManifestSummary: Hashable, Sendable {
    public internal(set) var files = 0
    public internal(set) var directories = 0
    public internal(set) var symlinks = 0
    /// FIFOs and device nodes.
    public internal(set) var others = 0
    /// Bytes of content in files.
    public internal(set) var bytes: Int64 = 0

    public init() {}

    public var entries: Int { files + directories + symlinks + others }

    mutating func count(_ status: FileStatus) {
        switch status.type {
        case .file:
            files += 1
            bytes &+= status.size
        case .directory: directories += 1
        case .symlink: symlinks += 1
        case .fifo, .characterDevice, .blockDevice, .socket: others += 1
        }
    }

    init(from reader: inout DocumentReader) throws {
        var seen: Set<String> = []
        try reader.object { reader, key in
            let name = String(decoding: key, as: UTF8.self)
            guard seen.insert(name).inserted else { throw reader.error("the key \"\(name)\" twice") }
            switch name {
            case "files": files = try reader.integer()
            case "directories": directories = try reader.integer()
            case "symlinks": symlinks = try reader.integer()
            case "others": others = try reader.integer()
            case "bytes": bytes = try reader.integer()
            default: return false
            }
            return true
        }
        guard seen.count == 5 else { throw reader.error("a total is missing") }
    }
}

extension JSONText {
    /// The totals as an object.
    package mutating func summary(_ summary: ManifestSummary) {
        beginObject()
        field("files", summary.files)
        field("directories", summary.directories)
        field("symlinks", summary.symlinks)
        field("others", summary.others)
        field("bytes", summary.bytes)
        endObject()
    }
}
