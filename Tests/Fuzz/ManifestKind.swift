import FileSystem
import FsyncLite
import TestSupport

extension DocumentKind {
    static let manifest = DocumentKind(
        name: "manifest", place: ".fsync-lite/manifest.json", isSealed: true,
        make: { random in
            let content = ManifestContent(random: &random)
            return try ManifestText.bytes(content.header, content.entries, isMirror: !random.oneIn(3))
        },
        value: { desk in try ManifestContent(desk) }, check: { try $0.check() },
        text: { try ManifestText.bytes($0.header, $0.entries) })
}

/// All values of a manifest.
private struct ManifestContent: Equatable {
    var header: ManifestHeader
    var entries: [RecordList.Entry] = []
    var summary = ManifestSummary()

    init(_ desk: Desk) throws {
        guard let reader = try desk.state.manifest() else { throw Violation("the manifest is not there") }
        header = reader.header
        entries = try reader.entries()
        summary = reader.summary
    }

    // MARK: What must hold

    func check() throws {
        var previous: [UInt8]?
        var directories: Set<[UInt8]> = [[]]
        var totals = ManifestTotals()
        for entry in entries {
            let path = entry.file.path.bytes
            try PathRules.requireInside(path, "a path outside:")
            try require(
                path.split(separator: UInt8(ascii: "/"))[0] != Array(".fsync-lite".utf8)[...],
                "the reserved name")
            if let previous {
                try require(PathRules.isAscending(previous, path), "paths that do not ascend: \(path)")
            }
            let parent = path.lastIndex(of: UInt8(ascii: "/")).map { Array(path[..<$0]) } ?? []
            try require(directories.contains(parent), "an entry without its directory: \(path)")
            if entry.file.isDirectory { directories.insert(path) }
            try require(entry.file.size >= 0 && entry.file.mode <= 0o7777, "a size or mode: \(path)")
            try require(!entry.file.destination.contains(0), "NUL in a destination: \(path)")
            let names = entry.file.extended.attributes.map(\.name)
            try require(
                names.allSatisfy { !$0.isEmpty && !$0.contains(0) }
                    && zip(names, names.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) },
                "names of extended attributes: \(path)")
            totals.count(entry.file)
            previous = path
        }
        try require(totals == ManifestTotals(summary), "totals that do not fit")
    }

    private struct ManifestTotals: Equatable {
        var counts: [Int] = [0, 0, 0, 0]
        var bytes: ByteCount = 0

        init() {}

        init(_ summary: ManifestSummary) {
            counts = [summary.files, summary.directories, summary.symlinks, summary.others]
            bytes = summary.bytes
        }

        mutating func count(_ file: File) {
            switch file.kind {
            case .file:
                counts[0] += 1
                bytes += file.size
            case .directory: counts[1] += 1
            case .symlink: counts[2] += 1
            default: counts[3] += 1
            }
        }
    }

    // MARK: Making one

    init(random: inout SplitMix64) {
        header = ManifestHeader(
            id: Desk.transaction, root: random.oneIn(5) ? [UInt8(ascii: "/"), 0xFF] : Array("/mirror".utf8),
            created: Timestamp(random.time()))
        if !random.oneIn(4) {
            header.source = .init(
                path: Array("/source/\u{1F600}".utf8), identity: random.identity(),
                fileSystem: String(random.next(), radix: 16))
            if random.oneIn(3) {
                header.retention = RetentionPolicy()
                header.retention?.keepLast = random.number(0...9)
                if random.oneIn(2) { header.retention?.keepWithin = Age("7d") }
                if random.oneIn(2) { header.retention?.keepWithinDaily = Age("1mo") }
                header.exchanged = random.oneIn(2)
                if random.oneIn(2) { header.retention?.keepLabel = ["\"é\"\n", ""] }
                header.filters = FilterSummary(
                    lines: ["exclude *.o", "include \"é\"\n", ""].shuffled(using: &random))
                header.attributes = MirroredAttributes(rawValue: UInt8(random.number(0...31)))
                header.rootOmitted = Omissions(rawValue: UInt8(random.number(0...31)))
                if !header.rootOmitted.isEmpty { header.rootChanged = Timestamp(random.time()) }
            }
        }
        var paths: Set<[UInt8]> = []
        var directories: [[UInt8]] = [[]]
        for _ in 0..<random.pick([0, 1, 2, 3, 5, 8, 12, 20]) {
            let directory = random.pick(directories)
            let path = directory + (directory.isEmpty ? [] : [UInt8(ascii: "/")]) + random.name()
            guard paths.insert(path).inserted, let relative = RelativePath(path) else { continue }
            let type = random.pick(
                [.file, .file, .file, .directory, .directory, .symlink, .fifo, .characterDevice]
                    + [.blockDevice] as [FileType])
            if type == .directory { directories.append(path) }
            let file = random.file(relative, type)
            let inode = random.oneIn(3) ? random.inode() : file.status.inode
            entries.append(RecordList.Entry(file: file, targetInode: inode))
        }
    }
}
