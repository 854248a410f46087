import FileStorage
import FileSystem
import FoundationEssentials

/// The targets that this user has written to, in the document `targets.json` of the user's directory. If a known target
/// is now on another file system, its disk is not mounted.
///
/// A damaged or missing record is treated as empty. The next commit begins it anew.
public struct KnownTargets: Hashable, Sendable {
    let directory: LocalFile

    public init(in directory: LocalFile) { self.directory = directory }

    public struct Entry: Hashable, Sendable {
        /// The id of its state.
        public var id: String
        public var fileSystem: FileSystemName
        /// Absolute, without symlinks. The last one is the last that was used.
        public var paths: [[UInt8]]
        public var lastApply: Timestamp
        /// The mount point of its file system, as the kernel names it; nil if it is unknown.
        public var mountPoint: String?
    }

    private static let name = FileName("targets.json")
    private static let sizeLimit = 1 << 22
    /// The most targets, and the most paths of one target, that are recorded. The newest remain.
    private static let mostEntries = 256
    private static let mostPaths = 8

    // MARK: Reading

    public func entries() throws -> [Entry] {
        let holder: Directory
        do throws(SystemError) {
            holder = try Directory.open(path: directory.bytes)
        } catch {
            guard Errno.noDirectory.contains(error.errno) else { throw error }
            return []
        }
        return try KnownTargets.entries(in: holder)
    }

    private static func entries(in holder: Directory) throws(SyncError) -> [Entry] {
        let document: Document? = try CodableStorage.documentIfWhole(name, in: holder, limit: sizeLimit)
        return document?.targets.compactMap(\.entry) ?? []
    }

    // MARK: Writing

    /// Adds a target, durably. It replaces the record of its path.
    package func add(_ new: Entry) throws {
        let holder = try RecordDirectory.make(directory)
        try RecordDirectory.locked(holder) { try KnownTargets.add(new, in: holder) }
    }

    private static func add(_ new: Entry, in holder: Directory) throws {
        let entries = try KnownTargets.entries(in: holder)
        var entry = new
        let before = entries.first { $0.id == new.id && $0.fileSystem == new.fileSystem }?.paths ?? []
        entry.paths = (before.filter { !new.paths.contains($0) } + new.paths).suffix(KnownTargets.mostPaths)
        let others = entries.compactMap { other -> Entry? in
            guard other.id != new.id || other.fileSystem != new.fileSystem else { return nil }
            var left = other
            left.paths.removeAll { new.paths.contains($0) || KnownTargets.isGone($0, of: other, beside: new) }
            return left.paths.isEmpty ? nil : left
        }
        let document = Document(
            targets: (others + [entry]).sorted { $0.lastApply < $1.lastApply }
                .suffix(KnownTargets.mostEntries).map(Row.init))
        var file = try PendingFile(
            KnownTargets.name, in: holder, permissions: Account.isRoot ? 0o644 : 0o600)
        try file.write(Array(JSONDocument.encode(document)))
        try file.commit(durably: true)
    }

    /// Whether a path no longer exists. This asks only the file system that was just written to, which answers.
    private static func isGone(_ path: [UInt8], of entry: Entry, beside new: Entry) -> Bool {
        guard entry.fileSystem == new.fileSystem, new.fileSystem.isLocal else { return false }
        // If a path cannot be looked at, it may still exist.
        return (try? LocalFile(bytes: path).exists) == false
    }
}

/// A name of a file system that remains the same over time, if there is one.
public struct FileSystemName: Hashable, Sendable {
    /// `ext4` and so on.
    public var type: String
    /// nil for a file system without one, such as NFS.
    public var uuid: String?

    package init(of directory: Directory) throws {
        let info = try FileSystemInfo(of: directory)
        (type, isLocal) = (info.name, info.sharesClock)
        uuid = try directory.fileSystemUUID()
    }

    fileprivate init(type: String, uuid: String?) {
        (self.type, self.uuid) = (type, uuid)
        isLocal = true
    }

    /// Whether it is on this machine, so that it answers.
    fileprivate let isLocal: Bool

    /// False for a file system in memory, which is new each time. Its absence says nothing.
    package var lasts: Bool { !["tmpfs", "0x858458f6"].contains(type) }

    /// Whether it is certainly another one. Without UUIDs, only the type shows that.
    package func isOther(than other: FileSystemName) -> Bool {
        if type != other.type { return true }
        guard let uuid, let last = other.uuid else { return false }
        return uuid != last
    }

    public static func == (one: FileSystemName, other: FileSystemName) -> Bool {
        (one.type, one.uuid) == (other.type, other.uuid)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(uuid)
    }
}

// MARK: The document

private struct Document: Codable {
    var version = 1
    var targets: [Row]
}

private struct Row: Codable {
    var id: String
    var fileSystem: String
    var fileSystemUuid: String?
    var lastApply: String
    var mountPoint: String?
    var paths: [String]?
    /// The paths that are not UTF-8.
    var pathsBase64: [String]?

    init(_ entry: KnownTargets.Entry) {
        (id, fileSystem, fileSystemUuid) = (entry.id, entry.fileSystem.type, entry.fileSystem.uuid)
        (lastApply, mountPoint) = (entry.lastApply.description, entry.mountPoint)
        let texts = entry.paths.map { String(validating: $0, as: UTF8.self) }
        paths = texts.compactMap(\.self)
        pathsBase64 = zip(entry.paths, texts).filter { $0.1 == nil }
            .map { Data($0.0).base64EncodedString() }
        if pathsBase64?.isEmpty == true { pathsBase64 = nil }
    }

    /// nil for a damaged record.
    var entry: KnownTargets.Entry? {
        guard let lastApply = Timestamp(iso8601: lastApply) else { return nil }
        let paths =
            (pathsBase64 ?? []).compactMap { Data(base64Encoded: $0).map(Array.init) }
            + (paths ?? []).map { Array($0.utf8) }
        guard !paths.isEmpty, paths.allSatisfy({ $0.first == UInt8(ascii: "/") && !$0.contains(0) }) else {
            return nil
        }
        return KnownTargets.Entry(
            id: id, fileSystem: FileSystemName(type: fileSystem, uuid: fileSystemUuid), paths: paths,
            lastApply: lastApply, mountPoint: mountPoint)
    }
}
