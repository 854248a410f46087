import FileStorage
import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

struct ManifestRoundTripTests {
    static let names: [[UInt8]] = [
        Array("plain".utf8), [0xFF, 0xFE], [0x61, 0xC3], [0xED, 0xA0, 0x80], Array("line\nfeed\r\t".utf8),
        Array("\"quoted\" \\back\\".utf8), [0x01, 0x1F, 0x7F], Array("\u{E9}".utf8), Array("e\u{301}".utf8),
        Array("\u{1F469}\u{200D}\u{1F467}\u{202E}\u{2028}".utf8), [UInt8](repeating: 0x78, count: 255),
        [UInt8](repeating: 0xFF, count: 255), Array(".fsync-lite-".utf8), Array(" ".utf8), Array("null".utf8),
        Array("\\u0000".utf8), Array("{\"path\":".utf8), Array("-".utf8), [0xEF, 0xBB, 0xBF],
    ]
    static let times: [FileTime] = [
        FileTime(seconds: 0, nanoseconds: 0), FileTime(seconds: -1, nanoseconds: 999_999_999),
        FileTime(seconds: .min, nanoseconds: 0), FileTime(seconds: .max, nanoseconds: 999_999_999),
        FileTime(seconds: 253_402_300_800, nanoseconds: 1),
        FileTime(seconds: -62_167_219_201, nanoseconds: 1),
    ]
    static let numbers: [UInt64] = [0, 1, 1 << 32, 1 << 53 + 1, 1 << 63, .max]

    /// Entries in which every field varies.
    static func entries() -> [RecordList.Entry] {
        var random = SplitMix64(seed: 1)
        let types = FileType.allCases.filter { $0 != .socket }
        var entries = [RecordList.Entry(file: random.file(path("d"), .directory), targetInode: 1)]
        for (index, name) in names.enumerated() {
            let destination = names[(index + 1) % names.count] + [0x2F]
            for path in [RelativePath(name), RelativePath(Array("d/".utf8) + name)].compactMap({ $0 }) {
                let made = random.file(path, types[index % types.count])
                var status = made.status
                status.modified = times[index % times.count]
                status.changed = times[(index + 1) % times.count]
                status.permissions = [0, 0o7777, 0o644, 0o4755][index % 4]
                status.inode = numbers[index % numbers.count]
                if status.type == .symlink { status.size = ByteCount(clamping: destination.count) }
                let file = File(
                    path: path, status: status, destination: destination, extended: made.extended,
                    omitted: made.omitted, digest: made.digest, object: made.object)
                var entry = RecordList.Entry(
                    file: file, targetInode: numbers[(index + 1) % numbers.count])
                if index / 2 % 2 == 1 { entry.marks.insert(.racy) }
                if status.type == .file, index / 6 % 2 == 1 { entry.marks.insert(.growing) }
                if index % 2 == 1 { entry.targetChanged = times[index % times.count] }
                entries.append(entry)
            }
        }
        return entries.sorted { $0.file < $1.file }
    }

    static let header = {
        var header = ManifestHeader(
            id: "20261121T090000Z", root: [0x2F, 0xFF], created: Timestamp(times[1]),
            source: .init(
                path: Array("/s\n".utf8), identity: FileIdentity(inode: .max, created: Timestamp(times[3])),
                fileSystem: "ab\"c"))
        header.nextObject = .max
        return header
    }()

    @Test func everythingSurvives() throws {
        let entries = Self.entries()
        let scratch = try ScratchDocument()
        let bytes = try ManifestText.bytes(Self.header, entries)
        let read = try scratch.files(bytes)
        #expect(read.map(\.file) == entries.map(\.file))
        #expect(read.map(\.targetInode) == entries.map(\.targetInode))
        #expect(read.map(\.targetChanged) == entries.map(\.targetChanged))
        #expect(read.map(\.marks) == entries.map(\.marks))
        #expect(read.contains { $0.marks == .racy } && read.contains { $0.marks == [.racy, .growing] })
        #expect(try scratch.manifest(bytes).header == Self.header)
        #expect(try ManifestText.bytes(Self.header, read) == bytes)
        // Each entry is one line.
        #expect(bytes.count { $0 == 0x0A } == entries.count + 4)
    }

    @Test func headersSurviveWithoutWhatIsOptional() throws {
        let scratch = try ScratchDocument()
        var header = ManifestHeader(id: "", root: [], created: Timestamp(Self.times[2]))
        #expect(try scratch.manifest(ManifestText.bytes(header, [])).header == header)
        header.source = .init(path: [0xFF], identity: FileIdentity(inode: 0, created: nil), fileSystem: "")
        #expect(try scratch.manifest(ManifestText.bytes(header, [])).header == header)
        #expect(try scratch.files(ManifestText.bytes(header, [])).isEmpty)
        var rules = RetentionPolicy()
        (rules.keepLast, rules.keepWithin) = (0, .init("1y6mo"))
        (rules.keepYearly, rules.keepLabel) = (.max, ["\"\n", "é"])
        (rules.keepWithinHourly, rules.keepWithinDaily, rules.keepWithinWeekly) = (
            .init("1h"), .init("2d"), .init("3w")
        )
        (rules.keepWithinMonthly, rules.keepWithinYearly) = (.init("4mo"), .init("5y"))
        header.retention = rules
        header.exchanged = true
        #expect(try scratch.manifest(ManifestText.bytes(header, [])).header == header)
    }

    /// Attributes that a run could not read are not missing in the target, so no document names them.
    @Test func attributesThatWereNotReadAreNotRecorded() throws {
        let scratch = try ScratchDocument()
        var header = Self.header
        let root = file("", 0, .directory).withoutAttributes()
        header.rootEntry = root
        let read = try #require(try scratch.manifest(ManifestText.bytes(header, [])).header.rootEntry)
        #expect(read.omitted.isEmpty && root.omitted == .unread)
        var entry = Self.entries()[0]
        (entry.file.omitted, header.rootEntry) = ([.unread, .xattrs], nil)
        #expect(try scratch.files(ManifestText.bytes(header, [entry])).map(\.file.omitted) == [.xattrs])
    }

    @Test(arguments: [
        "{}", "{\"keep_last\":-1}", "{\"keep_last\":\"1\"}", "{\"keep_last\":1,\"keep_last\":2}",
        "{\"keep_within\":\"7\"}", "{\"keep_label\":\"a\"}", "{\"keep_label\":[]}", "{\"keep\":1}", "[]", "3",
    ])
    func noRulesOfRetention(text: String) throws {
        var header = Self.header
        header.retention = RetentionPolicy()
        header.retention?.keepLast = 3
        let scratch = try ScratchDocument()
        let whole = String(decoding: try ManifestText.bytes(header, []), as: UTF8.self)
        let parts = whole.replacing("{\"keep_last\":3}", with: text).split(separator: "\"checksum\":")
        let start = parts[0] + "\"checksum\":"
        #expect(throws: SyncError.self) {
            _ = try scratch.manifest(ManifestText.sealed(Array(start.utf8)))
        }
    }

    @Test func manyEntriesCrossTheBuffers() throws {
        let entries = (0..<8000).map { number in
            var file = file("f\(10_000 + number)").with(with(status(.file)) { $0.size = 3 })
            file.object = UInt64(number + 1)
            return RecordList.Entry(file: file, targetInode: UInt64(number))
        }
        let scratch = try ScratchDocument()
        let reader = try scratch.manifest(ManifestText.bytes(Self.header, entries))
        var count = 0
        while try reader.advance() {
            guard reader.path == entries[count].file.path, reader.targetInode == UInt64(count) else {
                Issue.record("entry \(count)")
                return
            }
            count += 1
        }
        #expect(count == 8000)
        #expect(reader.summary.files == 8000 && reader.summary.bytes == 24_000)
    }

    /// The old manifest with changes.
    @Test(arguments: UInt64(0)..<20)
    func updatesAsADictionaryWould(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        func some(_ count: Int) -> [RecordList.Entry] {
            (0..<count).map { _ in
                let name = random.pick(["a", "b", "c", "a-", "a.", "z", "m", "k", "0", "ab"])
                return .init(file: random.file(path(name), .file), targetInode: random.next())
            }
        }
        var expected = Dictionary(some(6).map { ($0.file.path, $0) }) { $1 }
        let old = RecordList(Array(expected.values))
        var update = ManifestUpdate()
        for entry in some(4) {
            update.remove(entry.file.path)
            expected[entry.file.path] = nil
        }
        for entry in some(4) {
            update.set(entry.file, targetInode: entry.targetInode)
            expected[entry.file.path] = entry
        }
        var bytes: [UInt8] = []
        let summary = try update.write(Self.header, over: old, to: &bytes)
        let read = try ScratchDocument().files(bytes)
        let wanted = expected.values.sorted { $0.file < $1.file }
        #expect(read.map(\.file) == wanted.map(\.file), "seed \(seed)")
        #expect(read.map(\.targetInode) == wanted.map(\.targetInode), "seed \(seed)")
        #expect(summary.files == wanted.count)
    }

    /// In a new directory before an old entry, all entries are new.
    @Test func newEntriesAreWrittenAsTheyAreMade() throws {
        struct Sink: ByteSink {
            var longest = 0

            mutating func write(_ bytes: [UInt8]) { longest = max(longest, bytes.count) }
        }
        var (update, sink) = (ManifestUpdate(), Sink())
        update.set(file("new", 0, .directory), targetInode: 1)
        for number in 0..<5_000 { update.set(file("new/\(number)"), targetInode: 1) }
        let old = RecordList([.init(file: file("old"), targetInode: 2)])
        #expect(try update.write(Self.header, over: old, to: &sink).files == 5_001)
        #expect((1..<(200 << 10)).contains(sink.longest))
    }

    @Test func whatNobodyLookedAtIsNotVouchedFor() throws {
        let entries = Self.entries()
        var update = ManifestUpdate()
        update.distrust(try #require(RelativePath("d")))
        for entry in entries.suffix(2) { update.set(entry.file, targetInode: entry.targetInode) }
        var bytes: [UInt8] = []
        _ = try update.write(Self.header, over: RecordList(entries), to: &bytes)
        let never = FileTime(seconds: 0, nanoseconds: 0)
        for (read, old) in zip(try ScratchDocument().files(bytes), entries) {
            let isBelow = old.file.path.components[0].elementsEqual("d".utf8)
            #expect(read.file.status.changed == (isBelow ? never : old.file.status.changed))
            #expect(read.file.identity == old.file.identity)
        }
    }
}
