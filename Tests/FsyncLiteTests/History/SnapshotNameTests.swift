import FileStorage
import Testing

@testable import FsyncLite

struct SnapshotNameTests {
    private let snapshots = [
        ("20261120T140030.000000Z-aaaa", "2026-11-20T14:00:30Z"),
        ("20261120T090000.000000Z-bbbb", "2026-11-20T09:00:00Z"),
        ("20261118T090000.000000Z-cccc", "2026-11-18T09:00:00Z"), ("initial", ""),
    ].map { Snapshot(id: $0, created: Timestamp(text: $1)) }

    @Test(arguments: [
        ("latest", 0), ("latest~0", 0), ("latest~3", 3), ("20261118", 2), ("20261120T09", 1), ("initial", 3),
        ("i", 3),
        ("2026-11-20", 0), ("2026-11-19", 2), ("2026-11-20T14:00", 0), ("2026-11-20T13:59", 1),
        ("2026-11-20T14:00:29", 1), ("2026-11-20T14:00:30Z", 0), ("2030-01-01", 0),
    ])
    func found(name: String, index: Int) throws {
        #expect(try Snapshot.index(of: name, in: snapshots) == index)
    }

    @Test(arguments: [
        ("latest~4", SyncError.Code.inputMissing), ("2026-11-17", .inputMissing), ("2027", .inputMissing),
        ("latest~", .inputMissing), ("latest~-1", .inputMissing), ("", .inputMissing), ("2026", .usage),
        ("20261120", .usage), ("2026-13-01", .inputMissing),
    ])
    func notFound(name: String, code: SyncError.Code) {
        let error = #expect(throws: SyncError.self) { try Snapshot.index(of: name, in: snapshots) }
        #expect(error?.code == code)
    }
}
