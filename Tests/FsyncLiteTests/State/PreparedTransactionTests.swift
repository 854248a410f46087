import FileStorage
import FileSystem
import Foundation
import TestSupport
import Testing

@testable import FsyncLite

@Suite("The document of a prepared transaction")
struct PreparedTransactionTests {
    private static let id = "20261124T110054.985916Z-8c82f170e55eb94072c06a5c58eebd0b"

    /// The document of version 1.
    private static func fixture() throws -> String {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../fixtures/prepared-v1/small.json").standardizedFileURL.path
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    private func read(_ text: String, of id: String = id) throws -> PreparedTransaction {
        let directory = try TemporaryDirectory()
        try text.write(toFile: "\(directory.path)/document", atomically: false, encoding: .utf8)
        return try PreparedTransaction(
            reading: directory.open().open(FileName("document"), [.read]), path: Array("document".utf8),
            of: id)
    }

    @Test func thatOfTheFirstVersionIsRead() throws {
        let text = try Self.fixture()
        let transaction = try read(text)
        #expect(transaction.objects.count == 24 && transaction.operations.count == 12)
        #expect(transaction.attributes.count == 8 && transaction.descendants.count == 3)
        #expect(
            transaction.retention.keepLast == 4
                && transaction.basis?.manifest == "20261124T110054.877916Z-5c9c")
        #expect(transaction.summary.delete == 4 && transaction.summary.update == 5)
        #expect(transaction.objects[7].old?.name.bytes.elementsEqual([0x66, 0xFF]) == true)
        var again: [UInt8] = []
        try transaction.write(
            to: &again, (transaction.objects.count, { transaction.objects[$0] }), transaction.operations,
            transaction.attributes, transaction.actions
        ) { try transaction.descendants.forEach($0) }
        #expect(String(decoding: again, as: UTF8.self) == text)
    }

    @Test func thatOfAnotherStageIsRefused() throws {
        #expect(throws: SyncError.self) { try read(Self.fixture(), of: "20261121T090000.123456Z-3f2a") }
    }

    private static let planted: [(what: String, with: String, told: String)] = [
        (#""new_name":"manifest.json""#, #""new_name":"settings.json""#, "outside of the tree"),
        (
            #""new_parent":0,"new_name":"new""#, #""new_parent":0,"new_name":".fsync-lite""#,
            "outside of the tree"
        ),
        (#""new_parent":0,"new_name":"new""#, #""new_parent":3,"new_name":"new""#, "outside of the tree"),
        (#""new_parent":0,"new_name":"new""#, #""new_parent":5,"new_name":"1""#, "outside of the tree"),
        (
            #""slot_parent":5,"slot_name":"10""#, #""slot_parent":4,"slot_name":"header.json""#,
            "outside of the stage"
        ),
        (
            #""slot_parent":5,"slot_name":"10""#, #""slot_parent":5,"slot_name":"12""#,
            "two objects in one slot"
        ),
        (#""new_parent":0,"new_name":"moved""#, #""new_parent":9,"new_name":"moved""#, "within itself"),
        (#""size":5306"#, #""size":-1"#, "a size below zero"),
        (#"{"detach":11},\#n"#, "", "does not fit"),
        (#"{"attach":16},"#, #"{"attach":16},\#n{"attach":16},"#, "does not fit"),
        (#"{"exchange":13,"with":6}"#, #"{"exchange":13,"with":7}"#, "does not fit"),
        (
            #"{"detach":9},\#n{"exchange":13,"with":6}"#, #"{"exchange":13,"with":6},\#n{"detach":9}"#,
            "does not fit"
        ),
        (
            #"{"exchange":22,"with":23},\#n{"rename":4}"#, #"{"rename":4},\#n{"exchange":22,"with":23}"#,
            "does not fit"
        ),
        (#""new_name":"another"}"#, #""new_name":"k"}"#, "does not fit"),
        (#"{"link":20,"new_parent":19"#, #"{"link":20,"new_parent":1"#, "does not fit"),
        (#"{"object":11},"#, #"{"object":1},"#, "no object with attributes"),
        (#""old_xattrs":[],"#, "", "on one side only"),
        (#"{"object":11,"path""#, #"{"object":9,"path""#, "no directory that leaves"),
    ]

    /// With the right checksum. It must not begin a commit that cannot end, or that names foreign objects.
    @Test(arguments: planted) func aPlantedOneIsRefused(_ what: String, _ with: String, _ told: String) throws
    {
        let text = try Self.fixture()
        let planted = text.replacing(what, with: with)
        #expect(planted != text)
        let start = try #require(planted.range(of: #""checksum":"#)).upperBound
        let sealed = ManifestText.sealed(Array(planted[..<start].utf8))
        let error = #expect(throws: SyncError.self) { try read(String(decoding: sealed, as: UTF8.self)) }
        #expect(
            error?.code == .invalidDocument && error?.message.contains(told) == true,
            "\(String(describing: error))")
    }
}
