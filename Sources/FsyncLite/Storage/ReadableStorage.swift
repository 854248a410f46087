import FoundationEssentials

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
