import FileStorage
import FileSystem

/// The directory `.fsync-lite` of a target, and what lies in it. After an exchange it stands beside the target, as
/// `.NAME.fsync-lite`.
///
/// It must belong to whoever runs this, and nobody else may write to it: a journal that somebody planted
/// would make root write.
package struct StateDirectory: Sendable {
    package let directory: Directory
    /// It is not in the target but beside it.
    package let isBeside: Bool

    package enum Name {
        static let manifest = FileName("manifest.json")
        static let mark = FileName("mark")
        static let lastRun = FileName("last-run")
        static let trustingRun = FileName("trusting-run")
        static let settings = FileName("settings.json")
        static let settingsPropertyList = FileName("settings.plist")
        static let journal = FileName("journal")
        static let journalBack = FileName("journal.back")
        static let stage = FileName("stage")
        static let history = FileName("history")
        static let trash = FileName("trash")
        static let record = FileName("record.json")
        static let ballast = FileName("ballast")
        static let conflicts = FileName("conflicts")
        static let syncFailed = FileName("sync-failed")
        static let tree = FileName("tree")
        static let trees = FileName("trees")
        static let linked = FileName("linked")
        static let copy = FileName("copy")
        static let rootTime = FileName("root-time")
        static let compared = FileName("compared")

        /// What the state is called beside a target; nil where that would be too long.
        static func beside(_ target: FileName) -> FileName? { beside(target, "") }

        /// What the other trees of a target that is a subvolume lie in.
        static func treesBeside(_ target: FileName) -> FileName? { beside(target, "-trees") }

        private static func beside(_ target: FileName, _ suffix: String) -> FileName? {
            let name = Array(".".utf8) + target.bytes + FileName.state.bytes + suffix.utf8
            return name.count <= 255 ? FileName(name) : nil
        }
    }

    /// The state of a target; nil when it has none.
    package init?(of root: Directory) throws {
        let inside = try StateDirectory(FileName.state, in: root, isBeside: false)
        var beside: StateDirectory?
        if let place = try root.place(), let name = Name.beside(place.name) {
            beside = try StateDirectory(name, in: place.parent, isBeside: true)
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
            let found = try beside ?? inside ?? StateDirectory(FileName.state, in: root, isBeside: false)
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
        try checkEntries()
    }

    /// Makes the state of a target that has none.
    package static func make(in root: Directory) throws -> StateDirectory {
        try root.makeDirectory(FileName.state)
        guard let state = try StateDirectory(of: root) else {
            throw SyncError(.failed, path: root.path(of: FileName.state), "it vanished at once")
        }
        return state
    }

    /// What lies in the state is of the right kind, and nobody else may write to it.
    private func checkEntries() throws {
        let directories = [Name.stage, Name.history, Name.trash, Name.trees]
        let files = [
            Name.manifest, Name.mark, Name.lastRun, Name.trustingRun, Name.settings,
            Name.settingsPropertyList, Name.journal, Name.journalBack, Name.syncFailed, Name.linked,
            Name.copy, Name.rootTime, Name.compared,
        ]
        for (names, type) in [(directories, FileType.directory), (files, .file)] {
            for name in names {
                if let status = try directory.status(of: name) { try check(status, name, type) }
            }
        }
    }

    private func check(_ status: FileStatus, _ name: FileName, _ type: FileType) throws {
        let path = directory.path(of: name)
        // A file that is open has no name any more when it was replaced meanwhile.
        guard status.type == type, type == .directory || status.links <= 1 else {
            let wanted = type == .directory ? "directory" : "file with one name"
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

    // MARK: Files

    /// Opens a file of the state for reading; nil when it is not there.
    ///
    /// - Throws: `SyncError` when it is not a plain file of one name, of the right owner.
    package func open(_ name: FileName) throws -> FileDescriptor? {
        guard let seen = try directory.status(of: name) else { return nil }
        try check(seen, name, .file)
        let descriptor = try directory.open(name, [.read, .noFollow, .nonBlocking])
        let path = directory.path(of: name)
        try check(calling("statx", path) { () throws(Errno) in try descriptor.status() }, name, .file)
        return descriptor
    }

    package func manifest(withUncovered: Bool = false) throws -> ManifestReader? {
        guard let descriptor = try open(Name.manifest) else { return nil }
        return try ManifestReader(
            descriptor, path: directory.path(of: Name.manifest), withUncovered: withUncovered)
    }

    /// Which manifest is there; nil without one. The inode of one that was replaced may be that of the next.
    package func manifestVersion() throws -> ManifestVersion? {
        try directory.status(of: Name.manifest).map { ManifestVersion(inode: $0.inode, changed: $0.changed) }
    }

    package struct ManifestVersion: Hashable, Sendable {
        fileprivate let inode: UInt64
        fileprivate let changed: FileTime
    }

    /// The commit that was begun and not ended; nil when there is none.
    package func pendingJournal() throws -> (direction: Commit.Direction, transaction: Journal)? {
        if let descriptor = try open(Name.journal) {
            return (.forward, try Journal(reading: descriptor, path: directory.path(of: Name.journal)))
        }
        if let descriptor = try open(Name.journalBack) {
            return (
                .backward, try Journal(reading: descriptor, path: directory.path(of: Name.journalBack))
            )
        }
        return nil
    }

    /// Whether a commit was begun and not ended.
    package func hasJournal() throws -> Bool {
        let forward = try directory.status(of: Name.journal)
        let backward = try directory.status(of: Name.journalBack)
        return forward != nil || backward != nil
    }

    /// What a person set for this target; the defaults where there is no file.
    package func settings() throws -> Settings { try settingsFile()?.content ?? Settings() }

    /// The file that says so.
    package func settingsFile() throws -> SettingsFile<Settings>? {
        var found: [SettingsFile<Settings>] = []
        for name in [Name.settings, Name.settingsPropertyList] {
            guard let descriptor = try open(name) else { continue }
            let path = directory.path(of: name)
            let data: [UInt8]
            do {
                data = try descriptor.readAll(limit: SettingsFile<Settings>.sizeLimit)
            } catch {
                throw SyncError(.invalidDocument, path: path, error)
            }
            found.append(try SettingsFile(data, of: LocalFile(bytes: path)))
        }
        return try SettingsFile.only(found)
    }

    // MARK: Times

    /// When commits and exchanges moved the change times of what the manifest has no change time of; none without their
    /// marks.
    package func trust(_ header: ManifestHeader) throws -> CommitSpans {
        var spans = header.commits.map { $0.lowerBound.fileTime..<$0.upperBound.fileTime }
        spans += try [lastCommit(header), span(Name.linked)].compactMap(\.self)
        return CommitSpans(spans: spans)
    }

    /// From when the last commit got its name, which is before anything was staged, to its last operation; nil where a
    /// recovery ended it.
    func lastCommit(_ header: ManifestHeader) throws -> Range<FileTime>? {
        guard let span = try span(Name.mark) else { return nil }
        let named = FileName(header.id.utf8).flatMap(TransactionID.time)
        return min(span.lowerBound, named ?? span.lowerBound)..<span.upperBound
    }

    /// A mark's modification time is when something began, its change time when that was over. A beginning after the end
    /// stands for no span.
    func span(_ name: FileName) throws -> Range<FileTime>? {
        guard let mark = try directory.status(of: name), mark.modified <= mark.changed else { return nil }
        return mark.modified..<mark.changed
    }

    /// Writes down that a commit that began then has done its last operation.
    ///
    /// - Parameter began: nil after a recovery: what others did since the crash no commit accounts for.
    package func markCommit(began: FileTime?) throws {
        var never = FileTime.now
        never.seconds += 86_400
        try mark(Name.mark, began: began ?? never)
    }

    /// Writes down that since then only an exchange has changed the files that it linked, as far as their change times
    /// tell.
    package func markLinked(began: FileTime) throws {
        try mark(Name.linked, began: began)
    }

    /// Returns when the clock that files are stamped with has gone on: a later change has a later time.
    private func mark(_ name: FileName, began: FileTime) throws {
        func touched() throws -> FileTime? {
            try touch(name, modified: began)
            return try directory.status(of: name)?.changed
        }
        let first = try touched()
        while let time = try touched(), let first, time <= first {}
    }

    /// Does what moves the root's modification time, which is then put back; by the next run that writes, where this
    /// one is cut short.
    func keepingTime(of root: Directory, _ move: () throws -> Void) throws {
        try touch(Name.rootTime, modified: root.status().modified)
        let moved = Result(catching: move)
        try putBackTime(of: root)
        try moved.get()
    }

    /// Puts the root's modification time back after a run that was cut short while it moved the state.
    func putBackTime(of root: Directory) throws {
        guard let modified = try directory.status(of: Name.rootTime)?.modified else { return }
        try ObjectHandle(of: root).setModified(modified)
        try directory.unlink(Name.rootTime)
    }

    /// Writes down that a run that began its scan then has ended.
    func markRun(scanned: Timestamp, problems: Int) throws {
        try note(LastRun(began: scanned, ended: .now, problems: problems))
        // Of older versions.
        if try directory.status(of: Name.trustingRun) != nil { try directory.unlink(Name.trustingRun) }
    }

    /// The manifest tells of them from now on.
    func forgetComparisons() throws {
        if try directory.status(of: Name.compared) != nil { try directory.unlink(Name.compared) }
    }

    private func touch(_ name: FileName, modified: FileTime) throws {
        let descriptor = try directory.open(
            name, [.write, .create, .noFollow, .nonBlocking], permissions: 0o600)
        let path = directory.path(of: name)
        try check(calling("statx", path) { () throws(Errno) in try descriptor.status() }, name, .file)
        try calling("futimens", path) { () throws(Errno) in try descriptor.setModified(modified) }
    }

    // MARK: Syncs that failed

    /// Whether the sync that ends a commit failed under this mount. The kernel tells an error once and says
    /// success ever after, while what is in memory and what is on disk differ.
    package func syncFailed(under mount: String) throws -> Bool {
        guard let descriptor = try open(Name.syncFailed) else { return false }
        return try calling("read", directory.path(of: Name.syncFailed)) { () throws(Errno) -> Bool in
            try descriptor.readAll(limit: 4096) == Array(mount.utf8)
        }
    }

    /// Need not be durable: it serves as long as the mount does.
    package func noteFailedSync(under mount: String) throws {
        guard try directory.status(of: Name.syncFailed) == nil else { return }
        let descriptor = try directory.open(
            Name.syncFailed, [.write, .create, .exclusive, .noFollow], permissions: 0o600)
        try calling("write", directory.path(of: Name.syncFailed)) { () throws(Errno) in
            try descriptor.write(Array(mount.utf8))
        }
    }

    // MARK: Copies

    /// Which earlier tree the directory becomes a copy of; nil for a target.
    func copy() throws -> [UInt8]? {
        guard let descriptor = try open(Name.copy) else { return nil }
        return try calling("read", directory.path(of: Name.copy)) { () throws(Errno) in
            try descriptor.readAll(limit: 1 << 24)
        }
    }

    /// The next barrier makes it durable.
    func setCopy(_ copy: [UInt8]?) throws {
        if let copy {
            var file = try PendingFile(Name.copy, in: directory)
            try file.write(copy)
            try file.commit(durably: false)
        } else if try directory.status(of: Name.copy) != nil {
            try directory.unlink(Name.copy)
        }
    }

    // MARK: Directories

    /// Bytes on disk of what runs that were cut short have staged.
    package func stagedBytes() throws -> Int64 {
        guard try directory.status(of: Name.stage) != nil else { return 0 }
        let scan = try TreeScan(directory.directory(Name.stage), TreeScan.Options())
        var bytes: Int64 = 0
        // What has other names is not freed with this one.
        while try scan.advance() { bytes += scan.status.links > 1 ? 0 : scan.status.allocated }
        return bytes
    }

    /// The names of the transactions in the history, the oldest first.
    package func transactions() throws -> [FileName] {
        guard try directory.status(of: Name.history) != nil else { return [] }
        // Names of others tell nothing of the order of ours.
        return try DirectoryListing.names(in: directory.directory(Name.history)).filter(TransactionID.isName)
            .sorted()
    }

    /// A directory of the state, made where it is missing.
    package func subdirectory(_ name: FileName) throws -> Directory {
        if try directory.status(of: name) == nil { try directory.makeDirectory(name) }
        return try directory.directory(name)
    }

    /// Takes a directory out of the way at once, to be emptied after.
    ///
    /// - Parameter header: the file in it that makes it count, and goes first where the disk has no room for the
    ///   trash itself: a kill half way then leaves what does not count.
    package func discard(_ name: FileName, in parent: Directory, header: FileName? = nil) throws {
        guard try parent.status(of: name) != nil else { return }
        let trash: Directory
        do {
            trash = try subdirectory(Name.trash)
        } catch let error as SystemError where [.noSpace, .quotaExceeded].contains(error.errno) {
            if let header {
                let directory = try parent.directory(name)
                if try directory.status(of: header) != nil { try directory.unlink(header) }
            }
            return try TreeRemoval.remove(name, in: parent)
        }
        try parent.rename(name, to: trash, FileName(RandomID.hexadecimal(bytes: 8).utf8) ?? name, .noReplace)
    }

    /// Removes the state itself, what it says of a copy last. No journal may be there.
    package func removeAll(from root: Directory) throws {
        for name in try DirectoryListing.names(in: directory) where name != Name.copy {
            try TreeRemoval.remove(name, in: directory)
        }
        try TreeRemoval.remove(FileName.state, in: root)
    }

    /// Empties the trash and what a run that was cut short left behind. No journal may be there.
    package func clean() throws {
        if try directory.status(of: Name.stage) != nil { try discard(Name.stage, in: directory) }
        for name in try DirectoryListing.names(in: directory)
        where name == Name.trash || name == Name.syncFailed || PendingFile.isTemporary(name) {
            try TreeRemoval.remove(name, in: directory)
        }
    }
}

extension Directory {
    /// The state of this target where it is not in it, so that paths in the state lead there all the same.
    func stateBeside() throws(SystemError) -> Directory? {
        guard try status(of: FileName.state) == nil, let place = try place(),
            let name = StateDirectory.Name.beside(place.name),
            try place.parent.status(of: name)?.type == .directory
        else { return nil }
        return try place.parent.directory(name)
    }
}
