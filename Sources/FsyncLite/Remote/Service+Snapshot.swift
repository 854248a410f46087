import FileStorage
import FileSystem

// Earlier trees that are copied on another machine: the other end of a `FarSnapshot`.

extension Service.Session {
    /// Opens the snapshot that is asked for. Its entries are sent with the answer.
    static func ofSnapshot(
        _ request: ServiceLink.Request, _ link: ServiceLink, _ access: Service.Access
    ) throws -> Service.Session {
        var reader = request.payload
        let path = try reader.bytes(upTo: WireFormat.longestPath)
        var restoration = Restoration(target: path, snapshot: try reader.text())
        let locks = try reader.flag()
        for _ in 0..<(try reader.number()) { restoration.paths.append(try reader.path()) }
        try reader.end()
        guard !path.isEmpty, !path.contains(0) else { throw WireError("a path is none") }
        switch access {
        case .any(let served): try restoration.find(beneath: served)
        case .snapshot(let own): restoration = own
        case .only, .digests, .nothing: throw SyncError(.notServed("there is no snapshot"))
        }
        let holder = locks ? try restoration.lockTarget() : nil
        do {
            let snapshot = try CopiedSnapshot(of: restoration)
            return try Service.Session(link, access, snapshot, holder)
        } catch let error as SyncError {
            let found = Target(path: restoration.target).explained(error, restoration)
            guard found.refusal == nil, let path = restoration.paths.first(where: { $0.bytes == found.path })
            else { throw found }
            // At the other end a path in the tree alone would be one of this machine.
            throw SyncError(
                found.code, path: restoration.target + [UInt8(ascii: "/")] + path.bytes, found.message)
        }
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
        try snapshot.write(to: &frame)
        try end(id, frame)
    }
}

extension Restoration {
    /// Finds the target and the paths as another machine names them.
    fileprivate mutating func find(beneath served: ServedDirectory?) throws {
        if let served {
            target = try served.confine(to: target, isWriting: false)
            try Target(path: target).checkMark()
        }
        let there = Target(path: target)
        paths = try paths.flatMap { try there.paths(named: $0, in: snapshot) }
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
