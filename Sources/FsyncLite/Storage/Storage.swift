import FileSystem

/// Bytes under keys, to read and to write.
///
/// A key is a single name: not empty, not `.` or `..`, without `/` and NUL, and not a name that files in the
/// making have. Every call exists twice: one blocks, the `async` one suspends.
public typealias Storage = ReadableStorage & WritableStorage

/// A storage whose calls can be awaited.
public protocol AwaitableStorage: Sendable {
    /// Runs calls of this storage for a caller that must not be blocked: a storage that blocks runs them on
    /// a thread of its own, never on Swift's cooperative pool.
    func perform<Value: Sendable>(
        _ calls: @Sendable @escaping () throws(StorageError) -> Value
    ) async throws(StorageError) -> Value
}

extension FileName {
    /// The name that a storage's key stands for: every storage takes the same keys.
    init(storageKey key: String) throws(StorageError) {
        guard let name = FileName(key.utf8), !PendingFile.isTemporary(name) else { throw .invalidKey(key) }
        self = name
    }
}
