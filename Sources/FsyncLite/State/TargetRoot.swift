import FileStorage
import FileSystem

/// The root directory of the mirror. It may not exist yet.
struct TargetRoot {
    let path: [UInt8]
    /// nil if it does not exist yet.
    private(set) var directory: Directory?
    private(set) var state: StateDirectory?
    /// The status of the root when this run found it.
    let original: FileStatus?
    /// The place at which this run created it. It is removed again if the run fails.
    private var made: LocalFile.Location?
    private(set) var stateWasMade = false
    private let stateWasBeside: Bool
    /// The present or future file system of the target; nil if that is complete.
    let fileSystem: TargetFileSystem?
    /// The file that shows other machines that this run writes.
    let lockFile = LockFile.Holder()
    /// Whether it is a btrfs subvolume. Renames and links cannot cross its boundary, so its state is always inside.
    let isSubvolume: Bool

    /// - Throws: `SyncError` with code `refused` for a state that belongs to another user or another directory.
    init(_ path: [UInt8]) throws {
        var (attempt, isSettled) = (0, false)
        repeat {
            attempt += 1
            let way = try LocalFile(bytes: path).checkLinks()
            directory = try TargetRoot.openIfPresent(path)?.asTarget()
            // RACE: a symlink may have appeared after it was looked for. The whole mirror would be written behind it.
            if let way, let directory, try !way.isSame(as: directory) { continue }
            state = try directory.flatMap { try StateDirectory(of: $0) }
            // RACE: an exchange may have put another directory here meanwhile, to which the state belongs.
            let (now, found) = (try TargetRoot.openIfPresent(path), directory)
            let isSame = try now.map { now in try found?.isSame(as: now) ?? false } ?? (found == nil)
            isSettled = try isSame && TargetRoot.belongs(state, to: directory)
        } while !isSettled && attempt < 5
        self.path = path
        // An error of the parent directory is reported later, when that directory is needed.
        fileSystem =
            directory == nil ? try? TargetRoot.anchor(path).asTarget().fileSystem : directory?.fileSystem
        original = try directory?.status()
        isSubvolume = try directory?.isSubvolume() ?? false
        stateWasBeside = state?.isBeside ?? false
        if directory == nil { state = try TargetRoot.orphan(path) }
        guard isSettled, directory != nil || state == nil else {
            let state = state?.directory.path ?? path
            let holdsEntries = try directory.map { try !DirectoryListing.names(in: $0).isEmpty } ?? false
            throw SyncError(.stateOfOtherDirectory(state, copy: holdsEntries ? path : nil), path: state)
        }
    }

    /// Whether a state beside a target belongs to it and not to another directory. The manifest decides. While a commit
    /// is unfinished, the journal decides.
    private static func belongs(_ state: StateDirectory?, to directory: Directory?) throws -> Bool {
        guard let state, state.isBeside, try !state.hasJournal() else { return true }
        guard let identity = try state.manifest()?.header.rootIdentity else { return true }
        return try directory?.status().identity == identity
    }

    /// The state beside a directory that does not exist.
    private static func orphan(_ path: [UInt8]) throws -> StateDirectory? {
        let file = LocalFile(bytes: path)
        guard try file.parent.isDirectory else { return nil }
        let location = try file.location()
        return try FileName.state(beside: location.name).flatMap {
            try StateDirectory(beside: $0, in: location.directory)
        }
    }

    /// Whether the root is not the object of the manifest, as in a copy of a target.
    func isCopy(of header: ManifestHeader?) -> Bool {
        guard let recorded = header?.rootIdentity, let original else { return false }
        return original.identity != recorded
    }

    private static func openIfPresent(_ path: [UInt8]) throws(SyncError) -> Directory? {
        do {
            return try LocalFile(bytes: path).directory("the target")
        } catch {
            if error.isNotFound { return nil }
            guard error.errno == Errno.accessDenied.rawValue else { throw error }
            throw SyncError(
                error.code, path: path,
                "\(error.message). If this directory is yours: chmod u+rwx",
                errno: error.errno)
        }
    }

    /// The nearest existing directory: the target, or the one that will contain it.
    func anchor() throws -> Directory {
        try directory ?? TargetRoot.anchor(path).asTarget(on: fileSystem)
    }

    /// Whether the target's file system is mounted read-only.
    func isReadOnly() throws -> Bool { try FileSystemInfo(of: anchor()).isReadOnly }

    private static func anchor(_ path: [UInt8]) throws -> Directory { try place(path).anchor }

    /// The nearest existing directory above a path, and the names below it.
    static func place(_ path: [UInt8]) throws -> (anchor: Directory, names: [FileName]) {
        var (ancestor, depth) = (LocalFile(bytes: path).parent, 1)
        while try !ancestor.exists { (ancestor, depth) = (ancestor.parent, depth + 1) }
        let names = path.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
        return (try ancestor.directory(), names.suffix(depth).compactMap { FileName($0) })
    }

    /// The capabilities of the target's file system; nil for a complete one.
    var capabilities: FileSystemCapabilities? { fileSystem?.capabilities }

    /// Finds the capabilities of the target's file system, if it is not complete. If it cannot be written to, they
    /// remain unknown, and the run is refused for that.
    func probe() throws {
        guard fileSystem != nil else { return }
        do {
            if state == nil, let directory {
                try TargetRoot.probe(beginning: directory)
            } else {
                try (state?.directory ?? anchor()).probe()
            }
        } catch let error as SystemError {
            guard
                [.accessDenied, .notPermitted, .readOnlyFileSystem, .noSpace, .quotaExceeded]
                    .contains(error.errno)
            else { throw error }
            guard error.errno == .readOnlyFileSystem, var known = capabilities else { return }
            // Attributes that it lacks would be in each plan, so it is treated as having none. No run begins on it.
            known.stored.subtract([.owners, .permissions, .acls, .xattrs])
            fileSystem?.take(known)
        }
    }

    /// Probes in a state that is made for this. So a kill leaves only an empty state in a target that has none yet.
    private static func probe(beginning directory: Directory) throws {
        // A killed run has left it empty.
        guard try directory.status(of: .state) == nil else { return try directory.directory(.state).probe() }
        let before = try directory.status().modified
        try directory.makeDirectory(FileName.state)
        let result = Result { try directory.directory(FileName.state).probe() }
        do {
            try directory.removeDirectory(FileName.state)
        } catch {
            // Another run has begun to use it.
            guard error.errno == .notEmpty else { throw error }
        }
        try ObjectHandle(of: directory).setModified(before)
        try result.get()
    }

    /// A symlink that leads nowhere is not a target, and none is made behind it.
    func danglingRefusal() throws -> Refusal? {
        let file = LocalFile(bytes: path)
        guard directory == nil, try file.parent.isDirectory else { return nil }
        let location = try file.location()
        guard try location.directory.status(of: location.name)?.type == .symlink else { return nil }
        let destination = try location.directory.destination(of: location.name)
        let isAbsolute = destination.first == UInt8(ascii: "/")
        let missing = isAbsolute ? LocalFile(bytes: destination) : file.parent + destination
        return .danglingTarget(file, to: missing)
    }

    /// Creates the target if it is missing, and locks it.
    mutating func make(parents: Bool) throws {
        guard directory == nil else { return }
        let file = LocalFile(bytes: path)
        if parents { try file.parent.makeDirectory(parents: true) }
        // The sync of the target's file system makes the name durable.
        let location = try file.location()
        do throws(SystemError) {
            try location.directory.makeDirectory(location.name)
        } catch {
            guard error.errno == .exists else { throw error }
            if let refusal = try danglingRefusal() { throw SyncError(refusal, path: path) }
            throw SyncError(.locked, path: path, "another run made this just now; run again")
        }
        // RACE: it is opened in its parent directory and not by its path. The path may lead elsewhere by now, and the
        // whole mirror would be written there.
        let made = try location.directory.directory(location.name).asTarget(on: fileSystem)
        guard try DirectoryListing.names(in: made).isEmpty, try made.ownership(of: made.status()) != .other
        else {
            throw SyncError(.locked, path: path, "another directory has just taken this path; run again")
        }
        directory = made
        self.made = location
        try lock()
    }

    mutating func makeState() throws -> StateDirectory {
        if let state { return state }
        guard let directory else { throw SyncError(.failed, path: path, "it does not exist") }
        let made = try StateDirectory.make(in: directory)
        try lock(made)
        state = made
        stateWasMade = true
        try lockFile.take(in: made, of: path)
        return made
    }

    /// Finds the state again. Call it after the state was moved.
    mutating func findState() throws {
        state = try directory.flatMap { try StateDirectory(of: $0) }
    }

    /// Call it after an exchange, with the directory that has the target's name now.
    mutating func becomes(_ tree: Directory) {
        directory = tree
    }

    /// Removes everything that this run created before its commit, except a second tree.
    mutating func unmake() throws {
        guard let directory else { return }
        try moveState(beside: stateWasBeside)
        // An undone commit may have moved files of others into the state.
        guard let state, stateWasMade, try state.transactions().isEmpty else {
            try state?.clean()
            return
        }
        try state.removeAll(from: directory)
        if let made {
            guard let status = try made.directory.trueStatus(of: made.name),
                try status.isSameObject(as: directory.trueStatus())
            else { return }
            try made.directory.removeDirectory(made.name)
        } else if let original, stateWasMade {
            let handle = try ObjectHandle(of: directory)
            try handle.setModified(original.modified)
        }
    }
}
