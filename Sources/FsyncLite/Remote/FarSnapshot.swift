import FileSystem

/// An earlier tree of a target on another machine, or some paths of it. Its list is read at once. Its content
/// is read during the copy, over the same connection.
public final class FarSnapshot: Sendable {
    public struct Request: Sendable {
        /// An id or a prefix of one, `latest~1`, or a date.
        public var snapshot: String
        /// Paths as typed: in the tree, absolute ones of the target or its source, patterns; empty for all.
        public var paths: [[UInt8]]
        /// Other runs must wait until the copy is made.
        public var locks: Bool

        public init(_ snapshot: String, paths: [[UInt8]], locks: Bool) {
            (self.snapshot, self.paths, self.locks) = (snapshot, paths, locks)
        }

        /// Whether the request names all these paths. An added path would be written here, too.
        func names(_ found: [RelativePath]) -> Bool {
            found.isEmpty == paths.isEmpty
                && found.allSatisfy { path in
                    paths.lazy.flatMap(Request.candidates).contains { asked in
                        var selection = EntrySelection()
                        return asked == path
                            || asked.isPattern && selection.add(pattern: asked.bytes)
                                && [true, false].contains { selection.selects(path, $0) }
                    }
                }
        }

        /// The paths in the tree that a typed path may mean. Only the other end knows how much of an absolute
        /// path is outside of the tree.
        private static func candidates(_ typed: [UInt8]) -> [RelativePath] {
            let names = typed.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
            let isAbsolute = typed.first == UInt8(ascii: "/")
            return names.indices.prefix(isAbsolute ? names.count : 1).compactMap { first in
                RelativePath(Array(names[first...].joined(separator: [UInt8(ascii: "/")])))
            }
        }
    }

    let tree: CopiedSnapshot
    /// The process that connects to that machine; nil if it is a client.
    private let process: FarProcess?
    public var id: String { tree.id }
    /// The paths in the tree that the request names; empty for everything.
    public var paths: [RelativePath] { tree.paths }

    /// The directory that was mirrored, if it is on this machine.
    public var sourceHere: [UInt8]? {
        guard let source = tree.header.source, let endpoint = try? Endpoint(source.path),
            // A machine without an id is known by its name.
            [OpenedTree.machine, HostProcess.name].contains(where: { source.fileSystem.hasPrefix("\($0):") })
        else { return nil }
        return endpoint.path
    }

    /// - Throws: `SyncError`: `unreachable`, or any error of a restore on that machine.
    public convenience init(
        _ request: Request, of target: Endpoint, _ access: RemoteAccess, _ monitor: any Monitor
    ) throws {
        let (link, process) = try FarProgram(endpoint: target, access: access).connectToRead(monitor)
        try self.init(request, link, process, monitor)
    }

    /// A snapshot of a target at the client.
    package convenience init(_ request: Request, of client: Client, _ monitor: any Monitor) throws {
        try self.init(request, client.link, nil, monitor)
    }

    /// Releases the target's lock, before it returns. After that, nothing can be copied.
    public func release() { _ = process?.end() }

    private init(
        _ request: Request, _ link: RemoteLink, _ process: FarProcess?, _ monitor: any Monitor
    ) throws {
        self.process = process
        let answer = try link.ask(.snapshot) { frame in
            frame.bytes(link.endpoint.path)
            frame.text(request.snapshot)
            frame.flag(request.locks)
            frame.array(request.paths) { $0.bytes($1) }
        }
        let list = try FetchedManifest()
        tree = try link.reading {
            let end = try answer.end(monitor) { try list.append($0.rest()) }
            return try SnapshotEnd(end, to: request).tree(of: list, link)
        }
    }
}

/// The last part of the answer that has the list of an earlier tree.
///
///     end = id attributes paths notes lost problem*
///
/// `paths`, `notes` and `lost` begin with their number. The other problems are of files that were replaced.
struct SnapshotEnd {
    let id: String
    let attributes: MirroredAttributes
    let paths: [RelativePath]
    let notes: [String]
    var faults: CopiedSnapshot.Faults

    static func write(of tree: CopiedSnapshot, to frame: inout FrameWriter) throws {
        frame.text(tree.id)
        frame.byte(tree.attributes.rawValue)
        frame.array(tree.paths) { $0.bytes($1.bytes) }
        frame.array(tree.notes) { $0.text($1.shortened) }
        let faults = try tree.faults()
        frame.number(UInt(faults.lost.count))
        for problem in faults.lost + faults.replaced { frame.problem(problem) }
    }

    init(_ answer: FrameReader, to request: FarSnapshot.Request) throws(WireError) {
        var reader = answer
        id = try reader.text()
        attributes = MirroredAttributes(rawValue: try reader.byte())
        guard MirroredAttributes.all.isSuperset(of: attributes) else {
            throw WireError("an unknown attribute")
        }
        paths = try reader.array { (reader) throws(WireError) in try reader.path() }
        guard request.names(paths) else { throw WireError("paths that were not asked for") }
        notes = try reader.array { (reader) throws(WireError) in singleLine(try reader.text()) }
        faults = CopiedSnapshot.Faults()
        faults.lost = try reader.array { (reader) throws(WireError) in try reader.problem([.drift]) }
        while !reader.isAtEnd { faults.replaced.append(try reader.problem([.drift])) }
    }

    /// The tree. Its list is checked like an untrusted manifest.
    func tree(of list: FetchedManifest, _ link: RemoteLink) throws -> CopiedSnapshot {
        let open = { @Sendable [name = link.endpoint.bytes] in try ManifestReader(list.open(), path: name) }
        let entries = try open()
        let locator = try locator(of: entries)
        let header = entries.header
        return CopiedSnapshot(
            id: id, header: header, attributes: attributes, paths: paths, notes: notes,
            contents: FarContents(link: link, locator: locator, root: header.rootEntry), entries: open
        ) { [faults] in faults }
    }

    /// The numbers of the directories.
    ///
    /// - Throws: `WireError` if an entry is outside of the paths, because it would be written here.
    func locator(of entries: some EntryStream) throws -> EntryLocator {
        var locator = EntryLocator()
        let (wanted, above) = (Set(paths), Set(paths.flatMap(\.ancestors)))
        while try entries.advance() {
            let (path, isDirectory) = (entries.path, entries.status.type == .directory)
            let isWanted = wanted.isEmpty || wanted.contains(path) || path.isBelow(anyOf: wanted)
            guard isWanted || isDirectory && above.contains(path) else {
                throw WireError("a file that was not asked for")
            }
            locator.add(path, isDirectory: isDirectory)
        }
        return locator
    }
}

/// The content of an earlier tree on another machine. The attributes are in its list.
private struct FarContents: FarEntries {
    let link: RemoteLink
    let locator: EntryLocator
    let root: File?

    var isEarlier: Bool { true }
    func rootFile(_ selection: ExtendedAttributes.Selection) throws -> File? { root }
}
