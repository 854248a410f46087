import FileSystem

/// The directory that becomes the mirror, or the place where it will be made.
struct TargetRoot {
    let path: [UInt8]
    /// nil while it does not exist.
    private(set) var directory: Directory?
    private(set) var state: TargetState?
    /// The root as this run found it.
    let original: FileStatus?
    /// Where this run made it; removed again if it comes to nothing.
    private var made: LocalFile.Place?
    private var stateWasMade = false

    init(_ path: [UInt8]) throws {
        self.path = path
        let directory = try TargetRoot.openIfPresent(path)
        self.directory = directory
        original = try directory?.status()
        state = try directory.flatMap { try TargetState(of: $0) }
    }

    private static func openIfPresent(_ path: [UInt8]) throws(SyncError) -> Directory? {
        do {
            return try LocalFile(bytes: path).directory()
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
    }

    /// The nearest directory that exists: the target, or what will hold it.
    func anchor() throws -> Directory {
        if let directory { return directory }
        var ancestor = LocalFile(bytes: path).parent
        while try !ancestor.exists { ancestor = ancestor.parent }
        return try ancestor.directory()
    }

    /// Whether the directory that will hold the target exists.
    func hasParent() throws -> Bool {
        try directory != nil || LocalFile(bytes: path).parent.isDirectory
    }

    /// Takes the lock on the target's root, which ends with the process or with this value.
    ///
    /// - Throws: `SyncError` with code `locked` while another run has it.
    func lock() throws {
        guard let directory else { return }
        do {
            try directory.lock()
        } catch  where error.errno == .wouldBlock {
            throw SyncError(.locked, path: path, "another fsync-lite is writing to this target")
        }
        // RACE: the path led to another directory before the lock was taken. Two runs would then write to
        // what each takes for the target.
        guard try LocalFile(bytes: path).directory().status().identity == directory.status().identity else {
            throw SyncError(.locked, path: path, "another directory took this place just now; run again")
        }
    }

    /// Makes the target where it is missing, locked.
    mutating func make(parents: Bool) throws {
        guard directory == nil else { return }
        let file = LocalFile(bytes: path)
        if parents { try file.parent.makeDirectory(parents: true) }
        let place = try file.place()
        do throws(SystemError) {
            try place.directory.makeDirectory(place.name)
        } catch {
            guard error.errno == .exists else { throw error }
            if try place.directory.status(of: place.name)?.type == .symlink {
                throw SyncError(
                    .refused, path: path, "this symlink leads nowhere; make the directory it names")
            }
            throw SyncError(.locked, path: path, "another run made this just now; run again")
        }
        // RACE: it is opened in the directory in which it was made and not by its path, which may lead elsewhere
        // by now: the whole mirror would be written there.
        let made = try place.directory.directory(place.name)
        guard try made.status().owner == Account.effectiveUser, try DirectoryListing.names(in: made).isEmpty
        else {
            throw SyncError(.locked, path: path, "another directory took this place just now; run again")
        }
        directory = made
        self.made = place
        try lock()
    }

    mutating func makeState() throws -> TargetState {
        if let state { return state }
        guard let directory else { throw SyncError(.failed, path: path, "it does not exist") }
        let made = try TargetState.make(in: directory)
        state = made
        stateWasMade = true
        return made
    }

    /// Takes the state away when all is done: what is left is a directory like any other.
    func leaveBare() throws {
        guard let directory, let state else { return }
        let handle = try ObjectHandle(of: directory)
        let modified = try handle.status().modified
        try state.removeAll(from: directory)
        try handle.setModified(modified)
        try directory.syncFileSystem()
    }

    /// Takes back what this run made before its commit: the old target stands as it was.
    func withdraw() throws {
        guard let directory else { return }
        if let state, stateWasMade {
            try state.removeAll(from: directory)
        } else {
            try state?.clean()
        }
        if let made {
            guard try made.directory.status(of: made.name)?.identity == directory.status().identity else {
                return
            }
            try made.directory.removeDirectory(made.name)
        } else if let original, stateWasMade {
            let handle = try ObjectHandle(of: directory)
            try handle.setModified(original.modified)
        }
    }
}
