import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

struct TreeDigestsTests {
    private static let files = [
        entry("a", .directory, 1), entry("a/b", .directory, 2), entry("a/b/x", .file, 3),
        entry("a/y", .file, 4), entry("c", .directory, 5), entry("c/z", .symlink, 6),
    ]

    private func digests(
        _ files: [File], _ attributes: MirroredAttributes = .all, salt: [UInt8] = [1],
        without unknown: String? = nil
    ) -> [String: DirectoryDigest] {
        let tree = foldedTree(files, attributes, salt: salt) { $0.path.description != unknown }
        return Dictionary(
            uniqueKeysWithValues: ["", "a", "a/b", "c"].compactMap { name in
                tree.node(at: path(name)).map { (name, tree.nodes[$0].tree) }
            })
    }

    private func changed(_ path: String, _ change: (inout FileStatus) -> Void) -> [File] {
        Self.files.map { $0.path.description == path ? $0.with(FsyncLiteTests.with($0.status, change)) : $0 }
    }

    @Test func everythingThatDecidesChangesTheDigestsAbove() {
        let before = digests(Self.files)
        let changes: [(inout FileStatus) -> Void] = [
            { $0.size += 1 }, { $0.inode += 1 }, { $0.created = nil }, { $0.created?.nanoseconds += 1 },
            { $0.changed.nanoseconds += 1 }, { $0.modified = $0.modified.advanced(bySeconds: -1) },
            { $0.links += 1 },
            { $0.permissions ^= 1 }, { $0.owner += 1 }, { $0.group += 1 }, { $0.type = .fifo },
        ]
        for (index, change) in changes.enumerated() {
            let after = digests(changed("a/b/x", change))
            for name in ["", "a", "a/b"] { #expect(after[name] != before[name], "\(index) \(name)") }
            #expect(after["c"] == before["c"], "\(index)")
        }
        #expect(Set(before.values).count == 4)
        #expect(Set(digests(Self.files, salt: [2]).values).isDisjoint(with: before.values))
    }

    @Test func whatIsNotMirroredTakesNoPart() {
        let without = MirroredAttributes.all.subtracting([.owner, .mode])
        let other = changed("a/b/x") { ($0.owner, $0.group, $0.permissions) = (9, 9, 0o7) }
        #expect(digests(other, without) == digests(Self.files, without))
    }

    @Test func whatIsNotKnownMakesEverythingAboveUnknown() {
        let found = digests(Self.files, without: "a/b/x")
        for name in ["", "a", "a/b"] { #expect(found[name] == .unknown) }
        #expect(found["c"]?.isKnown == true)
        // It is not even equal to itself.
        #expect(foldedTree(Self.files) { _ in false }.unknownCount == Self.files.count)
    }

    @Test func aRenamedDirectoryKeepsItsDigest() {
        let moved = Self.files.map { file in
            file.path.description.hasPrefix("a/b")
                ? file.moved(to: path("c/q" + file.path.description.dropFirst(3))) : file
        }
        .sorted()
        let (before, after) = (foldedTree(Self.files), foldedTree(moved))
        let places = (before.node(at: path("a/b")), after.node(at: path("c/q")))
        #expect(places.0.map { before.nodes[$0].tree } == places.1.map { after.nodes[$0].tree })
    }
}

/// The entries that digests and lists give are those of the source.
struct ReceivedTreeTests {
    @Test(arguments: 1...300)
    func entriesAreThoseOfTheSource(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let (record, source) = randomTrees(&random)
        let unknown = Set(record.filter { _ in random.oneIn(20) }.map(\.path))
        var tree = ReceivedTree(foldedTree(record) { !unknown.contains($0.path) }, on: device)
        var far = FarLists(source) { _ in true }
        try far.report(&tree)
        #expect(try given(&tree, record) == described(source), "seed \(seed)")
        // Unchanged directories can be asked for afterwards.
        var wanted = Set(source.compactMap { $0.path.parent }.filter { _ in random.oneIn(3) })
        let all = wanted
        var reread: [String] = []
        while true {
            let asked = tree.next(for: &wanted)
            if asked.isEmpty { break }
            for asked in asked {
                _ = try far.report(asked, &tree) { path, status in reread.append("\(path) \(status.inode)") }
            }
        }
        for directory in all where tree.reports[directory] != .entries {
            Issue.record("seed \(seed): \(directory)")
        }
        let sent = Set(source.map { "\($0.path) \($0.status.inode)" })
        #expect(sent.isSuperset(of: reread))
    }

    /// Unchanged entries are not sent, even if their directory was renamed.
    @Test func aRenamedDirectoryIsNotListed() throws {
        let record = [
            entry("a", .directory, 1), entry("a/x", .file, 2), entry("a/y", .directory, 3),
            entry("b", .file, 4),
        ]
        let source = [
            entry("b", .file, 4), entry("c", .directory, 1), entry("c/x", .file, 2),
            entry("c/y", .directory, 3),
        ]
        var tree = ReceivedTree(foldedTree(record), on: device)
        var far = FarLists(source) { _ in true }
        try far.report(&tree)
        #expect(far.listed == [path("")])
        #expect(try given(&tree, record) == described(source))
    }

    /// The target's entries below an unlisted directory are left unchanged, so the directory must not look
    /// empty. A directory that is gone is not given.
    @Test(arguments: [ListItem.Code.unlisted, ListItem.Code.gone])
    func aDirectoryWithoutAListIsSaidToBeSo(code: UInt8) throws {
        let record = [entry("a", .directory, 1), entry("a/x", .file, 2), entry("b", .file, 3)]
        var tree = ReceivedTree(foldedTree(record) { $0.path != path("a/x") }, on: device)
        var far = FarLists(record) { _ in true }
        far.unlisted = (path("a"), code)
        try far.report(&tree)
        let scan = try scan(&tree, record)
        var lines: [String] = []
        while try scan.advance() { lines.append("\(scan.path) \(scan.isListed)") }
        #expect(lines == (code == ListItem.Code.gone ? ["b true"] : ["a false", "b true"]))
    }

    /// Hostile lists are refused, or their entries are in order, unique and named.
    @Test func damagedListsAreRefusedOrSound() throws {
        var (taken, refused) = (0, 0)
        for seed in 1...2000 as ClosedRange<UInt64> {
            var random = SplitMix64(seed: seed)
            let (record, source) = randomTrees(&random)
            var tree = ReceivedTree(foldedTree(record), on: device)
            var far = FarLists(source) { _ in true }
            far.damage = random
            do {
                try far.report(&tree)
                taken += 1
            } catch is WireError {
                refused += 1
                continue
            }
            let scan = try scan(&tree, record)
            var last = RelativePath.root
            while try scan.advance() {
                #expect(last < scan.path && RelativePath.isValid(scan.path.bytes), "seed \(seed)")
                last = scan.path
            }
        }
        #expect(taken > 100 && refused > 100, "\(taken) \(refused)")
    }

    @Test func eachDirectoryIsListedOnce() throws {
        var issued = IssuedEntries()
        _ = try issued.take(AskedList(number: 0, .entries))
        #expect(throws: WireError.self) { try issued.take(AskedList(number: 0, .entries)) }
        _ = try issued.take(AskedList(number: 0, .rest))
        #expect(throws: WireError.self) { try issued.take(AskedList(number: 0, .rest)) }
        #expect(throws: WireError.self) { try issued.take(AskedList(number: 1, .entries)) }
    }

    private func given(_ tree: inout ReceivedTree, _ record: [File]) throws -> [String] {
        let scan = try scan(&tree, record)
        var lines: [String] = []
        while try scan.advance() { lines.append(line(scan.file)) }
        return lines
    }

    private func scan(_ tree: inout ReceivedTree, _ record: [File]) throws -> BackgroundScan {
        if tree.hasMoved { try tree.gather(FileList(record)) }
        return try BackgroundScan(producing: { [tree] push in
            var tree = tree
            _ = try tree.give(FileList(record), push)
            return TreeScan.Findings()
        })
    }
}

private let device = DeviceNumber(major: 0, minor: 3)

private func entry(_ name: String, _ type: FileType, _ inode: UInt64) -> File {
    var status = status(type)
    (status.inode, status.created, status.changed) = (inode, seconds(7), seconds(Int64(inode)))
    (status.device, status.permissions) = (device, 0o644)
    if type == .symlink { status.size = 1 }
    return File(path: path(name), status: status, destination: type == .symlink ? [97] : [])
}

private func line(_ file: File) -> String {
    let status = file.status
    return
        "\(file.path) \(status.type) \(status.size) \(status.inode) \(status.changed.rawSeconds) \(file.destination)"
}

private func described(_ files: [File]) -> [String] { files.map(line) }

private func foldedTree(
    _ files: [File], _ attributes: MirroredAttributes = .all, salt: [UInt8] = [1],
    isKnown: (File) -> Bool = { _ in true }
) -> TreeDigests {
    var tree = TreeDigests(salt: salt, attributes)
    let list = FileList(sorted: files)
    while list.advance() { tree.add(list, isKnown: isKnown(list.file)) }
    _ = tree.finish()
    return tree
}

/// A random tree, and the same tree after some edits.
private func randomTrees(_ random: inout SplitMix64) -> (record: [File], source: [File]) {
    func files(_ tree: ModelTree) -> [File] {
        tree.files().map { file in file.with(with(file.status) { $0.device = device }) }
    }
    var tree = ModelTree.random(now: 100, firstInode: 10, &random)
    let record = files(tree)
    for _ in 0..<Int.random(in: 0...3, using: &random) {
        tree.edit(ModelEdit.allCases.randomElement(using: &random) ?? .rename, &random)
    }
    return (record, files(tree))
}

/// The other end, without a connection.
private struct FarLists {
    private let files: [File]
    private let digests: TreeDigests
    private var directories: [(path: RelativePath, node: Int)] = [(.root, 0)]
    private(set) var listed: [RelativePath] = []
    /// A directory that cannot be listed.
    var unlisted: (path: RelativePath, code: UInt8)?
    /// Damages the answers.
    var damage: SplitMix64?

    init(_ files: [File], isKnown: (File) -> Bool) {
        self.files = files
        digests = foldedTree(files, isKnown: isKnown)
    }

    mutating func report(_ tree: inout ReceivedTree) throws {
        var asked = tree.first
        while !asked.isEmpty {
            var following: [ReceivedTree.Asked] = []
            for asked in asked { following += try report(asked, &tree) }
            asked = following
        }
    }

    mutating func report(
        _ asked: ReceivedTree.Asked, _ tree: inout ReceivedTree,
        _ take: ((RelativePath, FileStatus) -> Void)? = nil
    ) throws -> [ReceivedTree.Asked] {
        var frame = FrameWriter(.entries)
        guard Int(asked.list.number) < directories.count else { throw WireError("not issued") }
        let (path, node) = directories[Int(asked.list.number)]
        if damage == nil { #expect(asked.path == path) }
        if let unlisted, unlisted.path == path {
            frame.byte(unlisted.code)
        } else if case .unless(let own) = asked.list.wish, digests.nodes[node].own == own {
            let subdirectories = Array(digests.subdirectories(of: node))
            frame.byte(ListItem.Code.same)
            frame.number(UInt(subdirectories.count))
            for node in subdirectories {
                frame.digest(digests.nodes[node].tree)
                directories.append((path.appending(FileName(digests.name(of: node)) ?? .state), node))
            }
        } else {
            listed.append(path)
            var encoder = EntryEncoder()
            let list = FileList(sorted: files.filter { $0.path.parent == path })
            for _ in 0..<3 {
                _ = encoder.number(of: DeviceNumber(major: 0, minor: UInt32(directories.count)))
            }
            while list.advance() {
                frame.byte(ListItem.Code.entry)
                _ = encoder.append(only: list, at: list.path, to: &frame)
                guard list.file.isDirectory, let node = digests.node(at: list.path) else { continue }
                frame.digest(digests.nodes[node].tree)
                if case .rest = asked.list.wish { continue }
                directories.append((list.path, node))
            }
            frame.byte(ListItem.Code.end)
        }
        var bytes = Array(frame.bytes.dropFirst(WireFormat.headSize))
        if damage != nil, damage?.oneIn(3) ?? false, var random = damage {
            HostileStream.damage(&bytes, &random)
            damage = random
        }
        var reader = FrameReader(bytes)
        var following: [ReceivedTree.Asked] = []
        while true {
            let item = try ListItem(&reader, after: tree.lastName, isAtTop: asked.path.isRoot)
            if try tree.take(item, of: asked, following: &following, take) { break }
        }
        try reader.end()
        return following
    }
}
