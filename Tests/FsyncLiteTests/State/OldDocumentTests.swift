import FileStorage
import FoundationEssentials
import Testing

@testable import FsyncLite

/// Documents of earlier versions are read, and written again with the same bytes.
struct OldDocumentTests {
    private func check<Value: Codable>(_ type: Value.Type, _ text: String) throws {
        let bytes = MemoryStorage()
        let documents = CodableStorage(bytes, keys: .snakeCase)
        try bytes.store(Data(text.utf8), for: "d")
        try documents.store(documents.value(type, for: "d"), for: "d")
        #expect(String(decoding: try bytes.data(for: "d"), as: UTF8.self) == text)
    }

    @Test func documentsKeepTheirBytes() throws {
        try check(
            LastRun.self,
            """
            {
              "began" : "2026-11-27T12:02:51.899080246Z",
              "ended" : "2026-11-27T12:02:52.091080239Z",
              "problems" : 0,
              "result" : 0,
              "version" : 1
            }

            """)
        try check(
            HistoryRecord.Header.self,
            """
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

            """)
        try check(
            Settings.self,
            """
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

            """)
        try check(
            Activity.self,
            """
            {
              "began" : "2026-11-27T12:02:51.899080246Z",
              "boot" : "4f2c7d0e-8c1b-4a52-9c29-6d7e3a0b1c55",
              "bytes" : 4096,
              "entries" : 3,
              "phase" : "staging",
              "phase_began" : "2026-11-27T12:02:52.091080239Z",
              "process" : 4711,
              "total_bytes" : 8192,
              "total_entries" : 5,
              "version" : 1
            }

            """)
        try check(
            LockFile.self,
            """
            {
              "boot" : "4f2c7d0e-8c1b-4a52-9c29-6d7e3a0b1c55",
              "host" : "desk 00112233",
              "process" : 4711,
              "process_namespace" : "4026531836",
              "started" : 123456,
              "version" : 1
            }

            """)
    }
}
