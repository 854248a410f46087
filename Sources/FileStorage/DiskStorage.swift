import FileSystem
import FoundationEssentials

/// Files in one directory, which stays open: a key is a file name.
///
/// Writes are atomic and durable. Only regular files count: a symlink, a directory or a FIFO under a key is
/// `cannotRead`, and is never followed, entered or waited for. Names that are not UTF-8 are not in the storage.
public struct DiskStorage: Storage {
    private let directory: Directory
    /// The maximum size of a value that can be read, in bytes.
    private let sizeLimit: Int
    private let isDurable: Bool
    /// One per storage: its `async` calls run in the order of submission.
    private let worker = WorkerThread()

    /// - Parameter isDurable: if false, a power cut may leave an old or an empty value.
    package init(_ directory: Directory, sizeLimit: Int = .max, isDurable: Bool = true) {
        (self.directory, self.sizeLimit, self.isDurable) = (directory, sizeLimit, isDurable)
    }

    /// Stores in an existing directory.
    public init(in directory: LocalFile) throws(SyncError) {
        self.init(try directory.directory())
    }

    public func data(for key: String) throws(StorageError) -> Data {
        let name = try FileName(storageKey: key)
        do throws(SystemError) {
            let file = try directory.open(name, [.read, .nonBlocking, .noFollow])
            let content = try calling("read", directory.path(of: name)) { () throws(Errno) -> [UInt8] in
                guard try file.status().type == .file else { throw .invalid }
                return try file.readAll(limit: sizeLimit)
            }
            return Data(content)
        } catch {
            if error.errno == .noSuchFile { throw .notFound(key) }
            throw .cannotRead(key, cause: SyncError(error))
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
            return try directory.status(of: name)?.type == .file
        } catch {
            throw .cannotRead(key, cause: SyncError(error))
        }
    }

    public func store(_ data: Data, for key: String) throws(StorageError) {
        let name = try FileName(storageKey: key)
        do throws(SystemError) {
            var file = try PendingFile(name, in: directory)
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
            try directory.sync()
        } catch {
            if error.errno == .noSuchFile { throw .notFound(key) }
            throw .cannotWrite(key, cause: SyncError(error))
        }
    }

    public func perform<Value: Sendable>(
        _ calls: @Sendable @escaping () throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await worker.run(calls)
    }
}
