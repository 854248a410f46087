import FileStorage
import FoundationEssentials
import FsyncLite
import Testing

/// Documents as earlier versions wrote them: they are read, and written again with the same bytes.
struct OldDocumentTests {
    private func rewritten<Value: Codable>(_ type: Value.Type, _ text: String) throws -> String {
        let bytes = MemoryStorage()
        let documents = CodableStorage(bytes, keys: .snakeCase)
        try bytes.store(Data(text.utf8), for: "d")
        try documents.store(documents.value(type, for: "d"), for: "d")
        return String(decoding: try bytes.data(for: "d"), as: UTF8.self)
    }

    @Test func lastRunKeepsItsBytes() throws {
        let text = """
            {
              "began" : "2026-11-27T12:02:51.899080246Z",
              "ended" : "2026-11-27T12:02:52.091080239Z",
              "problems" : 0,
              "result" : 0,
              "version" : 1
            }

            """
        #expect(try rewritten(LastRun.self, text) == text)
    }

    @Test func headerOfTheHistoryKeepsItsBytes() throws {
        let text = """
            {
              "attributes" : 1,
              "bytes_held" : 0,
              "create" : 2,
              "created" : "2026-11-27T12:02:51.899080246Z",
              "delete" : 0,
              "format" : "fsync-lite-history",
              "id" : "20261127T120251.951080Z-f5d9",
              "move" : 0,
              "update" : 0,
              "utc_offset" : 0,
              "version" : 1
            }

            """
        #expect(try rewritten(HistoryRecord.Header.self, text) == text)
    }

    @Test func settingsKeepTheirBytes() throws {
        let text = """
            {
              "defaults" : {
                "exclude" : [
                  "*.tmp"
                ],
                "keep_going" : false,
                "max_delete" : "20%"
              },
              "keep_daily" : 14,
              "keep_last" : 3
            }

            """
        #expect(try rewritten(Settings.self, text) == text)
    }
}
