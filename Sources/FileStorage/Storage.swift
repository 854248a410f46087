import FileSystem
import FoundationEssentials

/// A key-value store of bytes.
///
/// A key is a single file name: not empty, not `.` or `..`, without `/` and NUL, and not one of a temporary file. Every
/// call has a blocking and an `async` form.
public typealias Storage = ReadableStorage & WritableStorage

/// A storage with `async` calls. The calls of a cancelled task are completed.
public protocol AwaitableStorage: Sendable {
    /// Runs blocking calls of this storage for an `async` caller. They run on a thread of the storage, never on Swift's
    /// cooperative pool.
    func perform<Value: Sendable>(
        _ calls: @Sendable @escaping () throws(StorageError) -> Value
    ) async throws(StorageError) -> Value
}

extension AwaitableStorage {
    /// Runs them on a new thread.
    public func perform<Value: Sendable>(
        _ calls: @Sendable @escaping () throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await LocalFile.perform(calls)
    }
}

/// The reading half of a storage.
public protocol ReadableStorage: AwaitableStorage {
    /// The bytes under a key.
    ///
    /// - Throws: `notFound`, `cannotRead`, `invalidKey`.
    func data(for key: String) throws(StorageError) -> Data

    /// Every key, sorted by bytes.
    ///
    /// - Throws: `cannotList`.
    func keys() throws(StorageError) -> [String]

    /// Whether a key exists.
    ///
    /// - Throws: `cannotRead`, `invalidKey`.
    func contains(_ key: String) throws(StorageError) -> Bool
}

/// The same calls for `async` callers.
extension ReadableStorage {
    public func data(for key: String) async throws(StorageError) -> Data {
        try await perform { () throws(StorageError) in try data(for: key) }
    }

    public func keys() async throws(StorageError) -> [String] {
        try await perform { () throws(StorageError) in try keys() }
    }

    public func contains(_ key: String) async throws(StorageError) -> Bool {
        try await perform { () throws(StorageError) in try contains(key) }
    }
}

/// The writing half of a storage.
public protocol WritableStorage: AwaitableStorage {
    /// Stores bytes under a key atomically, replacing the old ones.
    ///
    /// - Throws: `cannotWrite`, `invalidKey`.
    func store(_ data: Data, for key: String) throws(StorageError)

    /// Removes a key and its value.
    ///
    /// - Throws: `notFound`, `cannotWrite`, `invalidKey`.
    func remove(_ key: String) throws(StorageError)
}

/// The same calls for `async` callers.
extension WritableStorage {
    public func store(_ data: Data, for key: String) async throws(StorageError) {
        try await perform { () throws(StorageError) in try store(data, for: key) }
    }

    public func remove(_ key: String) async throws(StorageError) {
        try await perform { () throws(StorageError) in try remove(key) }
    }
}

/// An error of a storage, with the key and the cause.
public enum StorageError: LocalizedError, Sendable, CustomStringConvertible {
    /// The key does not exist. If that cannot be determined, the error is `cannotRead`.
    case notFound(_ key: String)
    /// The value may exist but cannot be read.
    case cannotRead(_ key: String, cause: any Error)
    /// The old value is unchanged.
    case cannotWrite(_ key: String, cause: any Error)
    /// An invalid key.
    case invalidKey(_ key: String)
    /// The stored bytes are not a value of the expected type.
    case cannotDecode(_ key: String, cause: any Error)
    /// The keys cannot be listed.
    case cannotList(cause: any Error)

    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .notFound(let key): "\(escapedText(key.utf8)): nothing is stored under this key"
        case .cannotRead(let key, let cause): "\(escapedText(key.utf8)): cannot be read: \(cause)"
        case .cannotWrite(let key, let cause): "\(escapedText(key.utf8)): cannot be written: \(cause)"
        case .invalidKey(let key): "\"\(escapedText(key.utf8))\" is not a key"
        case .cannotDecode(let key, let cause): "\(escapedText(key.utf8)): is not what it should be: \(cause)"
        case .cannotList(let cause): "the stored keys cannot be listed: \(cause)"
        }
    }
}
