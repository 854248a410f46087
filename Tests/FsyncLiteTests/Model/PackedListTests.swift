import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

struct PackedListTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func changesComeBack(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var values = (0..<400).map { _ in randomChange(&random) }
        var list = ChangeList(values)
        #expect(list.elementsEqual(values))
        for _ in 0..<400 {
            let index = Int.random(in: values.indices, using: &random)
            if case .match(var match) = values[index], random.oneIn(2) {
                if random.oneIn(2) { match.replacesContent.toggle() } else { match.source.digest = nil }
                values[index] = .match(match)
            } else {
                values[index] = randomChange(&random)
            }
            list[index] = values[index]
        }
        #expect(list.elementsEqual(values))
        #expect(list.heads.elementsEqual(values.lazy.map(\.head)))
        #expect(
            list.indices.allSatisfy { list.targetPath(at: $0) == (values[$0].target ?? values[$0].file).path }
        )
        let copy = list
        list.sort()
        let sorted = values.sorted {
            $0.path != $1.path
                ? $0.path < $1.path : $0.head.kind == .deleted && $1.head.kind != .deleted
        }
        #expect(list.elementsEqual(sorted))
        list.removeElements(at: { index, list in list.path(at: index).bytes.count.isMultiple(of: 2) })
        #expect(list.elementsEqual(sorted.filter { !$0.path.bytes.count.isMultiple(of: 2) }))
        #expect(copy.elementsEqual(values))
    }

    /// Also over many chunks. Chunks that were passed are freed, but not those of a copy.
    @Test(arguments: [400, 20_000])
    func drainedElementsComeInOrder(count: Int) {
        var random = SplitMix64(seed: UInt64(count))
        let values = (0..<count).map { _ in randomFile(at: randomPath(&random), &random) }
        var list = PackedList<FileCoding>(values)
        let copy = list
        var drained: [File] = []
        list.drain { index, file in
            #expect(index == drained.count)
            drained.append(file)
        }
        #expect(drained == values)
        #expect(list.isEmpty)
        #expect(copy.elementsEqual(values))
        var single = PackedList<FileCoding>(values)
        drained = []
        single.drain { drained.append($1) }
        #expect(drained == values)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func entriesAreFoundByTheirPaths(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var values: [RelativePath: File] = [:]
        var map = PackedMap<FileCoding>()
        for _ in 0..<3000 {
            let file = randomFile(at: randomPath(&random), &random)
            let value = random.oneIn(3) ? nil : file
            (values[file.path], map[file.path]) = (value, value)
        }
        #expect(map.count == values.count)
        #expect(values.allSatisfy { map[$0] == $1 })
        #expect(map.sorted.elementsEqual(values.values.sorted()))
        #expect(Set(map.keys) == Set(values.keys))
        #expect(map[path("none")] == nil)
    }

    /// The last times with a packed form, and the first ones without.
    @Test(
        arguments: [-9_000_000_000, -8_589_934_593, -8_589_934_592, -1, 0, 1, 8_589_934_591, 8_589_934_592]
            as [Int64])
    func timesFarAwayComeBack(seconds: Int64) {
        let time = FileTime(seconds: seconds, nanoseconds: 999_999_999)
        let far = with(status(.file)) { ($0.modified, $0.changed, $0.created) = (time, time, time) }
        let changes = [Change.created(file("a").with(far), isDrift: false)]
        #expect(ChangeList(changes).elementsEqual(changes))
    }

    /// A path longer than a chunk, and the entry after it.
    @Test func longPathsComeBack() throws {
        let long = Array("a/".utf8) + [UInt8](repeating: UInt8(ascii: "b"), count: 200_000)
        let paths = try [Array("a/b".utf8), long, long + Array("/c".utf8), Array("z".utf8)].map {
            try #require(RelativePath($0))
        }
        let files = paths.map { File(path: $0, status: status(.file), destination: []) }
        let list = ChangeList(files.map { .created($0, isDrift: false) })
        #expect(list.map(\.file) == files)
        #expect(list.indices.map { list.path(at: $0) } == paths)
    }

    /// Records of all lengths, so chunks end at all places.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func pathsOfAllLengthsComeBack(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let values = try (0..<300).map { number in
            let name = [UInt8](repeating: UInt8(ascii: "n"), count: Int.random(in: 1...255, using: &random))
            let depth = Int.random(in: 0...40, using: &random)
            let names = [[UInt8]](repeating: name, count: depth) + [Array("\(number)".utf8)]
            let path = try #require(RelativePath(Array(names.joined(separator: [UInt8(ascii: "/")]))))
            var match = randomMatch(&random)
            match.source = match.source.moved(to: path)
            if random.oneIn(2) { match.target = match.target.moved(to: path) }
            return match
        }
        let list = ChangeList(values.lazy.map(Change.match))
        #expect(list.elementsEqual(values.lazy.map(Change.match)))
        #expect(list.indices.allSatisfy { list.targetPath(at: $0) == values[$0].target.path })
    }

    private func randomPath(_ random: inout SplitMix64) -> RelativePath {
        let names = ["a", "ab", "abc", "b-", "z0", "dir"]
        let count = Int.random(in: 1...5, using: &random)
        let parts = (0..<count).map { _ in names.randomElement(using: &random) ?? "a" }
        return path(parts.joined(separator: "/") + "\(random.next() % 20)")
    }

    private func randomFile(at path: RelativePath, _ random: inout SplitMix64) -> File {
        var file = File(path: path, status: plainStatus(&random), destination: Array("to".utf8))
        if random.oneIn(4) { file = File(path: path, status: randomStatus(&random), destination: [1, 2]) }
        if random.oneIn(4) {
            file.extended = ExtendedAttributes([.init(name: [1], value: [UInt8(random.next() % 3)])])
        }
        if random.oneIn(4) { file.omitted = [.mode, .xattrs] }
        if random.oneIn(4) { file.digest = Digest(SHA256.Value(random.next(), 2, 3, random.next())) }
        if random.oneIn(8) { file.isGrowing = true }
        return file
    }

    /// A usual status, close to others.
    private func plainStatus(_ random: inout SplitMix64) -> FileStatus {
        with(status(random.oneIn(4) ? .directory : .file)) {
            ($0.inode, $0.size) = (random.next() % 1000, ByteCount(clamping: random.next() % 5000))
            ($0.allocated, $0.permissions) = (4096, 0o644)
            ($0.modified, $0.changed) = (seconds(1_700_000_000), seconds(1_700_000_001))
            $0.created = random.oneIn(2) ? seconds(1_600_000_000) : nil
        }
    }

    private func randomChange(_ random: inout SplitMix64) -> Change {
        let file = randomFile(at: randomPath(&random), &random)
        return switch random.next() % 4 {
        case 0: .created(file, isDrift: random.oneIn(2))
        case 1:
            .deleted(
                file, isDrift: random.oneIn(2), base: random.oneIn(2) ? randomMatch(&random).base : nil,
                isOpen: random.oneIn(2))
        default: .match(randomMatch(&random))
        }
    }

    private func randomMatch(_ random: inout SplitMix64) -> Match {
        let source = randomFile(at: randomPath(&random), &random)
        let target = randomFile(at: random.oneIn(2) ? source.path : randomPath(&random), &random)
        var base: BaseEntry?
        if random.oneIn(2) {
            base = BaseEntry(
                status: random.oneIn(3) ? randomStatus(&random) : source.status,
                targetInode: random.oneIn(2) ? target.status.inode : random.next(),
                targetChanged: random.oneIn(2)
                    ? target.status.changed : random.oneIn(2) ? nil : random.time(),
                marks: random.oneIn(2) ? .racy : [], extended: source.extended,
                omitted: random.oneIn(2) ? .mode : [], digest: target.digest)
        }
        var match = Match(source: source, target: target, base: base)
        match.causes = Causes(rawValue: UInt16(truncatingIfNeeded: random.next()))
        (match.replacesContent, match.needsContentComparison) = (random.oneIn(2), random.oneIn(2))
        (match.sourceHasBaseDigest, match.targetHasBaseDigest) = (random.oneIn(2), random.oneIn(2))
        (match.needsInspection, match.isMislinked) = (random.oneIn(2), random.oneIn(2))
        return match
    }
}

private enum FileCoding: PackedCoding {
    static func path(of file: File) -> RelativePath { file.path }

    static func pack(_ file: File, into store: inout PackedStore) { store.put(file) }

    static func unpack(
        _ cursor: inout PackedStore.Cursor, _: Void, at path: RelativePath, other: RelativePath?,
        _ store: PackedStore
    ) -> File { store.file(&cursor, at: path) }
}
