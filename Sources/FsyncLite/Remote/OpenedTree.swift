import FileStorage
import FileSystem

/// The answer to `open`: the facts about a source before it is scanned.
///
///     opened = number of roots, root* ...      the name is empty if the source is one unnamed directory
struct OpenedTree {
    /// A directory of the source.
    struct Root {
        /// nil if the source is one directory without a name.
        let name: String?
        let path: [UInt8]
        /// Its device is the number of the file system in this session.
        let status: FileStatus
        let fileSystem: String
        let keepsIdentity: Bool
        /// The inodes and devices of the directory and of those above it.
        let chain: [FileStatus]
    }

    /// In the order of their names.
    let roots: [Root]
    /// The attributes of the root, if it has no name.
    let extended: ExtendedAttributes
    let facts: SourceFacts

    var isJoined: Bool { roots.contains { $0.name != nil } }

    /// Letters and digits that identify this machine; empty if its id is unknown.
    static var machine: String {
        HostProcess.machineID().map { id in
            var hash = SHA256()
            hash.update(Array("fsync-lite machine ".utf8) + id)
            return String(Digest(hash.finish()).description.dropFirst("sha256:".count).prefix(16))
        } ?? ""
    }

    /// The most directories in a chain.
    private static let longestChain: UInt32 = 4096

    /// - Parameters:
    ///   - selection: the extended attributes that were asked for.
    ///   - endpoint: the machine and path that were opened.
    init(
        _ answer: FrameReader, _ selection: ExtendedAttributes.Selection, at endpoint: Endpoint
    ) throws(WireError) {
        var reader = answer
        let roots = try reader.sources { (name, path, reader) throws(WireError) in
            try OpenedTree.root(name, path, &reader)
        }
        guard let first = roots.first else { throw WireError("no source was opened") }
        extended = try first.name == nil ? reader.extended(selection) : ExtendedAttributes()
        let machine = try OpenedTree.word(&reader)
        let boot = try OpenedTree.word(&reader)
        let sharesClock = try reader.flag()
        let hasDirectoryDigests = try reader.flag()
        let time = try reader.time()
        let devices = roots.map(\.status.device)
        facts = SourceFacts(
            identities: roots.map { root in
                ManifestHeader.Source(
                    name: root.name, path: endpoint.location(of: root.path), identity: root.status.identity,
                    // Two machines may have the same file system ids.
                    fileSystem: "\(machine.isEmpty ? endpoint.host : machine):\(root.fileSystem)")
            },
            devices: devices, keepsIdentity: roots.map(\.keepsIdentity), sharesClock: sharesClock,
            devicesShowingChanges: hasDirectoryDigests ? Set(devices) : [],
            hasDirectoryDigests: hasDirectoryDigests,
            scanned: ManifestHeader.Scan(
                time: Timestamp(time), clock: KernelClock(boot: boot, uptime: try reader.size())),
            disks: try OpenedTree.word(&reader), writebackDelay: try reader.size(),
            isReadByRoot: try reader.flag(), isRemote: true)
        try reader.end()
        self.roots = roots
        guard !hasDirectoryDigests || !isJoined else { throw WireError("digests of several sources") }
    }

    private static func root(
        _ name: String?, _ path: [UInt8], _ reader: inout FrameReader
    ) throws(WireError) -> Root {
        var status = try reader.status()
        guard status.type == .directory else { throw WireError("the source is not a directory") }
        status.isMountRoot = try reader.flag()
        let (fileSystem, keepsIdentity) = (try word(&reader), try reader.flag())
        let chain = try reader.array(upTo: longestChain) { (reader) throws(WireError) -> FileStatus in
            var status = FileStatus(type: .directory, modified: FileTime(seconds: 0, nanoseconds: 0))
            status.inode = try reader.number()
            status.device = DeviceNumber(
                major: try reader.number(UInt32.self), minor: try reader.number(UInt32.self))
            return status
        }
        return Root(
            name: name, path: path, status: status, fileSystem: fileSystem, keepsIdentity: keepsIdentity,
            chain: chain)
    }

    /// Reads letters, digits and dashes.
    private static func word(_ reader: inout FrameReader) throws(WireError) -> String {
        let bytes = try reader.bytes(upTo: 64)
        guard bytes.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }) else {
            throw WireError("an identity with other characters than letters and digits")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension FrameWriter {
    /// - Parameter device: gives the number of a file system in this session.
    mutating func opened(
        _ tree: LocalTree, _ selection: ExtendedAttributes.Selection, device: (DeviceNumber) -> UInt32
    ) throws {
        let (facts, places) = (tree.facts, try Overlap.places(of: tree.root))
        guard places.count <= WireFormat.sources else {
            throw SyncError(.tooManySources(WireFormat.sources))
        }
        number(UInt(places.count))
        for (index, root) in tree.root.roots.enumerated() {
            let (status, identity) = (try root.status(), facts.identities[index])
            text(places[index].name ?? "")
            bytes(identity.path)
            self.status(status, device: device(status.device))
            flag(status.isMountRoot)
            text(identity.fileSystem)
            flag(facts.keepsIdentity[index])
            array(places[index].chain) { frame, status in
                frame.number(status.inode)
                frame.number(status.device.major)
                frame.number(status.device.minor)
            }
        }
        if !tree.root.isJoined { extended(try File(rootOf: tree.root, selection).extended) }
        text(OpenedTree.machine)
        text(facts.scanned.clock.boot)
        flag(facts.sharesClock)
        flag(facts.hasDirectoryDigests)
        time(facts.scanned.time.fileTime)
        size(facts.scanned.clock.rawUptime)
        text(facts.disks)
        size(facts.writebackDelay)
        flag(facts.isReadByRoot)
    }
}

extension FrameReader {
    /// Reads the directories of a source: one without a name, or any number with names in order. Each begins
    /// with its name and its absolute path.
    mutating func sources<Source>(
        _ read: (String?, [UInt8], inout FrameReader) throws(WireError) -> Source
    ) throws(WireError) -> [Source] {
        let count = try number(UInt32.self, upTo: UInt32(WireFormat.sources))
        var (sources, last): ([Source], [UInt8]) = ([], [])
        // Different bytes may be the same text, for example é in two Unicode forms.
        var names: Set<String> = []
        for _ in 0..<count {
            let bytes = try bytes(upTo: 255)
            var name: String?
            if count > 1 || !bytes.isEmpty {
                guard let text = String(validating: bytes, as: UTF8.self),
                    MirrorSource.fault(ofName: text) == nil
                else { throw WireError("a source with an invalid name") }
                guard last.lexicographicallyPrecedes(bytes), names.insert(text).inserted else {
                    throw WireError("sources out of order, or twice")
                }
                (name, last) = (text, bytes)
            }
            let path = try self.bytes(upTo: WireFormat.longestPath)
            guard path.first == UInt8(ascii: "/"), !path.contains(0) else {
                throw WireError("a path is invalid")
            }
            sources.append(try read(name, path, &self))
        }
        return sources
    }
}
