import FileStorage
import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

/// A manifest must be exactly as the writer writes it. Any other is refused with its line, without a crash.
struct HostileManifestTests {
    private let scratch: ScratchDocument

    init() throws {
        scratch = try ScratchDocument()
    }

    private func expectRefusal(_ bytes: [UInt8], line: Int? = nil, _ what: String = "") {
        do {
            _ = try scratch.files(bytes)
            Issue.record("accepted: \(what)")
        } catch let error as SyncError {
            let prefix = line.map { "line \($0): " } ?? "line "
            guard error.code != .invalidDocument || !error.message.hasPrefix(prefix) || error.path == nil
            else { return }
            Issue.record("\(what): \(error.code) \(error)")
        } catch {
            Issue.record("\(what): \(error)")
        }
    }

    @Test func theCleanOneIsTaken() throws {
        #expect(try scratch.files(ManifestText().bytes).isEmpty)
        #expect(try scratch.files(ManifestText(path: "\"a\"").bytes).map(\.file.path) == [RelativePath("a")])
    }

    /// Versions whose sums overflowed wrote the sum of two and of three files of 8 EiB as -2 and 2^63 - 3.
    @Test(arguments: [(2, "-2"), (3, "9223372036854775805"), (2, "9223372036854775807")])
    func aSumBeyondAllIsTakenAsItWasWritten(count: Int, sum: String) throws {
        var text = ManifestText()
        text.entries = ["a", "b", "c"].prefix(count).map {
            ManifestText.entry([("path", "\"\($0)\""), ("size", "9223372036854775807")])
        }
        text.summary = "{\"files\":\(count),\"directories\":0,\"symlinks\":0,\"others\":0,\"bytes\":\(sum)}"
        let manifest = try scratch.manifest(text.bytes)
        while try manifest.advance() {}
        #expect(manifest.summary.bytes == .max)
        text.summary = text.summary.replacing("\"files\":\(count)", with: "\"files\":9")
        expectRefusal(text.bytes)
    }

    @Test(arguments: [
        #""""#, #""/a""#, #""a/""#, #""a//b""#, #""..""#, #"".""#, #""a/..""#, #""../a""#, #""./a""#,
        #""\u0000""#, #""a\u0000b""#, #"".fsync-lite""#, #"".fsync-lite/manifest.json""#, #""a/b""#,
        #""\ud800""#, #""\udc00""#, #""\ud800a""#, #""\ud800\u0041""#, #""\ud800\ud800""#, #""\udc00\ud800""#,
        #""\ud83d\u""#, #""\u12""#, #""\u+123""#, #""\u-001""#, #""\u 123""#, #""\u00e""#, #""\U0041""#,
        #""\x41""#, #""\'""#,
        #""a"#, "\"a\tb\"", "\"a\u{1}b\"", #""a\"#, "a", "null", "7", "[]", "{}", "", "\"a\",\"path\":\"a\"",
    ])
    func impossiblePath(_ path: String) {
        expectRefusal(ManifestText(path: path).bytes, line: 3, path)
    }

    @Test(
        arguments: [
            ("type", #""socket""#), ("type", #""door""#), ("type", #""File""#), ("type", "null"),
            ("type", #""directory""#),
            ("type", #""symlink""#), ("type", #""character_device""#), ("type", nil),
            ("size", nil), ("size", "-1"), ("size", "9223372036854775808"), ("size", "18446744073709551616"),
            ("size", "1e400"), ("size", "1E2"), ("size", "1.0"), ("size", "NaN"), ("size", "Infinity"),
            ("size", "00"),
            ("size", "01"), ("size", "+1"), ("size", "0x1"), ("size", "\"1\""), ("size", "-"), ("size", ""),
            ("size", "null"),
            ("size", "-0"), ("size", "1 "), ("size", " 1"),
            ("size", "999999999999999999999999999999999999999999999999999999999999999999999999999999999"),
            ("inode", "-1"), ("inode", "18446744073709551616"), ("inode", nil), ("inode", "1e3"),
            ("inode", "-0"),
            ("owner", "4294967296"), ("owner", "-1"), ("owner", nil), ("group", "4294967296"), ("group", nil),
            ("links", "4294967296"), ("links", "-1"), ("links", "0"), ("links", "1"), ("target_inode", "-1"),
            ("target_inode", "99999999999999999999"),
            ("mode", #""644""#), ("mode", #""00644""#), ("mode", #""0648""#), ("mode", #""+644""#),
            ("mode", #""-644""#),
            ("mode", #""-000""#), ("mode", #""7778""#), ("mode", "420"), ("mode", nil),
            ("mode", #""\u0030644 ""#),
            ("modified", "0"), ("modified", #""yesterday""#), ("modified", #""2026-02-30T00:00:00Z""#),
            ("modified", nil),
            ("modified", #""+999999999999-01-01T00:00:00Z""#), ("changed", nil), ("created", "null"),
            ("destination", #""x""#), ("destination_base64", #""/w==""#), ("device", #""1:2""#),
            ("path_base64", #""/w==""#), ("unknown", "1"), ("", "1"), ("PATH", #""a""#),
            ("mode ", #""0644""#),
            ("digest", "\"md5:\(String(repeating: "0", count: 64))\""), ("digest", "\"sha256:\""),
            ("digest", "\"sha256:\(String(repeating: "0", count: 63))\""),
            ("digest", "\"sha256:\(String(repeating: "A", count: 64))\""),
            ("digest", "\"sha256:\(String(repeating: "0", count: 65))\""), ("digest", "0"),
            ("omitted", "[]"), ("omitted", #"["owner","mode"]"#), ("omitted", #"["mode","mode"]"#),
            ("omitted", #"["size"]"#), ("omitted", #""mode""#), ("omitted", "null"),
            ("xattrs", "[]"), ("xattrs", "{}"), ("xattrs", "null"), ("xattrs", #"[{"name":"user.a"}]"#),
            ("xattrs", #"[{"value":"x"}]"#), ("xattrs", #"[{"name":"","value":"x"}]"#),
            ("xattrs", #"[{"name":"a\u0000b","value":"x"}]"#),
            ("xattrs", #"[{"name":"user.a","value":"x","more":1}]"#),
            ("xattrs", #"[{"name":"user.a","name_base64":"/w==","value":"x"}]"#),
            ("xattrs", #"[{"name":"user.b","value":"x"},{"name":"user.a","value":"x"}]"#),
            ("xattrs", #"[{"name":"user.a","value":"x"},{"name":"user.a","value":"y"}]"#),
        ] as [(String, String?)])
    func impossibleField(_ key: String, _ value: String?) {
        expectRefusal(ManifestText(fields: [(key, value)]).bytes, line: 3, "\(key): \(value ?? "left out")")
    }

    private static let devices = [
        #""1""#, #""1:2:3""#, #""4294967296:0""#, #""1:4294967296""#, #""-1:0""#, #""+1:2""#, #""1:""#,
        #"":""#,
        #""01:2""#, #""1:2 ""#, "1",
    ]

    /// NUL in a destination, a directory with two names, and a digest of one.
    @Test(
        arguments: [
            ("symlink", "destination", #""a\u0000b""#), ("directory", "links", "2"),
            ("directory", "digest", "\"sha256:\(String(repeating: "0", count: 64))\""),
        ] + devices.map { ("block_device", "device", $0) })
    func impossibleFieldOfAType(_ type: String, _ key: String, _ value: String) {
        let fields: [(key: String, value: String?)] = [("type", "\"\(type)\""), ("size", nil), (key, value)]
        expectRefusal(ManifestText(fields: fields).bytes, line: 3, "\(key) of a \(type)")
    }

    @Test(arguments: ["path", "type", "size", "modified", "mode", "owner", "group", "inode", "changed"])
    func repeatedKey(_ key: String) {
        var text = ManifestText(path: "\"a\"")
        let entry = text.entries[0]
        let value = entry.split(separator: "\"\(key)\":")[1].split(separator: ",")[0].replacing("}", with: "")
        text.entries = [entry.dropLast() + ",\"\(key)\":\(value)}"]
        expectRefusal(text.bytes, line: 3, key)
    }

    @Test(arguments: [
        #"!"#, #"===="#, #"/w="#, #"/w"#, #"/w==/w=="#, #"Li4="#, #"AA=="#, #"L2E="#, #""#, #"YQ=="#,
        #"/x=="#, #"/w ==" "#,
    ])
    func impossibleBase64Path(_ base64: String) {
        // YQ== is "a", which has its own text form. /x== has spare bits that are not zero.
        expectRefusal(
            ManifestText(fields: [("path", nil), ("path_base64", "\"\(base64)\"")]).bytes, line: 3, base64)
    }

    @Test(
        arguments: [
            (["a", "a"], 4), (["b", "a"], 4), (["a-", "a"], 4), (["\\u00e9", "e\\u0301"], 4),
            (["a", "a/b"], 4), (["a.b", "a-b"], 4),
            (["b/c"], 3), (["a", "b", "a"], 5),
        ] as [([String], Int)])
    func wrongOrder(_ paths: [String], line: Int) {
        var text = ManifestText()
        text.entries = paths.map { ManifestText.entry([("path", "\"\($0)\"")]) }
        expectRefusal(text.bytes, line: line, "\(paths)")
    }

    @Test(arguments: ["0", "4", "-1", "1.0", "1e0", "01", "\"1\"", "null", "9223372036854775808", ""])
    func impossibleVersion(_ version: String) {
        var text = ManifestText()
        text.version = version
        expectRefusal(text.bytes, line: 1, version)
    }

    @Test(arguments: [
        #"{"files":1,"directories":0,"symlinks":0,"others":0,"bytes":0}"#,
        #"{"files":0,"directories":0,"symlinks":0,"others":0,"bytes":1}"#,
        #"{"files":-0,"directories":0,"symlinks":0,"others":0,"bytes":0}"#,
        #"{"files":0,"files":0,"directories":0,"symlinks":0,"others":0,"bytes":0}"#,
        #"{"files":0,"directories":0,"symlinks":0,"bytes":0}"#, "{}", "[]", "null", "",
        #"{"files":0,"directories":0,"symlinks":0,"others":0,"bytes":0,"more":0}"#,
    ])
    func wrongSummary(_ summary: String) {
        var text = ManifestText()
        text.summary = summary
        expectRefusal(text.bytes, line: 3, summary)
    }

    @Test(arguments: [
        ("fsync-lite-journal", #""id":"x","root":"/","created":"2026-11-21T09:00:00Z","#),
        ("fsync-lite-manifest", #""root":"/","created":"2026-11-21T09:00:00Z","#),
        ("fsync-lite-manifest", #""id":"x","root":"/","created":"today","#),
        ("fsync-lite-manifest", #""id":"x","root":"/","created":"2026-11-21T09:00:00Z","more":1,"#),
        ("fsync-lite-manifest", #""id":"x","root":"/","created":"2026-11-21T09:00:00Z""#),
        ("fsync-lite-manifest", #""id":"x","root_base64":"!","created":"2026-11-21T09:00:00Z","#),
        ("fsync-lite-manifest", #""id":"x","root":"/","created":"2026-11-21T09:00:00Z","source":"/s","#),
        (
            "fsync-lite-manifest",
            #""id":"x","root":"/","created":"2026-11-21T09:00:00Z","source":"/s","source_inode":-1,"#
        ),
    ])
    func wrongHeader(_ format: String, _ header: String) {
        var text = ManifestText()
        (text.format, text.header) = (format, header)
        expectRefusal(text.bytes, header)
    }

    @Test func otherTextAroundIt() {
        let clean = ManifestText(path: "\"a\"").bytes
        let text = String(decoding: clean, as: UTF8.self)
        expectRefusal([], line: 1, "empty")
        expectRefusal([0xEF, 0xBB, 0xBF] + clean, line: 1, "byte order mark")
        expectRefusal([0xFF, 0xFE] + clean.flatMap { [$0, 0] }, line: 1, "UTF-16")
        expectRefusal([0x0A] + clean, line: 1, "a line before")
        expectRefusal([0x20] + clean, line: 1, "a space before")
        expectRefusal(clean + [0x0A], "a line after")
        expectRefusal(clean + clean, "twice")
        expectRefusal(clean.dropLast(), "without the last line feed")
        expectRefusal(Array(text.replacing("\n", with: "\r\n").utf8), line: 1, "line feeds of another system")
        expectRefusal(Array(text.replacing("\":", with: "\": ").utf8), line: 1, "spaces")
        expectRefusal(Array(text.replacing("xxh64:", with: "xxh64:0").utf8), "checksum")
        expectRefusal([UInt8](repeating: 0, count: 5000), "zeros")
        let empty = String(decoding: ManifestText().bytes, as: UTF8.self)
        for gap in ["[\n]", "[\n\n]", "[ ]"] {
            let spread = empty.replacing("[]", with: gap).split(separator: "\"xxh64:")[0]
            expectRefusal(ManifestText.sealed(Array(spread.utf8)), "an empty array as \(gap)")
        }
    }

    @Test func nestingWithoutEnd() {
        let deep = String(repeating: "[", count: 100_000)
        expectRefusal(Array(deep.utf8), line: 1, "alone")
        expectRefusal(Array((deep + "\n").utf8), line: 1, "a line")
        expectRefusal(ManifestText(path: deep).bytes, line: 3, "path")
        expectRefusal(
            ManifestText(path: String(repeating: "{\"path\":", count: 100_000)).bytes, line: 3, "objects")
        var text = ManifestText()
        text.summary = deep
        expectRefusal(text.bytes, line: 3, "summary")
        text = ManifestText()
        text.entries = [deep]
        expectRefusal(text.bytes, line: 3, "entry")
    }

    @Test func commasTooManyOrTooFew() {
        let first = ManifestText.entry([("path", "\"a\"")])
        let second = ManifestText.entry([("path", "\"b\"")])
        for entries in [
            [first + "\n" + second], [first, ""], ["", first], [first, second + ","], [first + second],
            [first + ",,"],
        ] {
            var text = ManifestText()
            text.summary = #"{"files":\#(2),"directories":0,"symlinks":0,"others":0,"bytes":0}"#
            text.entries = entries
            expectRefusal(text.bytes, "\(entries)")
        }
    }

    @Test func truncatedAnywhere() throws {
        let bytes = try ManifestText.bytes(
            ManifestRoundTripTests.header, ManifestRoundTripTests.entries())
        for length in stride(from: 0, to: bytes.count, by: 64) {
            expectRefusal(Array(bytes[..<length]), "the first \(length) bytes")
        }
        for length in bytes.count - 64..<bytes.count {
            expectRefusal(Array(bytes[..<length]), "the first \(length) bytes")
        }
    }

    @Test func anyBitFlipped() throws {
        var entries = ManifestRoundTripTests.entries()
        entries.removeAll { $0.file.path.bytes.count > 12 }
        let bytes = try ManifestText.bytes(ManifestRoundTripTests.header, Array(entries.prefix(5)))
        _ = try scratch.files(bytes)
        for index in bytes.indices {
            for bit in index.isMultiple(of: 2) ? [0, 5] : [1, 7] {
                var damaged = bytes
                damaged[index] ^= 1 << bit
                expectRefusal(damaged, "bit \(bit) of byte \(index)")
            }
        }
    }
}
