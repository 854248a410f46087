import FileSystem
import FoundationEssentials
import Synchronization

/// Stores values in memory for the lifetime of the object, for tests and dry runs.
public final class MemoryStorage: Storage {
    /// The names are those of a disk, on which two spellings of one character are two names.
    private let content = Mutex<[FileName: Data]>([:])

    public init() {}

    /// - Throws: `invalidKey`.
    public init(_ content: [String: Data]) throws(StorageError) {
        for (key, data) in content { try store(data, for: key) }
    }

    public func data(for key: String) throws(StorageError) -> Data {
        let name = try FileName(storageKey: key)
        guard let data = content.withLock({ $0[name] }) else { throw .notFound(key) }
        return data
    }

    public func keys() throws(StorageError) -> [String] {
        content.withLock { $0.keys.sorted().map(\.description) }
    }

    public func contains(_ key: String) throws(StorageError) -> Bool {
        let name = try FileName(storageKey: key)
        return content.withLock { $0[name] != nil }
    }

    public func store(_ data: Data, for key: String) throws(StorageError) {
        let name = try FileName(storageKey: key)
        content.withLock { $0[name] = data }
    }

    public func remove(_ key: String) throws(StorageError) {
        let name = try FileName(storageKey: key)
        guard content.withLock({ $0.removeValue(forKey: name) }) != nil else { throw .notFound(key) }
    }
}
