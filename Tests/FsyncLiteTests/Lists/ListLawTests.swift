import FileStorage
import FileSystem
import Foundation
import TestSupport
import Testing

@testable import FsyncLite

/// After any events, every list is found through its layers, and every object at its place.
struct ListLawTests {
    @Test(arguments: 0..<4)
    func everyListAndPlaceIsFound(block: UInt64) throws {
        for seed in block * 100..<(block + 1) * 100 {
            var course = ListCourse(seed: seed)
            for event in 0..<14 {
                course.advance()
                let faults = try course.faults()
                #expect(faults == [], "seed \(seed), event \(event)")
                if !faults.isEmpty { return }
            }
        }
    }

    /// Looking up in a joined layer gives the same as in one layer after the other.
    @Test(arguments: 0..<4)
    func joinedLayersResolveAsTheirParts(block: UInt64) {
        for seed in 10_000 + block * 50..<10_000 + (block + 1) * 50 {
            var course = ListCourse(seed: seed)
            for _ in 0..<8 { course.advance() }
            let layers = course.layers
            for (newer, older) in zip(layers, layers.dropFirst()) {
                let joined = older.joined(to: newer)
                for path in course.paths {
                    let expected: ListLayer.Answer =
                        switch older.resolve(path) {
                        case .entry(let entry): .entry(entry)
                        case .newer(let there):
                            switch newer.resolve(there) {
                            case .entry(let entry): .entry(entry?.moved(to: path))
                            case .newer(let there): .newer(there)
                            }
                        }
                    #expect(joined.resolve(path) == expected, "seed \(seed), \(path)")
                }
            }
        }
    }

    @Test func placesThatFormARingAreLost() {
        var places = Places()
        let name = FileName("x")
        places.add(
            [StoredObject(1, .inside(2, name)), StoredObject(2, .inside(1, name))], of: FileName("t"))
        #expect(places.place(of: 1) { _ in nil } == nil)
    }

    /// The directory came back with its object. That was replaced by hand before both were moved again.
    @Test func aPlaceIsThatOfTheNewestObjectThere() throws {
        var places = Places()
        let (name, slot) = (FileName("x"), try #require(RelativePath("0/1")))
        for (object, transaction) in [(3, "newer"), (2, "older")] as [(UInt64, StaticString)] {
            let lines = [StoredObject(1, .slot(slot)), StoredObject(object, .inside(1, name))]
            places.add(lines, of: FileName(transaction))
        }
        let path = try #require(RelativePath("newer/0/1/x"))
        #expect(places.place(of: 3) { _ in nil } == .history(path))
        #expect(places.place(of: 2) { _ in nil } == nil)
        #expect(places.objects.object(at: path) == 3)
    }

    /// A document that is read and written again has the same bytes.
    @Test(arguments: 0..<20)
    func documentsAreReadAsTheyWereWritten(seed: UInt64) throws {
        var course = ListCourse(seed: 20_000 + seed)
        for _ in 0..<6 { course.advance() }
        let directory = try TemporaryDirectory()
        for document in course.documents {
            var bytes: [UInt8] = []
            try document.write(to: &bytes)
            let read = try directory.document(bytes)
            var again: [UInt8] = []
            try read.write(to: &again)
            #expect(again == bytes, "seed \(seed)")
            #expect(Array(read.stored) == Array(document.stored))
        }
    }

    @Test(arguments: [
        (#"{"object":2,"slot":"0/1","in":3,"name":"x"}"#, "in a slot or in another one"),
        (#"{"object":2}"#, "no place"), (#"{"object":0,"slot":"0/1"}"#, "begin with 1"),
        (#"{"object":2,"slot":"../1"}"#, "not a path"),
        (#"{"object":2,"in":3}"#, "name"), (#"{"object":2,"in":0,"name":"x"}"#, "another one"),
        ("{\"object\":2,\"slot\":\"0/1\"},\n{\"object\":2,\"slot\":\"0/2\"}", "two places"),
    ])
    func falsePlaceIsAnError(line: String, message: String) throws {
        let fault = try #require(throws: SyncError.self) { try TemporaryDirectory().document(stored: line) }
        #expect(fault.description.contains(message), "\(fault)")
    }

    @Test(arguments: [
        (#"{"absent":"b"},\#n{"absent":"a"}"#, "out of order"), (#"{"absent":"/"}"#, "not a path"),
        (#"{"absent":"a","object":1}"#, ""),
        (
            #"{"below":"b","path":"a","type":"file","size":1,"modified":"2026-01-01T00:00:00Z","mode":"0644","owner":0,"group":0,"inode":1,"changed":"2026-01-01T00:00:00Z","object":1}"#,
            "only a directory"
        ),
        (
            #"{"path":"a","type":"fifo","modified":"2026-01-01T00:00:00Z","mode":"0644","owner":0,"group":0,"inode":1,"changed":"2026-01-01T00:00:00Z"}"#,
            "the number of an object is missing"
        ),
    ])
    func falseLineIsAnError(line: String, message: String) throws {
        let fault = try #require(throws: SyncError.self) { try TemporaryDirectory().document(step: line) }
        #expect(message.isEmpty || fault.description.contains(message), "\(fault)")
    }
}

extension TemporaryDirectory {
    fileprivate func document(_ bytes: [UInt8]) throws -> ListDocument {
        let file = path + "/list.json"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        let directory = try open()
        return try ListDocument(directory.open(FileName("list.json"), [.read]), path: Array(file.utf8))
    }

    @discardableResult
    fileprivate func document(step: String = "", stored: String = "") throws -> ListDocument {
        func array(_ text: String) -> String { text.isEmpty ? "[]" : "[\n\(text)\n]" }
        let head = """
            {"format":"fsync-lite-list","version":1,"id":"i","root":"/r","created":"2026-01-01T00:00:00Z",
            "step":\(array(step)),
            "hand":[],
            "stored":\(array(stored)),
            """
        return try document(ManifestText.sealed(Array((head + "\n\"checksum\":").utf8)))
    }
}
