import FileSystem
import FoundationEssentials

/// Stores values as JSON in any storage: sorted snake_case keys, indented, with a trailing line feed.
public struct CodableStorage<Base: Storage>: Sendable {
    /// The storage of the bytes; it lists and removes keys.
    public let base: Base

    public init(_ base: Base) {
        self.base = base
    }

    /// The value under a key.
    ///
    /// - Throws: `cannotDecode` with the line and the key in the document, and the storage's own errors.
    public func value<Value: Decodable>(
        _ type: Value.Type = Value.self, for key: String
    ) throws(StorageError) -> Value {
        let data = try base.data(for: key)
        do {
            return try JSONDocument.decode(type, from: data)
        } catch {
            throw .cannotDecode(key, cause: error)
        }
    }

    /// The value under a key; nil only if nothing is stored there.
    public func valueIfPresent<Value: Decodable>(
        _ type: Value.Type = Value.self, for key: String
    ) throws(StorageError) -> Value? {
        do {
            return try value(type, for: key)
        } catch .notFound {
            return nil
        }
    }

    /// Stores a value under a key, replacing the old one.
    public func store(_ value: some Encodable, for key: String) throws(StorageError) {
        let data: Data
        do {
            data = try JSONDocument.encode(value)
        } catch {
            throw .cannotWrite(key, cause: error)
        }
        try base.store(data, for: key)
    }

    /// The value under a key.
    public func value<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, for key: String
    ) async throws(StorageError) -> Value {
        try await base.perform { () throws(StorageError) in try value(type, for: key) }
    }

    /// The value under a key; nil only if nothing is stored there.
    public func valueIfPresent<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self, for key: String
    ) async throws(StorageError) -> Value? {
        try await base.perform { () throws(StorageError) in try valueIfPresent(type, for: key) }
    }

    /// Stores a value under a key, replacing the old one.
    public func store(_ value: some Encodable & Sendable, for key: String) async throws(StorageError) {
        try await base.perform { () throws(StorageError) in try store(value, for: key) }
    }
}

extension JSONDocument {
    /// Reads one of the program's own documents in an open directory.
    ///
    /// - Parameter limit: in bytes; a larger document is refused without reading all of it.
    /// - Throws: `invalidDocument`, also if there is no file.
    package static func read<Value: Decodable>(
        _ name: FileName, in directory: Directory, limit: Int
    ) throws(SyncError) -> Value {
        do throws(StorageError) {
            return try CodableStorage(DiskStorage(directory, sizeLimit: limit)).value(for: name.description)
        } catch {
            throw SyncError(.invalidDocument, path: directory.path(of: name), "\(error)")
        }
    }
}
