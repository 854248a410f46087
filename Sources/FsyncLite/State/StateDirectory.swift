import FileStorage
import FileSystem

/// The directory `.fsync-lite` of a target, and its entries. After an exchange it is beside the target, as
/// `.NAME.fsync-lite`.
///
/// It must belong to the present user, and no other user may write to it. With a planted journal, root would write for
/// an attacker. For the same reason, a mirror must not have made it; see `checkOrigin`.
package struct StateDirectory: Sendable {
    package let directory: Directory
    let name: FileName
    let mark: StateMark
    /// Whether it is beside the target, not in it.
    package let isBeside: Bool
    /// Whether any user may write to it, as far as its file system shows.
    let isOpenToOthers: Bool

    /// The state of a target; nil if it has none.
    package init?(of root: Directory) throws {
        guard let found = try StateDirectory.found(of: root), try !found.isEmpty else { return nil }
        try found.checkOrigin(of: root)
        self = found
    }

    /// The state of a directory, whoever made it; nil if it has none.
    static func found(of root: Directory) throws -> StateDirectory? {
        var beside: StateDirectory?
        // Only an exchange puts it there, and that needs a complete file system.
        if root.fileSystem == nil, let location = try root.location(),
            let name = FileName.state(beside: location.name)
        {
            beside = try StateDirectory(beside: name, in: location.parent)
        }
        // After an exchange, another user may have made a directory with this name.
        if let beside, let status = try root.status(of: .state), !status.isOwn {
            return beside
        }
        let inside = try StateDirectory(FileName.state, in: root, isBeside: false)
        if let inside, let beside {
            // RACE: it may have been moved between the two calls.
            guard try inside.directory.status().inode == beside.directory.status().inode else {
                throw SyncError(
                    .twoStates(beside.directory.path, inside.directory.path), path: beside.directory.path)
            }
        }
        return try beside ?? inside ?? StateDirectory(FileName.state, in: root, isBeside: false)
    }

    /// The state beside a target. In a directory of several users, each of them may take that name. A directory of
    /// another user, or one that a mirror made, is not a state.
    init?(beside name: FileName, in parent: Directory) throws {
        guard let status = try parent.status(of: name), status.isOwn,
            status.type == .directory
        else {
            return nil
        }
        guard let found = try StateDirectory(name, in: parent, isBeside: true), found.mark != .mirrored
        else { return nil }
        self = found
    }

    /// nil if the name does not exist.
    private init?(_ name: FileName, in parent: Directory, isBeside: Bool) throws {
        (self.name, self.isBeside) = (name, isBeside)
        guard let status = try parent.status(of: name) else { return nil }
        let path = parent.path(of: name)
        guard status.type == .directory else {
            throw SyncError(
                .oddStateEntry(path, wanted: "the name is reserved for a directory"), path: path)
        }
        guard !status.isMountRoot else {
            throw SyncError(.mountedState(path), path: path)
        }
        directory = try parent.directory(name)
        isOpenToOthers = try directory.checkOwner(status, path)
        guard try directory.status().inode == status.inode else {
            throw SyncError(
                .stale, path: path, "this directory was replaced meanwhile; run the command again")
        }
        mark = try directory.stateMark()
        for entry in StateEntry.allCases {
            if let status = try self.status(of: entry) { try check(status, entry) }
        }
    }

    /// Creates the state of a target.
    package static func make(in root: Directory) throws -> StateDirectory {
        if try root.status(of: .state) == nil { try root.makeDirectory(FileName.state) }
        let made = try root.directory(FileName.state)
        guard try DirectoryListing.names(in: made).isEmpty else {
            throw SyncError(.locked, path: root.path, "another run made its state just now; run again")
        }
        try made.markAsState()
        guard let state = try StateDirectory.found(of: root) else {
            throw SyncError(.failed, path: root.path(of: FileName.state), "it vanished at once")
        }
        return state
    }

    // MARK: Entries

    /// Checks that an entry has the right type and is not writable for other users.
    private func check(_ status: FileStatus, _ entry: StateEntry) throws {
        try check(status, path: path(of: entry), type: entry.type)
    }

    private func check(_ status: FileStatus, path: [UInt8], type: FileType) throws {
        // If an open file was replaced meanwhile, it has no name any more.
        guard status.type == type, type == .directory || status.links <= 1 else {
            let wanted = type == .directory ? "directory" : "file with one name"
            throw SyncError(.oddStateEntry(path, wanted: "a plain \(wanted) was expected"), path: path)
        }
        try directory.checkOwner(status, path)
    }

    func status(of entry: StateEntry) throws -> FileStatus? { try directory.status(of: entry.name) }

    func has(_ entry: StateEntry) throws -> Bool { try status(of: entry) != nil }

    /// The path for messages.
    func path(of entry: StateEntry) -> [UInt8] { directory.path(of: entry.name) }

    /// Opens a file for reading; nil if it does not exist.
    ///
    /// - Throws: `SyncError` unless it is a regular file with one name and the right owner.
    func open(_ entry: StateEntry) throws -> FileDescriptor? {
        guard let seen = try status(of: entry) else { return nil }
        try check(seen, entry)
        return try open(entry, [.read])
    }

    /// Opens a file; creates it if the flags say so.
    func open(_ entry: StateEntry, _ flags: FileDescriptor.Flags) throws -> FileDescriptor {
        let descriptor = try directory.open(
            entry.name, flags.union([.noFollow, .nonBlocking]), permissions: 0o600)
        try check(calling("statx", path(of: entry)) { () throws(Errno) in try descriptor.status() }, entry)
        return descriptor
    }

    /// Reads a file; nil if it does not exist.
    func read(_ entry: StateEntry, limit: Int) throws -> [UInt8]? {
        guard let descriptor = try open(entry) else { return nil }
        return try calling("read", path(of: entry)) { () throws(Errno) in try descriptor.readAll(limit: limit)
        }
    }

    /// The small documents, as values, checked like every entry. They are not durable: a sync would be most of the time
    /// of a run that has nothing to do.
    var documents: CodableStorage {
        // In bytes. Each document is far smaller.
        let storage = DiskStorage(directory, sizeLimit: 1 << 16, isDurable: false) { [self] status, name in
            try check(status, path: directory.path(of: name), type: .file)
        }
        return CodableStorage(storage, keys: .snakeCase)
    }

    /// - Throws: `SyncError` with code `invalidDocument` for a damaged document, `refused` if others may write it.
    func document<Value: Decodable>(_ entry: StateEntry) throws(SyncError) -> Value {
        try documents.document(entry.name, in: directory)
    }

    /// Replaces the content of a file atomically. A power cut may undo it.
    func replace(_ entry: StateEntry, _ content: [UInt8]) throws {
        var file = try PendingFile(entry.name, in: directory)
        try file.write(content)
        try file.commit(durably: false)
    }

    /// Removes a file if it exists.
    func remove(_ entry: StateEntry) throws {
        if try has(entry) { try directory.unlink(entry.name) }
    }

    // MARK: The manifest

    package func manifest(withUncovered: Bool = false) throws -> ManifestReader? {
        guard let descriptor = try open(.manifest) else { return nil }
        return try ManifestReader(descriptor, path: path(of: .manifest), withUncovered: withUncovered)
    }

    /// The manifest of a target. It must exist.
    ///
    /// - Throws: `SyncError` with code `inputMissing` for the target's path.
    func manifest(of target: [UInt8], withUncovered: Bool = false) throws -> ManifestReader {
        guard let manifest = try manifest(withUncovered: withUncovered) else {
            throw try noManifest(target)
        }
        return manifest
    }

    /// The error for a target without a manifest.
    func noManifest(_ target: [UInt8]) throws -> SyncError {
        SyncError(
            .inputMissing, path: target,
            try has(.history)
                ? "its manifest is missing, which lists the snapshots; apply with --adopt makes a new one"
                : "no run has written to this target")
    }

    /// Identifies the present manifest; nil if there is none. It is not only the inode, because the next manifest may
    /// get the same one.
    package func manifestVersion() throws -> ManifestVersion? {
        try directory.trueStatus(of: StateEntry.manifest.name).map {
            ManifestVersion(inode: $0.inode, changed: $0.changed)
        }
    }

    package struct ManifestVersion: Hashable, Sendable {
        fileprivate let inode: UInt64
        fileprivate let changed: FileTime
    }

    /// Identifies the manifest and the history. It differs after each run that changed the target. To prune can change
    /// records alone.
    struct Version: Hashable, Sendable {
        fileprivate let manifest: ManifestVersion?
        fileprivate let history: FileTime?
        fileprivate let records: [FileTime?]
    }

    func version() throws -> Version {
        let (manifest, history) = (try manifestVersion(), try history())
        return Version(
            manifest: manifest, history: try history?.status().changed,
            records: try transactions().map { try history?.status(of: $0)?.changed })
    }

    /// The temporary file that becomes the manifest.
    func newManifest() throws -> PendingFile { try PendingFile(StateEntry.manifest.name, in: directory) }

    // MARK: Directories

    /// nil if it does not exist.
    private func subdirectory(_ entry: StateEntry) throws -> Directory? {
        try has(entry) ? directory.directory(entry.name) : nil
    }

    private func makeSubdirectory(_ entry: StateEntry) throws -> Directory {
        if try !has(entry) { try directory.makeDirectory(entry.name) }
        return try directory.directory(entry.name)
    }

    /// One directory for each uncommitted transaction; nil if there is none.
    package func stage() throws -> Directory? { try subdirectory(.stage) }
    package func makeStage() throws -> Directory { try makeSubdirectory(.stage) }

    /// One directory for each committed transaction; nil if there is none.
    package func history() throws -> Directory? { try subdirectory(.history) }
    /// The directory of a committed transaction.
    func transaction(_ name: FileName) throws -> Directory {
        try directory.directory(StateEntry.history.name).directory(name)
    }
    func makeHistory() throws -> Directory { try makeSubdirectory(.history) }

    /// The old trees of exchanges; nil if there are none.
    func trees() throws -> Directory? { try subdirectory(.trees) }
    func makeTrees() throws -> Directory { try makeSubdirectory(.trees) }

    /// A directory whose content will be removed.
    func makeTrash() throws -> Directory { try makeSubdirectory(.trash) }

    /// The names of the committed transactions, oldest first.
    package func transactions() throws -> [FileName] {
        guard let history = try history() else { return [] }
        // Names of another form have no order by time.
        return try DirectoryListing.names(in: history).filter(TransactionID.isName).sorted()
    }

    /// The bytes on disk that interrupted runs have staged.
    package func stagedBytes() throws -> ByteCount {
        guard let stage = try stage() else { return 0 }
        let scan = try TreeScan(stage, TreeScan.Options())
        var bytes: ByteCount = 0
        var names: [UInt64: UInt32] = [:]
        while try scan.advance() {
            let status = scan.status
            // If an object has several names, only the removal of the last one frees space.
            if status.isMultiplyLinked {
                names[status.inode, default: 0] += 1
                guard names[status.inode] == status.links else { continue }
            }
            bytes += status.allocated
        }
        return bytes
    }
}

extension Directory {
    /// - Returns: whether others may write to it, which is allowed only if the file system shows all files so.
    @discardableResult
    fileprivate func checkOwner(_ status: FileStatus, _ path: [UInt8]) throws -> Bool {
        switch try ownership(of: status) {
        case .own: return false
        case .sharedByMount: return true
        case .other: throw SyncError(.otherOwner(status.owner, path), path: path)
        case .writableForOthers: throw SyncError(.writableState(path), path: path)
        }
    }
}
