import FileSystem
import FoundationEssentials
import Synchronization

/// Keeps values in memory for the lifetime of the object: for tests and dry runs.
public final class MemoryStorage: Storage {
    private let content: Mutex<[String: Data]>

    public init(_ content: [String: Data] = [:]) {
        self.content = Mutex(content)
    }

    public func data(for key: String) throws(StorageError) -> Data {
        _ = try FileName(storageKey: key)
        guard let data = content.withLock({ $0[key] }) else { throw .notFound(key) }
        return data
    }

    public func keys() throws(StorageError) -> [String] {
        content.withLock { $0.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
    }

    public func contains(_ key: String) throws(StorageError) -> Bool {
        _ = try FileName(storageKey: key)
        return content.withLock { $0[key] != nil }
    }

    public func store(_ data: Data, for key: String) throws(StorageError) {
        _ = try FileName(storageKey: key)
        content.withLock { $0[key] = data }
    }

    public func remove(_ key: String) throws(StorageError) {
        _ = try FileName(storageKey: key)
        guard content.withLock({ $0.removeValue(forKey: key) }) != nil else { throw .notFound(key) }
    }

    /// Nothing here blocks, so calls run directly.
    public func perform<Value: Sendable>(
        _ calls: @Sendable @escaping () throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try calls()
    }
}
