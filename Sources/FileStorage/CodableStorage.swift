import FileSystem
import FoundationEssentials

/// Stores Codable values as JSON in any storage. For every type, the stored value can be read again unchanged.
public struct CodableStorage: Sendable {
    /// The storage of the bytes. It also lists and removes keys.
    public let base: any Storage
    private let keys: JSONKeys

    /// - Parameter keys: the spelling of the names of properties in the documents.
    public init(_ base: any Storage, keys: JSONKeys = .asDeclared) {
        (self.base, self.keys) = (base, keys)
    }

    /// The value under a key.
    ///
    /// - Throws: `cannotDecode` with the line and the key in the document, and the storage's own errors.
    public func value<Value: Decodable>(
        _ type: Value.Type = Value.self, for key: String
    ) throws(StorageError) -> Value {
        let data = try base.data(for: key)
        do {
            return try JSONDocument.decode(type, from: data, keys: keys)
        } catch {
            throw .cannotDecode(key, cause: error)
        }
    }

    /// The value under a key; nil only if there is none.
    public func valueIfPresent<Value: Decodable>(
        _ type: Value.Type = Value.self, for key: String
    ) throws(StorageError) -> Value? {
        do {
            return try value(type, for: key)
        } catch .notFound {
            return nil
        }
    }

    /// Each value with its key, in the order of the keys. For a damaged value, the result is its error.
    public func all<Value: Decodable>(
        _ type: Value.Type = Value.self
    ) throws(StorageError) -> [(key: String, value: Result<Value, StorageError>)] {
        try base.keys().compactMap { key in
            do throws(StorageError) {
                return (key, .success(try value(type, for: key)))
            } catch .notFound {
                // It has just been removed.
                return nil
            } catch {
                return (key, .failure(error))
            }
        }
    }

    /// Stores a value under a key, replacing the old one.
    ///
    /// - Throws: `cannotWrite`, also for a value that could not be read again unchanged.
    public func store(_ value: some Encodable, for key: String) throws(StorageError) {
        let data: Data
        do {
            data = try JSONDocument.encode(value, keys: keys)
        } catch {
            throw .cannotWrite(key, cause: error)
        }
        try base.store(data, for: key)
    }

    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, for key: String
    ) async throws(StorageError) -> Value {
        try await base.perform { () throws(StorageError) in try value(type, for: key) }
    }

    public func valueIfPresent<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, for key: String
    ) async throws(StorageError) -> Value? {
        try await base.perform { () throws(StorageError) in try valueIfPresent(type, for: key) }
    }

    public func all<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self
    ) async throws(StorageError) -> [(key: String, value: Result<Value, StorageError>)] {
        try await base.perform { () throws(StorageError) in try all(type) }
    }

    public func store(_ value: some Encodable & Sendable, for key: String) async throws(StorageError) {
        try await base.perform { () throws(StorageError) in try store(value, for: key) }
    }
}
