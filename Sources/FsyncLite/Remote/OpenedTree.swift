import FileStorage
import FileSystem

/// The answer to `open`: what is known of a source before it is scanned.
///
///     opened = number of roots, root* ...      a root has an empty name where it is the only one
struct OpenedTree {
    /// A directory of the source.
    struct Root {
        /// nil for an only one.
        var name: String?
        var path: [UInt8]
        /// Its device is the number of the file system in this session.
        var status: FileStatus
        var fileSystem: String
        var keepsIdentity: Bool
        /// The directory and those above it: inodes and devices.
        var chain: [FileStatus]
    }

    /// In the order of their names.
    var roots: [Root]
    /// Those of an only one.
    var extended = ExtendedAttributes()
    /// Letters and digits that stand for the machine; empty where it is not known.
    var machine: String
    var scanned: ManifestHeader.Scan
    var sharesClock: Bool
    var tellsDigests: Bool
    var disks: String
    var writebackDelay: Int64
    var isReadByRoot: Bool

    var isJoined: Bool { roots.contains { $0.name != nil } }

    /// That of this one.
    static var machine: String {
        HostProcess.machineID().map { id in
            var hash = SHA256()
            hash.update(Array("fsync-lite machine ".utf8) + id)
            return String(Digest(hash.finish()).description.dropFirst("sha256:".count).prefix(16))
        } ?? ""
    }

    /// The most directories above one.
    private static let longestChain: UInt32 = 4096

    /// - Parameter number: of a file system in this session.
    init(
        of tree: LocalTree, _ selection: ExtendedAttributes.Selection, number: (DeviceNumber) -> UInt32
    ) throws {
        let facts = tree.facts
        let places = try Overlap.places(of: tree.root)
        guard places.count <= WireFormat.sources else {
            throw SyncError(.tooManySources(WireFormat.sources))
        }
        roots = []
        for (index, root) in tree.root.roots.enumerated() {
            var status = try root.status()
            status.device = DeviceNumber(major: 0, minor: number(status.device))
            roots.append(
                Root(
                    name: places[index].name, path: facts.identities[index].path, status: status,
                    fileSystem: facts.identities[index].fileSystem,
                    keepsIdentity: facts.keepsIdentity[index], chain: places[index].chain))
        }
        if !tree.root.isJoined { extended = try File(rootOf: tree.root, selection).extended }
        machine = OpenedTree.machine
        scanned = facts.scanned
        (sharesClock, tellsDigests) = (facts.sharesClock, facts.tellsDigests)
        (writebackDelay, isReadByRoot) = (facts.writebackDelay, facts.isReadByRoot)
        disks = facts.disks
    }

    func write(to frame: inout FrameWriter) {
        frame.number(UInt(roots.count))
        for root in roots {
            frame.text(root.name ?? "")
            frame.bytes(root.path)
            frame.status(root.status, device: root.status.device.minor)
            frame.flag(root.status.isMountRoot)
            frame.text(root.fileSystem)
            frame.flag(root.keepsIdentity)
            frame.number(UInt(root.chain.count))
            for status in root.chain {
                frame.number(status.inode)
                frame.number(status.device.major)
                frame.number(status.device.minor)
            }
        }
        if !isJoined { frame.extended(extended) }
        frame.text(machine)
        frame.text(scanned.clock.boot)
        frame.flag(sharesClock)
        frame.flag(tellsDigests)
        frame.time(scanned.time.fileTime)
        frame.size(scanned.clock.rawUptime)
        frame.text(disks)
        frame.size(writebackDelay)
        frame.flag(isReadByRoot)
    }

    /// - Parameter selection: the extended attributes that were asked for.
    init(_ answer: FrameReader, _ selection: ExtendedAttributes.Selection) throws(WireError) {
        var reader = answer
        roots = try reader.sources { (name, path, reader) throws(WireError) in
            try OpenedTree.root(name, path, &reader)
        }
        guard let first = roots.first else { throw WireError("no source was opened") }
        if first.name == nil { extended = try reader.extended(selection) }
        machine = try OpenedTree.word(&reader)
        let boot = try OpenedTree.word(&reader)
        sharesClock = try reader.flag()
        tellsDigests = try reader.flag()
        let time = try reader.time()
        scanned = ManifestHeader.Scan(
            time: Timestamp(time), clock: KernelClock(boot: boot, uptime: try reader.size()))
        disks = try OpenedTree.word(&reader)
        writebackDelay = try reader.size()
        isReadByRoot = try reader.flag()
        try reader.end()
        guard !tellsDigests || !isJoined else { throw WireError("digests of several sources") }
    }

    private static func root(
        _ name: String?, _ path: [UInt8], _ reader: inout FrameReader
    ) throws(WireError) -> Root {
        var status = try reader.status()
        guard status.type == .directory else { throw WireError("the source is no directory") }
        status.isMountRoot = try reader.flag()
        let (fileSystem, keepsIdentity) = (try word(&reader), try reader.flag())
        var chain: [FileStatus] = []
        for _ in 0..<(try reader.number(UInt32.self, upTo: longestChain)) {
            var status = FileStatus(type: .directory, modified: FileTime(seconds: 0, nanoseconds: 0))
            status.inode = try reader.number()
            status.device = DeviceNumber(
                major: try reader.number(UInt32.self), minor: try reader.number(UInt32.self))
            chain.append(status)
        }
        return Root(
            name: name, path: path, status: status, fileSystem: fileSystem, keepsIdentity: keepsIdentity,
            chain: chain)
    }

    /// Letters, digits and dashes.
    private static func word(_ reader: inout FrameReader) throws(WireError) -> String {
        let bytes = try reader.bytes(upTo: 64)
        let isPlain = bytes.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
        }
        guard isPlain else {
            throw WireError("an identity with other characters than letters and digits")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension FrameReader {
    /// The directories of a source: one without a name, or any number with names in order. Each begins with its name and
    /// its absolute path.
    mutating func sources<Source>(
        _ read: (String?, [UInt8], inout FrameReader) throws(WireError) -> Source
    ) throws(WireError) -> [Source] {
        let count = try number(UInt32.self, upTo: UInt32(WireFormat.sources))
        var (sources, last): ([Source], [UInt8]) = ([], [])
        // Different bytes may be the same text: é in two forms of Unicode.
        var names: Set<String> = []
        for _ in 0..<count {
            let bytes = try bytes(upTo: 255)
            var name: String?
            if count > 1 || !bytes.isEmpty {
                guard let text = String(validating: bytes, as: UTF8.self),
                    MirrorSource.fault(ofName: text) == nil
                else { throw WireError("a source with a name that none can have") }
                guard last.lexicographicallyPrecedes(bytes), names.insert(text).inserted else {
                    throw WireError("sources out of order, or twice")
                }
                (name, last) = (text, bytes)
            }
            let path = try self.bytes(upTo: WireFormat.longestPath)
            guard path.first == UInt8(ascii: "/"), !path.contains(0) else {
                throw WireError("a path is none")
            }
            sources.append(try read(name, path, &self))
        }
        return sources
    }
}
