import FileStorage
import FileSystem
import Foundation
import Glibc
import TestSupport
import Testing

private struct Preferences: Codable, Equatable {
    var keepLast: Int?
}

struct StorageTests {
    let temporary = try! TemporaryDirectory()
    var root: LocalFile { temporary.file }

    enum Kind: CaseIterable, Sendable { case disk, fastDisk, memory }

    private func storage(_ kind: Kind) throws -> any Storage {
        kind == .memory ? MemoryStorage() : try DiskStorage(in: root, isDurable: kind == .disk)
    }

    @Test(arguments: Kind.allCases)
    func storesReplacesAndRemoves(_ kind: Kind) throws {
        let storage = try storage(kind)
        #expect(trouble { try storage.data(for: "b") } == .notFound("b"))
        try storage.store(Data("1".utf8), for: "b")
        try storage.store(Data("2".utf8), for: "b")
        try storage.store(Data(), for: "a")
        #expect(try storage.data(for: "b") == Data("2".utf8))
        #expect(try storage.keys() == ["a", "b"])
        #expect(try storage.contains("a"))
        try storage.remove("a")
        #expect(try !storage.contains("a"))
        #expect(trouble { try storage.remove("a") } == .notFound("a"))
    }

    @Test(arguments: Kind.allCases)
    func asyncCallsDoTheSame(_ kind: Kind) async throws {
        let storage = try storage(kind)
        try await storage.store(Data("2".utf8), for: "b")
        #expect(try await storage.data(for: "b") == Data("2".utf8))
        #expect(try await storage.keys() == ["b"])
        #expect(try await storage.contains("b"))
        try await storage.remove("b")
        await #expect { try await storage.remove("b") } throws: { Trouble($0) == .notFound("b") }
    }

    @Test(
        arguments: Kind.allCases,
        ["", ".", "..", "../x", "/x", "a/b", "a\0b", ".fsync-lite-pending-00"])
    func keysAreSingleNames(_ kind: Kind, _ key: String) throws {
        let storage = try storage(kind)
        #expect(trouble { try storage.data(for: key) } == .invalidKey(key))
        #expect(trouble { try storage.store(Data(), for: key) } == .invalidKey(key))
        #expect(trouble { try storage.contains(key) } == .invalidKey(key))
        #expect(trouble { try storage.remove(key) } == .invalidKey(key))
    }

    @Test func notFoundOnlyForMissing() throws {
        let storage = try DiskStorage(in: root)
        let long = String(repeating: "x", count: 300)
        #expect(trouble { try storage.data(for: long) } == .cannotRead(long))
        #expect(trouble { try storage.contains(long) } == .cannotRead(long))
        #expect(throws: StorageError.self) { try storage.store(Data(), for: long) }
        if !Account.isRoot {
            try (root + "closed").replace(with: Data(), permissions: 0)
            #expect(trouble { try storage.data(for: "closed") } == .cannotRead("closed"))
        }
    }

    @Test func failedStoreKeepsWhatWasThereAndLeavesNothing() throws {
        try (root + "directory/f").append("x")
        let storage = try DiskStorage(in: root)
        #expect { try storage.store(Data(), for: "directory") } throws: { error in
            guard case .cannotWrite("directory", let cause as SyncError)? = error as? StorageError else {
                return false
            }
            return cause.errno == Errno.isDirectory.rawValue
        }
        #expect(try root.children == [root + "directory"])
    }

    @Test(arguments: Kind.allCases)
    func codableFrontRoundTrips(_ kind: Kind) async throws {
        let base = try storage(kind)
        let storage = CodableStorage(base, keys: .snakeCase)
        #expect(try await storage.valueIfPresent(Preferences.self, for: "settings.json") == nil)
        try await storage.store(Preferences(keepLast: 7), for: "settings.json")
        #expect(try await storage.value(Preferences.self, for: "settings.json").keepLast == 7)
        let text = String(decoding: try await base.data(for: "settings.json"), as: UTF8.self)
        #expect(text == "{\n  \"keep_last\" : 7\n}\n")
        try synchronously {
            try base.store(Data(#"{"keep_last": true}"#.utf8), for: "settings.json")
            #expect { try storage.value(Preferences.self, for: "settings.json") } throws: { error in
                guard case .cannotDecode("settings.json", _)? = error as? StorageError else { return false }
                return "\(error)".contains("settings.json") && "\(error)".contains("keep_last")
            }
            try storage.store(Preferences(), for: "settings.json")
            #expect(try storage.valueIfPresent(for: "settings.json") == Preferences())
        }
    }

    // MARK: Storages of a user

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

    /// Within `body`, the blocking calls are meant.
    private func synchronously(_ body: () throws -> Void) rethrows { try body() }
}

/// An error without its cause, which cannot be compared.
private enum Trouble: Equatable {
    case notFound(String)
    case invalidKey(String)
    case cannotRead(String)

    init?(_ error: any Error) {
        switch error as? StorageError {
        case .notFound(let key): self = .notFound(key)
        case .invalidKey(let key): self = .invalidKey(key)
        case .cannotRead(let key, _): self = .cannotRead(key)
        default: return nil
        }
    }
}

private func trouble<Value>(_ body: () throws -> Value) -> Trouble? {
    do {
        _ = try body()
        return nil
    } catch {
        return Trouble(error)
    }
}
