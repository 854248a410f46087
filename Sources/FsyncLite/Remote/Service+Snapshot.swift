import FileStorage
import FileSystem

// Earlier trees that are copied on another machine: the other end of a `FarSnapshot`.

extension Service {
    /// The snapshots that another machine may ask for.
    package struct Snapshots: Sendable {
        /// A tree, and the target that other runs have to leave alone meanwhile.
        typealias Opened = (CopiedSnapshot, TargetRoot?)

        struct Asked: Sendable {
            let target: [UInt8]
            let request: FarSnapshot.Request
        }

        /// Opens one.
        let open: @Sendable (Asked) throws -> Opened
    }
}

extension Service.Session {
    /// Opens the snapshot that is asked for. Its entries are sent with the answer.
    static func ofSnapshot(
        _ request: ServiceLink.Request, _ link: ServiceLink, _ access: Service.Access
    ) throws -> Service.Session {
        var reader = request.payload
        let path = try reader.bytes(upTo: WireFormat.longestPath)
        let (snapshot, locks) = (try reader.text(), try reader.flag())
        var paths: [[UInt8]] = []
        for _ in 0..<(try reader.number()) { paths.append(try reader.bytes(upTo: WireFormat.longestPath)) }
        try reader.end()
        guard !path.isEmpty, !path.contains(0) else { throw WireError("a path is none") }
        let snapshots =
            switch access {
            case .any(_, let all): all
            case .snapshot(let own): own
            case .only, .digests, .nothing: throw SyncError(.notServed("there is no snapshot"))
            }
        let asked = Service.Snapshots.Asked(
            target: path, request: FarSnapshot.Request(snapshot, paths: paths, locks: locks))
        let (tree, holder) = try snapshots.open(asked)
        return try Service.Session(link, access, tree, holder)
    }

    /// Sends the list as a manifest.
    func send(_ snapshot: CopiedSnapshot, for id: UInt32) throws {
        var header = snapshot.header
        header.rootEntry = try snapshot.contents.rootFile(.readable)
        var (list, sink, sent) = (ManifestWriter(header), ListSink(link: link, id: id), EntryLocator())
        let entries = try snapshot.entries()
        while try entries.advance() {
            let (path, isDirectory) = (entries.path, entries.status.type == .directory)
            try issued.append(
                Array(path.lastComponent), in: sent.number(of: path.parent ?? .root), isDirectory: isDirectory
            )
            sent.add(path, isDirectory: isDirectory)
            list.append(entries, isMirror: false)
            try list.drain(to: &sink)
        }
        list.end()
        try list.drain(to: &sink, all: true)
        var frame = FrameWriter(.answer)
        try SnapshotEnd(of: snapshot).write(to: &frame)
        try end(id, frame)
    }
}

/// Sends a document in frames.
private struct ListSink: ByteSink {
    let link: ServiceLink
    let id: UInt32

    mutating func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(WireFormat.longestFrame / 4)
            rest = rest.dropFirst(piece.count)
            var frame = FrameWriter(.entries)
            frame.number(id)
            frame.raw(piece)
            try link.send(frame)
        }
    }
}
