import FileStorage
import FoundationEssentials
import TestSupport
import Testing

private struct Plan: Codable, Equatable, FileReadWritable {
    static let fileName = "plan.json"
    var sourceURL = "/a"
    var madeAt = Date(timeIntervalSince1970: 1_700_000_000)
    var byName = ["keepMe": 1, "b_c": 2]
}

private struct PlainNote: FileDecodable, FileEncodable {
    static let fileName = "note"
    static let encoding = String.Encoding.ascii
    var text: String
    init(fileText: String) { text = fileText }
    func fileText() -> String { text }
}

struct DocumentFileTests {
    let temporary = try! TemporaryDirectory()
    var root: LocalFile { temporary.file }

    @Test func jsonHasSortedKeysAndFinalNewline() throws {
        try (root + "plan.json").replace(withJSON: Plan(), keys: .snakeCase)
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
        #expect(try (root + "plan.json").json(Plan.self, keys: .snakeCase) == Plan())
        try Plan().write(in: root)
        #expect(try (root + "plan.json").text().contains("\"sourceURL\" : \"/a\""))
        #expect(try Plan.read(in: root) == Plan())
        #expect(try (root + "plan.json").json(Plan.self) == Plan())
    }

    @Test func readIfPresentIsNilOnlyWhereNothingIs() throws {
        #expect(try Plan.readIfPresent(in: root) == nil)
        #expect(try Plan.readIfPresent(in: root + "missing") == nil)
        try (root + "f").append("")
        #expect(throws: SyncError.self) { try Plan.readIfPresent(in: root + "f") }
        try (root + "plan.json").makeDirectory()
        #expect(throws: SyncError.self) { try Plan.readIfPresent(in: root) }
    }

    @Test func encodingFailureIsAnErrorAndWritesNothing() throws {
        #expect(throws: SyncError.self) { try PlainNote(fileText: "é").append(in: root) }
        #expect(throws: SyncError.self) { try PlainNote(fileText: "é").write(in: root) }
        #expect { try (root + "x").replace(withText: "é", encoding: .ascii) } throws: {
            "\($0)".contains("x: the encoding")
        }
        #expect(try root.children.isEmpty)
        try PlainNote(fileText: "a").append(in: root + "new")
        try PlainNote(fileText: "b").append(to: "note", in: root + "new")
        #expect(try PlainNote.read(in: root + "new").text == "ab")
    }
}
