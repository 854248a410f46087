import FileStorage
import FileSystem
import FoundationEssentials
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
