import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

/// The fast reader of a manifest's entries.
struct PlainEntryTests {
    private let lines = [
        #"{"path":"a/report-000012.c","type":"file","size":1234567890,"modified":"2023-02-28T23:59:59.123456789Z","#
            + #""mode":"0644","owner":0,"group":1000,"links":2,"inode":12345678,"#
            + #""created":"1970-01-01T00:00:00.000000001Z","changed":"2026-11-22T00:00:00Z","target_inode":7}"#,
        #"{"path":"d","type":"directory","modified":"2024-02-29T12:30:01Z","mode":"2755","owner":4294967295,"#
            + #""group":0,"inode":1,"changed":"0000-01-01T00:00:00.100000000Z"}"#,
        #"{"path":"l","type":"symlink","destination":"../there/it is","modified":"9999-12-31T23:59:59.999999999Z","#
            + #""mode":"0777","owner":1,"group":12345678,"inode":999999999999999999,"changed":"1969-12-31T23:59:59Z"}"#,
        #"{"path":"f","type":"file","size":0,"modified":"2100-02-28T00:00:00Z","mode":"0000","owner":1,"group":1,"#
            + #""inode":1,"changed":"2000-02-29T00:00:00Z","digest":"sha256:"#
            + String(repeating: "09af", count: 16) + #""}"#,
    ]

    private func read(_ line: [UInt8]) -> EntryRecord? {
        var record = EntryRecord()
        return read(line, into: &record) ? record : nil
    }

    private func read(_ line: [UInt8], into record: inout EntryRecord) -> Bool {
        line.withUnsafeBufferPointer { PlainEntry.read($0, into: &record) } == line.count
    }

    /// All values of a record, as text.
    private func text(_ record: EntryRecord) -> String {
        "\(record.path) \(record.status) \(record.destination) \(record.omitted) "
            + "\(String(describing: record.targetInode)) \(String(describing: record.digest))"
    }

    @Test func takesWhatTheWriterWrites() throws {
        for line in lines { _ = try #require(read(Array(line.utf8)), "\(line)") }
        let record = try #require(read(Array(lines[0].utf8)))
        #expect(record.status.size == 1_234_567_890)
        #expect(record.status.modified == FileTime(seconds: 1_677_628_799, nanoseconds: 123_456_789))
        #expect(record.status.inode == 12_345_678)
    }

    /// The general reader accepts every text that this one accepts, and reads the same values.
    @Test func agreesWithTheReaderOfAnyEntry() throws {
        var random = SplitMix64(seed: 1)
        let bytes = Array(#"0123456789"\:-.TZ{},/ a"#.utf8) + [0, 0x1F, 0x7F, 0x80, 0xFF]
        var taken = 0
        var plain = EntryRecord()
        for _ in 0..<8000 {
            var line = Array(try #require(lines.randomElement(using: &random)).utf8)
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                line[Int.random(in: line.indices, using: &random)] =
                    try #require(bytes.randomElement(using: &random))
            }
            guard read(line, into: &plain) else { continue }
            taken += 1
            var any = EntryRecord()
            var document = try DocumentReader(text: line)
            try document.entry(into: &any)
            #expect(text(plain) == text(any), "\(String(decoding: line, as: UTF8.self))")
        }
        #expect(taken > 3000)
    }
}
