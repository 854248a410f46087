import FileSystem

/// Writes the entries of a scan, in order. Each is relative to the one before it.
///
///     entry = levels marks name status [destination]
///
/// `levels` is the number of open directories that end before this entry. It is 0 for the first entry of a
/// directory. The lowest bit of `marks` is set for a file that is too large. The other bits are the `Sight`.
struct EntryEncoder {
    /// The open directories: the length of the path, and the number. The root has number 0.
    private var open: [(length: Int, number: UInt32)] = [(0, 0)]
    private var devices: [DeviceNumber: UInt32] = [:]
    private var directoryCount: UInt32 = 1

    /// Begins another scan. The numbers of file systems remain valid.
    mutating func restart() { (open, directoryCount) = ([(0, 0)], 1) }

    /// The number of a file system in this session.
    mutating func number(of device: DeviceNumber) -> UInt32 {
        if let number = devices[device] { return number }
        let number = UInt32(devices.count)
        devices[device] = number
        return number
    }

    /// Adds the present entry of a scan.
    ///
    /// - Returns: the number of its directory, and its name.
    mutating func append(
        _ entry: some EntryStream, to frame: inout FrameWriter
    ) -> (directory: UInt32, name: [UInt8]) {
        let path = entry.path
        let parent = path.parent?.bytes.count ?? 0
        var levels: UInt32 = 0
        while open.count > 1, open[open.count - 1].length != parent {
            open.removeLast()
            levels += 1
        }
        let directory = open[open.count - 1].number
        frame.number(levels)
        let name = append(only: entry, at: path, to: &frame)
        if entry.status.type == .directory {
            open.append((path.bytes.count, directoryCount))
            directoryCount += 1
        }
        return (directory, name)
    }

    /// Adds an entry without its place in the tree.
    ///
    /// - Returns: its name.
    mutating func append(
        only entry: some EntryStream, at path: RelativePath, to frame: inout FrameWriter
    ) -> [UInt8] {
        let name = Array(path.lastComponent)
        let isTooLarge = if case .byStatus = entry.exclusion { true } else { false }
        frame.byte(entry.sight.rawValue << 1 | (isTooLarge ? 1 : 0))
        frame.bytes(name)
        let status = entry.status
        frame.status(status, device: number(of: status.device))
        if status.type == .symlink { frame.bytes(entry.destination) }
        return name
    }
}

/// Reads entries as strictly as those of a manifest.
struct EntryDecoder {
    struct Entry {
        var status: FileStatus
        var sight: Sight
        var exclusion: Exclusion
        var destination: [UInt8]
    }

    /// The open directories: the length of the path, and the last name in it.
    private var open: [(length: Int, last: [UInt8])] = [(0, [])]
    private(set) var path: [UInt8] = []
    /// The number of directories so far, with the root.
    private var directoryCount: UInt32 = 1
    private(set) var count = 0
    /// The names of the directories that are joined to the source; empty if the source is one directory.
    private let parts: Set<[UInt8]>

    init(parts: [String] = []) { self.parts = Set(parts.map { Array($0.utf8) }) }

    /// Reads the next entry, and sets `path`.
    mutating func next(_ reader: inout FrameReader) throws(WireError) -> Entry {
        let levels = try reader.number(UInt32.self)
        guard Int(levels) < open.count else { throw WireError("a path outside of the tree") }
        open.removeLast(Int(levels))
        let level = open.count - 1
        let (name, entry) = try EntryDecoder.entry(
            &reader, after: open[level].last, isAtTop: level == (parts.isEmpty ? 0 : 1))
        if !parts.isEmpty, level == 0 {
            guard entry.status.type == .directory, parts.contains(Array(name.bytes)) else {
                throw WireError("a path beside the sources")
            }
        }
        open[level].last = Array(name.bytes)
        path.removeLast(path.count - open[level].length)
        if !path.isEmpty { path.append(UInt8(ascii: "/")) }
        path.append(contentsOf: name.bytes)
        guard path.count <= RelativePath.longest else { throw WireError("a path is too long") }
        if entry.status.type == .directory {
            guard directoryCount < .max else { throw WireError("too many directories") }
            open.append((path.count, []))
            directoryCount += 1
        }
        count += 1
        return entry
    }

    /// Reads an entry without its place in the tree.
    ///
    /// - Parameters:
    ///   - last: the name before it in its directory; empty for the first.
    ///   - isAtTop: its directory is the root.
    static func entry(
        _ reader: inout FrameReader, after last: [UInt8], isAtTop: Bool
    ) throws(WireError) -> (FileName, Entry) {
        let marks = try reader.byte()
        guard let sight = Sight(rawValue: marks >> 1) else { throw WireError("a file with unknown marks") }
        let name = try reader.name()
        guard last.isEmpty || last.lexicographicallyPrecedes(name.bytes) else {
            throw WireError("paths out of order, or twice")
        }
        guard !isAtTop || name != FileName.state else { throw WireError("a file with a reserved name") }
        var status = try reader.status()
        var destination: [UInt8] = []
        if status.type == .symlink {
            destination = try reader.bytes(upTo: 65_535)
            guard !destination.contains(0) else { throw WireError("the destination of a symlink has a NUL") }
            status.size = ByteCount(clamping: destination.count)
        }
        let isTooLarge = marks & 1 != 0
        guard sight != .unlisted || status.type == .directory,
            !isTooLarge || sight == .whole && status.type == .file
        else { throw WireError("a file with marks of another type") }
        return (
            name,
            Entry(
                status: status, sight: sight, exclusion: isTooLarge ? .byStatus : .none,
                destination: destination)
        )
    }
}
