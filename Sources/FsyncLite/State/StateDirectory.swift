import FileStorage
import FileSystem

/// The directory `.fsync-lite` of a target, and what lies in it. After an exchange it stands beside the target, as
/// `.NAME.fsync-lite`.
///
/// It must belong to the user who runs this, and no other may write to it: a planted journal would make root write.
package struct StateDirectory: Sendable {
    package let directory: Directory
    /// It is not in the target but beside it.
    package let isBeside: Bool

    /// The state of a target; nil when it has none.
    package init?(of root: Directory) throws {
        let inside = try StateDirectory(FileName.state, in: root, isBeside: false)
        var beside: StateDirectory?
        if let location = try root.location(), let name = FileName.state(beside: location.name) {
            beside = try StateDirectory(name, in: location.parent, isBeside: true)
        }
        if let inside, let beside {
            // RACE: it may have been moved between the two looks.
            guard try inside.directory.status().inode == beside.directory.status().inode else {
                throw SyncError(
                    .refused, path: beside.directory.path,
                    "this is the target's state, and so is \(escapedText(inside.directory.path)); move away the one that is not"
                )
            }
        }
        guard
            let found = try beside ?? inside
                ?? StateDirectory(FileName.state, in: root, isBeside: false)
        else { return nil }
        self = found
    }

    /// nil where nothing has the name.
    init?(_ name: FileName, in parent: Directory, isBeside: Bool) throws {
        self.isBeside = isBeside
        guard let status = try parent.status(of: name) else { return nil }
        let path = parent.path(of: name)
        guard status.type == .directory else {
            throw SyncError(.refused, path: path, "the name is reserved for a directory; move this away")
        }
        guard !status.isMountRoot else {
            throw SyncError(.refused, path: path, "something is mounted here; unmount it")
        }
        try StateDirectory.checkOwner(status, path)
        directory = try parent.directory(name)
        guard try directory.status().inode == status.inode else {
            throw SyncError(.refused, path: path, "somebody is replacing this directory")
        }
        for entry in StateEntry.allCases {
            if let status = try self.status(of: entry) { try check(status, entry) }
        }
    }

    /// Makes the state of a target that has none.
    package static func make(in root: Directory) throws -> StateDirectory {
        try root.makeDirectory(FileName.state)
        guard let state = try StateDirectory(of: root) else {
            throw SyncError(.failed, path: root.path(of: FileName.state), "it vanished at once")
        }
        return state
    }

    // MARK: Entries

    /// An entry is of its kind, and no other user may write to it.
    private func check(_ status: FileStatus, _ entry: StateEntry) throws {
        let path = path(of: entry)
        // A file that is open has no name any more when it was replaced meanwhile.
        guard status.type == entry.type, entry.type == .directory || status.links <= 1 else {
            let wanted = entry.type == .directory ? "directory" : "file with one name"
            throw SyncError(.refused, path: path, "a plain \(wanted) was expected; move this away")
        }
        try StateDirectory.checkOwner(status, path)
    }

    private static func checkOwner(_ status: FileStatus, _ path: [UInt8]) throws {
        guard status.owner == Account.effectiveUser else {
            throw SyncError(
                .refused, path: path,
                "it belongs to user \(status.owner), not to \(Account.effectiveUser); run as its owner")
        }
        guard status.permissions & 0o022 == 0 else {
            throw SyncError(.refused, path: path, "others may write to it; take that away: chmod go-w")
        }
    }

    func status(of entry: StateEntry) throws -> FileStatus? { try directory.status(of: entry.name) }

    func has(_ entry: StateEntry) throws -> Bool { try status(of: entry) != nil }

    /// For messages.
    func path(of entry: StateEntry) -> [UInt8] { directory.path(of: entry.name) }

    /// Opens a file for reading; nil when it is not there.
    ///
    /// - Throws: `SyncError` when it is not a plain file of one name, of the right owner.
    func open(_ entry: StateEntry) throws -> FileDescriptor? {
        guard let seen = try status(of: entry) else { return nil }
        try check(seen, entry)
        return try open(entry, [.read])
    }

    /// Opens a file, which is made where the flags say so.
    func open(_ entry: StateEntry, _ flags: FileDescriptor.Flags) throws -> FileDescriptor {
        let descriptor = try directory.open(
            entry.name, flags.union([.noFollow, .nonBlocking]), permissions: 0o600)
        try check(calling("statx", path(of: entry)) { () throws(Errno) in try descriptor.status() }, entry)
        return descriptor
    }

    /// Reads a file; nil when it is not there.
    func read(_ entry: StateEntry, limit: Int) throws -> [UInt8]? {
        guard let descriptor = try open(entry) else { return nil }
        return try calling("read", path(of: entry)) { () throws(Errno) in try descriptor.readAll(limit: limit)
        }
    }

    /// Gives a file another content, in one step that a power cut may take back.
    func replace(_ entry: StateEntry, _ content: [UInt8]) throws {
        var file = try PendingFile(entry.name, in: directory)
        try file.write(content)
        try file.commit(durably: false)
    }

    /// Removes a file where it is there.
    func remove(_ entry: StateEntry) throws {
        if try has(entry) { try directory.unlink(entry.name) }
    }

    // MARK: The manifest

    package func manifest(withUncovered: Bool = false) throws -> ManifestReader? {
        guard let descriptor = try open(.manifest) else { return nil }
        return try ManifestReader(descriptor, path: path(of: .manifest), withUncovered: withUncovered)
    }

    /// Which manifest is there; nil without one. The inode of one that was replaced may be that of the next.
    package func manifestVersion() throws -> ManifestVersion? {
        try status(of: .manifest).map {
            ManifestVersion(inode: $0.inode, changed: $0.changed, written: $0.modified)
        }
    }

    package struct ManifestVersion: Hashable, Sendable {
        fileprivate let inode: UInt64
        fileprivate let changed: FileTime
        let written: FileTime
    }

    /// The file that becomes the manifest when it is committed.
    func newManifest() throws -> PendingFile { try PendingFile(StateEntry.manifest.name, in: directory) }

    // MARK: Directories

    /// nil where it is missing.
    private func subdirectory(_ entry: StateEntry) throws -> Directory? {
        try has(entry) ? directory.directory(entry.name) : nil
    }

    private func makeSubdirectory(_ entry: StateEntry) throws -> Directory {
        if try !has(entry) { try directory.makeDirectory(entry.name) }
        return try directory.directory(entry.name)
    }

    /// A directory for each transaction that is not committed yet; nil where there is none.
    package func stage() throws -> Directory? { try subdirectory(.stage) }
    package func makeStage() throws -> Directory { try makeSubdirectory(.stage) }

    /// A directory for each transaction that is committed; nil where there is none.
    package func history() throws -> Directory? { try subdirectory(.history) }
    /// Of a transaction that is committed.
    func transaction(_ name: FileName) throws -> Directory {
        try directory.directory(StateEntry.history.name).directory(name)
    }
    func makeHistory() throws -> Directory { try makeSubdirectory(.history) }

    /// The old trees of exchanges; nil where there is none.
    func trees() throws -> Directory? { try subdirectory(.trees) }
    func makeTrees() throws -> Directory { try makeSubdirectory(.trees) }

    /// What is in it will be removed.
    func makeTrash() throws -> Directory { try makeSubdirectory(.trash) }

    /// The names of the transactions in the history, the oldest first.
    package func transactions() throws -> [FileName] {
        guard let history = try history() else { return [] }
        // Names of others tell nothing of the order of ours.
        return try DirectoryListing.names(in: history).filter(TransactionID.isName).sorted()
    }

    /// Bytes on disk of what runs that were cut short have staged.
    package func stagedBytes() throws -> Int64 {
        guard let stage = try stage() else { return 0 }
        let scan = try TreeScan(stage, TreeScan.Options())
        var bytes: Int64 = 0
        // What has other names is not freed with this one.
        while try scan.advance() { bytes += scan.status.links > 1 ? 0 : scan.status.allocated }
        return bytes
    }
}
