import FileSystem
import FoundationEssentials

/// Bytes under keys, to read and to write.
///
/// A key is a single name: not empty, not `.` or `..`, without `/` and NUL, and not a name that temporary files have.
/// Every call exists twice: one blocks, the `async` one suspends.
public typealias Storage = ReadableStorage & WritableStorage

/// A storage whose calls can be awaited.
public protocol AwaitableStorage: Sendable {
    /// Runs calls of this storage for a caller that must not be blocked: a storage that blocks runs them on
    /// a thread of its own, never on Swift's cooperative pool.
    func perform<Value: Sendable>(
        _ calls: @Sendable @escaping () throws(StorageError) -> Value
    ) async throws(StorageError) -> Value
}

/// Bytes under keys, to read.
public protocol ReadableStorage: AwaitableStorage {
    /// The bytes under a key.
    ///
    /// - Throws: `notFound`, `cannotRead`, `invalidKey`.
    func data(for key: String) throws(StorageError) -> Data

    /// Every key, sorted by bytes.
    ///
    /// - Throws: `cannotList`.
    func keys() throws(StorageError) -> [String]

    /// Whether something is stored under a key.
    ///
    /// - Throws: `cannotRead`, `invalidKey`.
    func contains(_ key: String) throws(StorageError) -> Bool
}

extension ReadableStorage {
    /// The bytes under a key.
    public func data(for key: String) async throws(StorageError) -> Data {
        try await perform { () throws(StorageError) in try data(for: key) }
    }

    /// Every key, sorted by bytes.
    public func keys() async throws(StorageError) -> [String] {
        try await perform { () throws(StorageError) in try keys() }
    }

    /// Whether something is stored under a key.
    public func contains(_ key: String) async throws(StorageError) -> Bool {
        try await perform { () throws(StorageError) in try contains(key) }
    }
}

/// Bytes under keys, to write.
public protocol WritableStorage: AwaitableStorage {
    /// Stores bytes under a key in one step, in place of the old ones.
    ///
    /// - Throws: `cannotWrite`, `invalidKey`.
    func store(_ data: Data, for key: String) throws(StorageError)

    /// Removes a key and what is stored under it.
    ///
    /// - Throws: `notFound`, `cannotWrite`, `invalidKey`.
    func remove(_ key: String) throws(StorageError)
}

extension WritableStorage {
    /// Stores bytes under a key in one step, in place of the old ones.
    public func store(_ data: Data, for key: String) async throws(StorageError) {
        try await perform { () throws(StorageError) in try store(data, for: key) }
    }

    /// Removes a key and what is stored under it.
    public func remove(_ key: String) async throws(StorageError) {
        try await perform { () throws(StorageError) in try remove(key) }
    }
}

/// What a storage could not do, with which key, and why.
public enum StorageError: Error, Sendable, CustomStringConvertible {
    /// Nothing is stored under the key. Only a certain answer counts: a key that could not be looked for is
    /// `cannotRead`.
    case notFound(_ key: String)
    /// There may be something, but it cannot be had.
    case cannotRead(_ key: String, cause: any Error)
    /// What was stored under the key is what it was before.
    case cannotWrite(_ key: String, cause: any Error)
    /// No storage takes such a key.
    case invalidKey(_ key: String)
    /// What is stored is not the value that was expected.
    case cannotDecode(_ key: String, cause: any Error)
    /// The storage cannot say which keys it has.
    case cannotList(cause: any Error)

    public var description: String {
        switch self {
        case .notFound(let key): "\(escapedText(key.utf8)): nothing is stored under this key"
        case .cannotRead(let key, let cause): "\(escapedText(key.utf8)): cannot be read: \(cause)"
        case .cannotWrite(let key, let cause): "\(escapedText(key.utf8)): cannot be written: \(cause)"
        case .invalidKey(let key): "\"\(escapedText(key.utf8))\" is no key"
        case .cannotDecode(let key, let cause): "\(escapedText(key.utf8)): is not what it should be: \(cause)"
        case .cannotList(let cause): "the stored keys cannot be listed: \(cause)"
        }
    }
}

extension FileName {
    /// The name that a storage's key stands for: every storage takes the same keys.
    init(storageKey key: String) throws(StorageError) {
        guard let name = FileName(key.utf8), !PendingFile.isTemporary(name) else { throw .invalidKey(key) }
        self = name
    }
}
