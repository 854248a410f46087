import FileStorage
import Foundation
import Glibc
import TestSupport
import Testing

struct StorageUseTests {
    private let temporary = try! TemporaryDirectory()
    private var root: LocalFile { temporary.file }

    /// A storage consists of five calls.
    private struct Prefixed: Storage {
        let base = MemoryStorage()
        func data(for key: String) throws(StorageError) -> Data { try base.data(for: "p-\(key)") }
        func keys() throws(StorageError) -> [String] { try base.keys().map { String($0.dropFirst(2)) } }
        func contains(_ key: String) throws(StorageError) -> Bool { try base.contains("p-\(key)") }
        func store(_ data: Data, for key: String) throws(StorageError) {
            try base.store(data, for: "p-\(key)")
        }
        func remove(_ key: String) throws(StorageError) { try base.remove("p-\(key)") }
    }

    @Test func ownStorageHasAsyncCallsAndValues() async throws {
        let storage: any Storage = Prefixed()
        let values = CodableStorage(storage)
        try await values.store([1, 2], for: "k")
        #expect(try await values.value([Int].self, for: "k") == [1, 2])
        #expect(try await storage.keys() == ["k"])
    }

    @Test func storageKeepsPermissions() throws {
        let storage = try DiskStorage(in: root)
        try storage.store(Data("1".utf8), for: "k")
        #expect(try (root + "k").permissions == 0o600)
        try (root + "k").replace(with: Data(), permissions: 0o644)
        try storage.store(Data("2".utf8), for: "k")
        #expect(try (root + "k").permissions == 0o644)
    }

    @Test func storageWhoseDirectoryIsGoneSaysSo() throws {
        let directory = root + "d"
        let storage = try DiskStorage(in: directory)
        try storage.store(Data(), for: "k")
        try directory.delete(recursive: true)
        try DiskStorage(in: directory).store(Data(), for: "k")
        for call in [{ _ = try storage.data(for: "k") }, { _ = try storage.contains("k") }] {
            #expect { try call() } throws: { error in
                if case .cannotRead("k", _)? = error as? StorageError { true } else { false }
            }
        }
        #expect(throws: StorageError.self) { try storage.store(Data(), for: "k") }
    }

    @Test func killedWriterLeavesNothingForEver() throws {
        let pending = root + ".fsync-lite-pending-0123456789abcdef"
        try pending.append("half")
        let written = root + ".fsync-lite-pending-0123456789abcdee"
        try written.append("half")
        let writer = Glibc.open(written.path, O_RDWR)
        defer { close(writer) }
        #expect(flock(writer, LOCK_EX) == 0)
        _ = try DiskStorage(in: root)
        #expect(try root.children == [written])
    }

    @Test(arguments: [
        "", ".", "..", "...", "a/b", "100%", "%41", "a\0b", ".fsync-lite-pending-1", "é e\u{301}", "%", "/",
        ".hidden", "https://example.org/?a=b",
    ])
    func anyTextIsAKey(_ text: String) throws {
        let key = StorageKey.escaped(text)
        #expect(StorageKey.text(of: key).map { Array($0.utf8) } == Array(text.utf8))
        for storage in [MemoryStorage(), try DiskStorage(in: root)] as [any Storage] {
            try storage.store(Data(text.utf8), for: key)
            #expect(try storage.keys() == [key])
            #expect(try storage.data(for: key) == Data(text.utf8))
        }
    }

    @Test func plainNameIsItsOwnKey() {
        for name in ["a.json", "é", ".hidden", "a b"] { #expect(StorageKey.escaped(name) == name) }
        for key in ["%zz", "%41", "a%", "%2e", "%FF"] { #expect(StorageKey.text(of: key) == nil) }
    }

    @Test func allDespiteADamagedOne() throws {
        let values = CodableStorage(try DiskStorage(in: root))
        try values.store(1, for: "a")
        try values.base.store(Data("{".utf8), for: "b")
        try values.store(3, for: "c")
        let all = try values.all(Int.self)
        #expect(all.map(\.key) == ["a", "b", "c"])
        #expect(all.map { try? $0.value.get() } == [1, nil, 3])
    }

    @Test func twoProcessesLoseNothing() throws {
        let children = try (0..<2).map { _ in try SpawnedProcess(child: "count", root) }
        for child in children { #expect(child.wait() == 0) }
        #expect(try CodableStorage(DiskStorage(in: root)).value(Int.self, for: "n") == 100)
    }
}
