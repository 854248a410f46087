import FileStorage
import Testing

@testable import FsyncLite

struct SnapshotNameTests {
    private let snapshots = [
        ("20261120T140030.000000Z-aaaa", "2026-11-20T14:00:30Z"),
        ("20261120T090000.000000Z-bbbb", "2026-11-20T09:00:00Z"),
        ("20261118T090000.000000Z-cccc", "2026-11-18T09:00:00Z"), ("initial", ""),
    ].map { Snapshot(id: $0, created: Timestamp(iso8601: $1)) }

    private static let names: [(name: String, index: Int)] = [
        ("latest", 0), ("latest~0", 0), ("latest~3", 3), ("20261118", 2), ("20261120T09", 1), ("initial", 3),
        ("i", 3),
        ("2026-11-20", 0), ("2026-11-19", 2), ("2026-11-20T14:00Z", 0), ("2026-11-20 15:59 +02", 1),
        ("2026-11-20T14:00:29Z", 1), ("2026-11-20T14:00:30.0Z", 0), ("2026-11-20T14:00:30Z", 0),
        ("2030-01-01", 0),
    ]

    @Test(arguments: names)
    func found(name: String, index: Int) throws {
        #expect(try SnapshotName.index(of: name, in: snapshots) == index)
    }

    /// A label is an exact name, tried before the beginning of an id and a time. The newest snapshot has it.
    @Test func aLabelIsAName() throws {
        var snapshots = snapshots
        for (index, label) in [(1, "2026-11-18"), (2, "latest"), (2, "2026")] {
            snapshots[index].label = label
            let found = try SnapshotName.index(of: label, in: snapshots)
            #expect(found == (label == "latest" ? 0 : index))
        }
        (snapshots[1].label, snapshots[2].label) = ("same", "same")
        #expect(try SnapshotName.index(of: "same", in: snapshots) == 1)
    }

    @Test func whatIsTooFarBackNamesTheOldest() {
        for (count, known) in [(4, "the oldest snapshot is latest~3"), (1, "the only snapshot is latest")] {
            #expect { try SnapshotName.index(of: "latest~9", in: Array(snapshots.prefix(count))) } throws: {
                "\($0)" == "there is no latest~9: \(known)"
            }
        }
    }

    private static let wrongNames: [(name: String, code: SyncError.Code)] = [
        ("latest~4", .inputMissing), ("2026-11-17", .inputMissing), ("2027", .inputMissing),
        ("latest~", .inputMissing), ("latest~-1", .inputMissing), ("", .inputMissing),
        ("5000y", .inputMissing), ("2026", .usage),
        ("20261120", .usage), ("2026-13-01", .inputMissing),
    ]

    @Test(arguments: wrongNames)
    func notFound(name: String, code: SyncError.Code) {
        let error = #expect(throws: SyncError.self) { try SnapshotName.index(of: name, in: snapshots) }
        #expect(error?.code == code)
    }

    /// The beginning of an id's SHA-256, as `sha256sum` prints it. A digit at the front becomes a letter.
    @Test func shortIDsDifferAtTheFront() throws {
        let ids = snapshots.map { SnapshotName.short($0.id) }
        #expect(ids == ["ece439dc", "pfb54856", "m4c9fcdf", "initial"])
        for (index, id) in ids.enumerated() {
            #expect(try SnapshotName.index(of: id, in: snapshots) == index)
        }
        #expect(try SnapshotName.index(of: "ece4", in: snapshots) == 0)
    }

    /// No short id begins like `1d` or another age.
    @Test func noShortIDBeginsLikeAnAge() {
        for number in 0..<200 {
            let first = SnapshotName.short("id-\(number)").utf8.first ?? 0
            #expect((UInt8(ascii: "a")...UInt8(ascii: "p")).contains(first))
        }
    }

    @Test func shortIDsAreAsLongAsTellsThemApart() throws {
        // The SHA-256 of both ids begins with c9184ee7.
        var snapshots = ["id-10014", "id-22672"].map { Snapshot(id: $0) }
        SnapshotName.shorten(&snapshots)
        #expect(snapshots.map(\.shortID) == ["c9184ee7b", "c9184ee7e"])
        let error = #expect(throws: SyncError.self) { try SnapshotName.index(of: "c9184ee7", in: snapshots) }
        #expect(error?.code == .usage)
        #expect(error?.message.hasSuffix("c9184ee7b (id-10014), c9184ee7e (id-22672)") == true)
    }
}
