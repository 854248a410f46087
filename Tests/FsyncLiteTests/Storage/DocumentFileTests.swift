import FoundationEssentials
import FsyncLite
import TestSupport
import Testing

private struct Plan: Codable, Equatable, FileReadable, FileWritable {
    static let fileName = "plan.json"
    var sourceURL = "/a"
    var madeAt = Date(timeIntervalSince1970: 1_700_000_000)
    var byName = ["keepMe": 1, "b_c": 2]
}

private struct Note: FileReadable, FileWritable {
    static let fileName = "note"
    static let encoding = String.Encoding.ascii
    var text: String
    init(fileText: String) { text = fileText }
    func fileText() -> String { text }
}

struct DocumentFileTests {
    let temporary = try! TemporaryDirectory()
    var root: LocalFile { temporary.file }

    @Test func jsonHasSortedSnakeCaseKeysAndFinalNewline() throws {
        try Plan().write(in: root)
        #expect(
            try (root + "plan.json").text() == """
                {
                  "by_name" : {
                    "b_c" : 2,
                    "keepMe" : 1
                  },
                  "made_at" : "2023-11-14T22:13:20Z",
                  "source_u_r_l" : "/a"
                }

                """)
        #expect(try Plan.read(in: root) == Plan())
        #expect(try (root + "plan.json").json(Plan.self) == Plan())
    }

    @Test func readIfPresentIsNilOnlyWhereNothingIs() throws {
        #expect(try Settings.readIfPresent(in: root) == nil)
        #expect(try Settings.readIfPresent(in: root + "missing") == nil)
        try (root + "f").append("")
        #expect(throws: SyncError.self) { try Settings.readIfPresent(in: root + "f") }
        try (root + "settings.json").makeDirectory()
        #expect(throws: SyncError.self) { try Settings.readIfPresent(in: root) }
    }

    @Test func encodingFailureIsAnErrorAndWritesNothing() throws {
        #expect(throws: SyncError.self) { try Note(fileText: "é").append(in: root) }
        #expect(throws: SyncError.self) { try Note(fileText: "é").write(in: root) }
        #expect(try root.children.isEmpty)
        try Note(fileText: "a").append(in: root + "new")
        try Note(fileText: "b").append(to: "note", in: root + "new")
        #expect(try Note.read(in: root + "new").text == "ab")
    }

    @Test func runLogAddsOneLinePerRun() throws {
        let file = root + "logs/run.log"
        try RunLog(file, line: "first").append()
        try RunLog(file, line: "second\nline C:\\x").append()
        #expect(try file.text() == "first\nsecond\\nline C:\\x\n")
        try RunLog(in: root, line: "own").append()
        #expect(try (root + RunLog.fileName).text() == "own\n")
    }

    @Test func settingsRoundTrip() throws {
        try Settings(keepLast: 3).write(in: root)
        #expect(try (root + "settings.json").text() == "{\n  \"keep_last\" : 3\n}\n")
        #expect(try Settings.read(in: root).rules.keepLast == 3)
        try (root + "settings.json").replace(withText: "{}")
        #expect(try Settings.read(in: root) == Settings())
    }

    @Test(arguments: [
        (#"{"keep_last": "3"}"#, "keep_last"), (#"{"keep_last": 1.5}"#, "keep_last"),
        (#"{"keep_last": -1}"#, "keep_last"),
        (#"{"keep_frist": 3}"#, "keep_frist"), (#"{"keepLast": 3}"#, "keepLast"),
        (#"{"keep_last": 3, "a\nb": 1}"#, "a\\nb"),
        ("[]", "array"), ("", "JSON"), ("{\"keep_last\": 3", "JSON"), ("null", "null"),
    ])
    func settingsErrorNamesFileAndKey(_ text: String, _ mentioned: String) throws {
        let file = root + "settings.json"
        try file.replace(withText: text)
        #expect { try Settings.read(in: root) } throws: { error in
            guard let error = error as? SyncError else { return false }
            return error.code == .invalidDocument && error.path == file.bytes
                && error.message.contains(mentioned)
                && !error.description.contains("\n")
        }
    }
}
