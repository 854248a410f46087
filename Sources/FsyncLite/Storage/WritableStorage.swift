import FoundationEssentials

/// Bytes under keys, to write.
public protocol WritableStorage: AwaitableStorage {
    /// Stores bytes under a key in one step, in place of what was there.
    ///
    /// - Throws: `cannotWrite`, `invalidKey`.
    func store(_ data: Data, for key: String) throws(StorageError)

    /// Removes a key and what is stored under it.
    ///
    /// - Throws: `notFound`, `cannotWrite`, `invalidKey`.
    func remove(_ key: String) throws(StorageError)
}

extension WritableStorage {
    /// Stores bytes under a key in one step, in place of what was there.
    public func store(_ data: Data, for key: String) async throws(StorageError) {
        try await perform { () throws(StorageError) in try store(data, for: key) }
    }

    /// Removes a key and what is stored under it.
    public func remove(_ key: String) async throws(StorageError) {
        try await perform { () throws(StorageError) in try remove(key) }
    }
}
