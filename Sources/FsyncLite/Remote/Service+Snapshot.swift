import FileStorage
import FileSystem

// Serves earlier trees, which are copied to another machine. The other end is a `FarSnapshot`.

extension Service {
    /// The snapshots that another machine may ask for.
    package struct Snapshots: Sendable {
        /// A tree. The target has the lock if other runs must wait.
        typealias Opened = (CopiedSnapshot, TargetRoot?)

        /// Opens a snapshot of a target.
        let open: @Sendable (_ target: [UInt8], FarSnapshot.Request) throws -> Opened
    }
}

extension Service.Session {
    /// Opens the snapshot that a request names. Its entries are sent with the answer.
    static func ofSnapshot(
        _ request: ServiceLink.Request, _ link: ServiceLink, _ access: Service.Access
    ) throws -> Service.Session {
        var reader = request.payload
        let path = try reader.bytes(upTo: WireFormat.longestPath)
        let (snapshot, locks) = (try reader.text(), try reader.flag())
        let paths = try reader.array { (reader) throws(WireError) in
            try reader.bytes(upTo: WireFormat.longestPath)
        }
        try reader.end()
        guard !path.isEmpty, !path.contains(0) else { throw WireError("a path is invalid") }
        let snapshots =
            switch access {
            case .any(_, let all): all
            case .snapshot(let own): own
            case .only, .digests, .nothing: throw SyncError(.notServed("there is no snapshot"))
            }
        let asked = FarSnapshot.Request(snapshot, paths: paths, locks: locks)
        let (tree, holder) = try snapshots.open(path, asked)
        guard let contents = tree.contents as? any LocalContents else {
            throw SyncError(.notServed("the snapshot is on another machine"))
        }
        // The list has the attributes. The other end compares the content with the digests of the list.
        let selection = ExtendedAttributes.Selection(plain: false, acls: false, privileged: false)
        var options = CopyOptions(.holes, selection)
        options.trustsScan = false
        (options.digests, options.mostHoles) = (.ofCopies, .max)
        return Service.Session(
            link, access, .snapshot(tree, holder), contents, Filters(), options, selection)
    }

    /// Sends the list of the snapshot in the form of a manifest.
    func send(_ snapshot: CopiedSnapshot, for id: UInt32) throws {
        var header = snapshot.header
        header.rootEntry = try snapshot.contents.rootFile(.readable)
        var (list, sink, sent) = (ManifestWriter(header), EntryFrames(link, id), EntryLocator())
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
        try sink.finish()
        var frame = FrameWriter(.answer)
        try SnapshotEnd.write(of: snapshot, to: &frame)
        try end(id, frame)
    }
}
