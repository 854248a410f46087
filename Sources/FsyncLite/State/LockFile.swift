import FileStorage
import FileSystem
import FoundationEssentials
import Synchronization

/// The file `lock` of a state whose file system may be mounted on several machines. It says who writes to the target.
///
/// The lock on the target's root excludes the runs of this machine. The file excludes those of other machines. A killed
/// run leaves the file, and the next run on this machine removes it. A file of another machine remains until `recover
/// --break-lock`. So does a torn file if other machines may write.
struct LockFile: Hashable {
    private static let version = 1
    /// The machine, by name and number.
    private let host: String
    private let writer: ProcessIdentity

    /// In bytes. The document is far smaller.
    private static let limit = 1 << 16

    private static func own() throws -> LockFile {
        LockFile(host: try HostProcess.machine(), writer: try ProcessIdentity.own())
    }

    /// nil if there is none, or if it is torn. A torn file is treated as an empty one.
    private static func found(in state: Directory) -> LockFile? {
        try? CodableStorage.document(StateEntry.lock.name, in: state, limit: limit)
    }

    /// Whether the process that wrote this has certainly ended.
    private func isOver(seenBy own: LockFile) throws -> Bool {
        try host == own.host && writer.isOver(seenBy: own.writer)
    }

    /// Owns the file, and the locks on the state, during a run.
    final class Holder: Sendable {
        private struct OwnFile {
            let directory: Directory
            /// nil if the disk was too full to write it.
            let content: LockFile?
        }

        private let ownFile = Mutex<OwnFile?>(nil)
        private let wanted = Mutex(false)
        /// The locked directories. A directory that is moved remains locked.
        private let locked = Mutex<[Directory]>([])

        func hold(_ directory: Directory) { locked.withLock { $0.append(directory) } }

        /// Whether the lock on the root was taken. Then the file is made with the state.
        var isWanted: Bool {
            get { wanted.withLock { $0 } }
            set { wanted.withLock { $0 = newValue } }
        }

        /// Makes the file if the target's file system is not complete.
        ///
        /// - Throws: `SyncError` with code `locked` if a run on another machine may have the lock.
        func take(in state: StateDirectory, of target: [UInt8], breaking: Bool = false) throws {
            guard let fileSystem = state.directory.fileSystem, isWanted, ownFile.withLock({ $0 == nil })
            else {
                return
            }
            let own = try LockFile.own()
            if try state.has(.lock) {
                let found = LockFile.found(in: state.directory)
                guard try breaking || found?.isOver(seenBy: own) ?? !fileSystem.capabilities.isShared else {
                    let holder =
                        found.map { "process \($0.writer.process) on \(escapedText($0.host.utf8))" }
                        ?? "a run"
                    throw SyncError(
                        .locked, path: target,
                        "\(holder) is writing to this target. If that run has ended: fsync-lite recover --break-lock "
                            + escapedText(target))
                }
                try state.remove(.lock)
            }
            let content = try JSONDocument.encode(own)
            do {
                let file = try state.open(.lock, [.write, .create, .exclusive])
                try calling("write", state.path(of: .lock)) { () throws(Errno) in
                    try file.write(Array(content))
                }
            } catch let error as SystemError where error.errno == .readOnlyFileSystem {
                // A run that cannot write needs no lock.
                return
            } catch let error as SystemError
                where [.noSpace, .quotaExceeded].contains(error.errno) && error.call == "write"
            {
                // An empty file also excludes others. The run may soon make space.
                return ownFile.withLock { $0 = OwnFile(directory: state.directory, content: nil) }
            } catch let error as SystemError where error.errno == .exists {
                throw SyncError(.locked, path: target, "another fsync-lite is writing to this target")
            }
            ownFile.withLock { $0 = OwnFile(directory: state.directory, content: own) }
        }

        deinit {
            guard let ownFile = ownFile.withLock({ $0 }) else { return }
            // `recover --break-lock` may have removed it. If it remains, the next run finds that the process has ended.
            if LockFile.found(in: ownFile.directory) == ownFile.content {
                try? ownFile.directory.unlink(StateEntry.lock.name)
            }
        }
    }
}

extension LockFile: Codable {
    private enum Key: String, CodingKey {
        case version, host
    }

    /// The fields of the writer are on the same level as the machine.
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        _ = try fields.decode(Int.self, forKey: .version)
        host = try fields.decode(String.self, forKey: .host)
        writer = try ProcessIdentity(from: decoder)
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        try fields.encode(LockFile.version, forKey: .version)
        try fields.encode(host, forKey: .host)
        try writer.encode(to: encoder)
    }
}
