import FileSystem

/// A digest of the entries of a directory, in 16 bytes.
struct DirectoryDigest: Hashable, Sendable {
    let first: UInt64
    let second: UInt64

    /// The digest of a directory that is not completely known. It is never treated as equal.
    static let unknown = DirectoryDigest(first: 0, second: 0)

    var isKnown: Bool { self != .unknown }
}

/// Digests of the directories of a tree, computed from its entries in order. Each needs 60 bytes and a name.
///
///     own  = SHA-256(salt, record of each entry)
///     tree = own; with subdirectories SHA-256(salt, tree of each, own)
///
/// The record of an entry has its name and the values that the manifest stores of its status. A directory's
/// digest does not contain its own name and status, so a renamed directory has the same one. Each run has a
/// new salt, so nobody can choose names that hide a change.
struct TreeDigests: Sendable {
    /// A directory. It comes before its subdirectories.
    struct Node: Sendable {
        var own = DirectoryDigest.unknown
        var tree = DirectoryDigest.unknown
        let inode: UInt64
        fileprivate let nameStart: Int
        /// The next directory outside of this one.
        fileprivate(set) var end = 0
    }

    private struct Level: Sendable {
        let node: Int
        /// The length of its path.
        let length: Int
        var own: SHA256
        var isKnown = true
        var count = 0
        /// nil if there are no subdirectories.
        var subdirectories: SHA256?
        var areSubdirectoriesKnown = true
    }

    /// The first one is the root.
    private(set) var nodes: [Node] = []
    private var names: [UInt8] = []
    private var open: [Level] = []
    private var record: [UInt8] = []
    private let salted: SHA256
    private let attributes: MirroredAttributes
    private(set) var count = 0
    /// The number of entries in directories without a digest.
    private(set) var unknownCount = 0

    /// - Parameter attributes: the mirrored ones. Of others, a manifest has the target's value.
    init(salt: [UInt8], _ attributes: MirroredAttributes) {
        var hash = SHA256()
        hash.update(salt)
        (salted, self.attributes) = (hash, attributes)
        begin(0, name: [], inode: 0)
    }

    private mutating func begin(_ length: Int, name: some Collection<UInt8>, inode: UInt64) {
        open.append(Level(node: nodes.count, length: length, own: salted))
        nodes.append(Node(inode: inode, nameStart: names.count))
        names.append(contentsOf: name)
    }

    // MARK: Folding

    /// Adds the next entry.
    ///
    /// - Parameter isKnown: if false, the digest of its directory is unknown.
    mutating func add(_ entry: some EntryStream, isKnown: Bool) {
        let status = entry.status
        entry.withPathBytes { path in
            var start = path.count
            while start > 0, path[start - 1] != UInt8(ascii: "/") { start -= 1 }
            while open.count > 1, open[open.count - 1].length != max(start - 1, 0) { end() }
            let name = path[start...]
            let level = open.count - 1
            count += 1
            open[level].count += 1
            if isKnown {
                put(name, status)
                open[level].own.update(record)
            } else {
                open[level].isKnown = false
            }
            guard status.type == .directory else { return }
            if open[level].subdirectories == nil { open[level].subdirectories = salted }
            begin(path.count, name: name, inode: status.inode)
            open[level + 1].isKnown = entry.isListed
        }
    }

    private mutating func put(_ name: Slice<UnsafeRawBufferPointer>, _ status: FileStatus) {
        record.removeAll(keepingCapacity: true)
        put(UInt16(name.count))
        record.append(contentsOf: name)
        record.append(status.type.rawValue)
        if status.type == .file { put(status.size.rawCount) }
        put(status.inode)
        put(status.created)
        put(status.changed)
        put(status.modified)
        if status.type != .directory { put(status.links) }
        if status.type != .symlink, attributes.contains(.mode) { put(status.permissions) }
        if attributes.contains(.owner) {
            put(status.owner)
            put(status.group)
        }
    }

    private mutating func put(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { record.append(contentsOf: $0) }
    }

    private mutating func put(_ time: FileTime?) {
        record.append(time == nil ? 0 : 1)
        guard let time else { return }
        put(time.rawSeconds)
        put(time.nanoseconds)
    }

    /// Ends the innermost directory.
    private mutating func end() {
        let level = open.removeLast()
        nodes[level.node].end = nodes.count
        if !level.isKnown { unknownCount += level.count }
        if level.isKnown {
            nodes[level.node].own = DirectoryDigest(level.own)
            if level.subdirectories == nil { nodes[level.node].tree = nodes[level.node].own }
            if var hash = level.subdirectories, level.areSubdirectoriesKnown {
                hash.update(nodes[level.node].own)
                nodes[level.node].tree = DirectoryDigest(hash)
            }
        }
        guard !open.isEmpty else { return }
        let tree = nodes[level.node].tree
        if tree.isKnown {
            open[open.count - 1].subdirectories?.update(tree)
        } else {
            open[open.count - 1].areSubdirectoriesKnown = false
        }
    }

    /// Ends the tree.
    ///
    /// - Returns: the digest of its root.
    mutating func finish() -> DirectoryDigest {
        while !open.isEmpty { end() }
        return nodes[0].tree
    }

    // MARK: Looking up

    func name(of node: Int) -> ArraySlice<UInt8> {
        names[nodes[node].nameStart..<(node + 1 < nodes.count ? nodes[node + 1].nameStart : names.count)]
    }

    /// The subdirectories of a directory, in order.
    func subdirectories(of node: Int) -> some Sequence<Int> {
        sequence(first: node + 1) { nodes[$0].end }.prefix { $0 < nodes[node].end }
    }

    /// Finds subdirectories by name. The names must come in order.
    struct Finder {
        private var next: Int
        private let end: Int

        init(_ digests: TreeDigests, in node: Int?) {
            (next, end) = node.map { ($0 + 1, digests.nodes[$0].end) } ?? (0, 0)
        }

        mutating func find(_ name: some Collection<UInt8>, in digests: TreeDigests) -> Int? {
            while next < end, digests.name(of: next).lexicographicallyPrecedes(name) {
                next = digests.nodes[next].end
            }
            return next < end && digests.name(of: next).elementsEqual(name) ? next : nil
        }
    }

    /// The directory at a path; nil if there is none.
    func node(at path: RelativePath) -> Int? {
        var node: Int? = 0
        for name in path.components {
            var finder = Finder(self, in: node)
            node = finder.find(name, in: self)
        }
        return node
    }
}

extension DirectoryDigest {
    fileprivate init(_ hash: SHA256) {
        let value = hash.finish()
        self.init(first: value.first, second: value.second)
    }
}

extension SHA256 {
    fileprivate mutating func update(_ digest: DirectoryDigest) {
        for word in [digest.first, digest.second] { withUnsafeBytes(of: word.bigEndian) { update($0) } }
    }
}

extension FrameWriter {
    mutating func digest(_ digest: DirectoryDigest) {
        for word in [digest.first, digest.second] { self.word(word) }
    }
}

extension FrameReader {
    mutating func directoryDigest() throws(WireError) -> DirectoryDigest {
        DirectoryDigest(first: try word(), second: try word())
    }
}
