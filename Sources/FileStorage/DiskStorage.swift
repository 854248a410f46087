import FileSystem
import FoundationEssentials

/// Files in one directory, which is open all the time. A key is a file name.
///
/// Writes are atomic and durable. Only regular files are values. A symlink, a directory or a FIFO under a key is
/// `cannotRead`, and is never followed, entered or waited for. Names that are not UTF-8 are ignored.
public struct DiskStorage: Storage {
    private let directory: Directory
    /// The maximum size of a value that can be read, in bytes.
    private let sizeLimit: Int
    private let isDurable: Bool
    private let check: @Sendable (FileStatus, FileName) throws -> Void
    /// Each storage has one: its `async` calls run in the order of submission.
    private let worker = WorkerThread()

    /// - Parameters:
    ///   - isDurable: if false, a power cut may leave an old or an empty value.
    ///   - check: throws if a file must not be read.
    package init(
        _ directory: Directory, sizeLimit: Int = .max, isDurable: Bool = true,
        check: @escaping @Sendable (FileStatus, FileName) throws -> Void = { _, _ in }
    ) {
        (self.directory, self.sizeLimit, self.isDurable) = (directory, sizeLimit, isDurable)
        self.check = check
    }

    /// Stores in a directory, which is made if missing. Half-written files of killed programs are removed from it.
    ///
    /// - Parameter isDurable: if false, nothing is synced: this is faster, but a power cut may leave an old or empty
    ///   value.
    public init(in directory: LocalFile, isDurable: Bool = true) throws(SyncError) {
        try directory.makeDirectory(parents: true)
        self.init(try directory.directory(), isDurable: isDurable)
        // A user who may only read the directory can still do that.
        try? PendingFile.removeAbandoned(in: self.directory)
    }

    public func data(for key: String) throws(StorageError) -> Data {
        let file = LocalFile.Location(directory: directory, name: try FileName(storageKey: key))
        do {
            return Data(try file.content([.read, .nonBlocking, .noFollow], limit: sizeLimit, check: check))
        } catch {
            throw reading(key, error)
        }
    }

    /// If the directory itself was removed, it is unknown whether the key exists.
    private func reading(_ key: String, _ error: SyncError) -> StorageError {
        guard error.isNotFound else { return .cannotRead(key, cause: error) }
        do throws(SystemError) {
            guard try directory.status().links == 0, try directory.location() == nil else {
                return .notFound(key)
            }
            let reason = "the directory was removed; open the storage again"
            return .cannotRead(key, cause: SyncError(.failed, path: directory.path, reason))
        } catch {
            return .cannotRead(key, cause: SyncError(error))
        }
    }

    public func keys() throws(StorageError) -> [String] {
        do throws(SystemError) {
            var keys: [String] = []
            for name in try DirectoryListing.names(in: directory).sorted()
            where !PendingFile.isTemporary(name) {
                guard try directory.status(of: name)?.type == .file,
                    let key = String(validating: name.bytes, as: UTF8.self)
                else { continue }
                keys.append(key)
            }
            return keys
        } catch {
            throw .cannotList(cause: SyncError(error))
        }
    }

    public func contains(_ key: String) throws(StorageError) -> Bool {
        let name = try FileName(storageKey: key)
        do throws(SystemError) {
            if let status = try directory.status(of: name) { return status.type == .file }
        } catch {
            throw .cannotRead(key, cause: SyncError(error))
        }
        let error = reading(key, SyncError(.failed, path: directory.path, .noSuchFile))
        guard case .notFound = error else { throw error }
        return false
    }

    public func store(_ data: Data, for key: String) throws(StorageError) {
        let name = try FileName(storageKey: key)
        do throws(SystemError) {
            var file = try PendingFile.replacing(name, in: directory, new: 0o600)
            try file.write(Array(data))
            try file.commit(durably: isDurable)
        } catch {
            throw .cannotWrite(key, cause: SyncError(error))
        }
    }

    public func remove(_ key: String) throws(StorageError) {
        let name = try FileName(storageKey: key)
        do throws(SystemError) {
            try directory.unlink(name)
            if isDurable { try directory.sync() }
        } catch {
            if error.errno == .noSuchFile, case let error = reading(key, SyncError(error)) { throw error }
            throw .cannotWrite(key, cause: SyncError(error))
        }
    }

    public func perform<Value: Sendable>(
        _ calls: @Sendable @escaping () throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await worker.run(calls)
    }
}
