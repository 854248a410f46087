import FileSystem

/// Makes space for a run by removing parts of the history. The old trees of exchanges are first. Then one snapshot at a
/// time follows, oldest first, down to the last step. Labelled snapshots are kept.
struct HistorySpace {
    /// Files that are removed at once, by the names shown to people, and the bytes that are certain to be freed.
    struct Part {
        var names: [String]
        var bytes: ByteCount = 0
        var inodes: Int64 = 0
    }

    private let state: StateDirectory
    private let directory: Directory

    init?(_ root: TargetRoot) {
        guard let state = root.state, let directory = root.directory else { return nil }
        (self.state, self.directory) = (state, directory)
    }

    // MARK: Finding

    /// The parts to remove to end a shortage; nil if all removable parts are not enough.
    func parts(for shortage: Shortage) throws -> [Part]? {
        var parts: [Part] = []
        var left = shortage
        var released = try ReleasedSpace(directory)
        func take(_ part: Part) {
            parts.append(part)
            left.bytes = left.bytes - part.bytes
            left.inodes -= part.inodes
        }
        let trees = try oldTrees()
        if !trees.isEmpty {
            var part = Part(names: trees.map { "\(StateEntry.trees.name)/\($0)" })
            if let trees = try state.trees() { try released.count(trees, into: &part) }
            take(part)
        }
        let history = try History(state)
        guard history.damage == nil else { return left.isOver ? parts : nil }
        var users: [FileName: Int] = [:]
        for step in history.steps { for name in step.directories { users[name, default: 0] += 1 } }
        let snapshots = try history.snapshots()
        var isOldest = true
        for index in snapshots.indices.dropFirst(Retention.lastSteps).reversed() where !left.isOver {
            guard snapshots[index].label == nil else {
                isOldest = false
                continue
            }
            var part = Part(names: [snapshots[index].id])
            // A snapshot in between is joined to a newer one, and the freed bytes are not known in advance.
            for name in history.steps[index - 1].directories where isOldest {
                users[name, default: 0] -= 1
                guard users[name] == 0 else { continue }
                if let root = try state.history(), try root.status(of: name) != nil {
                    try released.count(root.directory(name), into: &part)
                }
            }
            take(part)
        }
        return left.isOver ? parts : nil
    }

    private func oldTrees() throws -> [FileName] {
        var names: [FileName] = []
        if let trees = try state.trees() { names += try DirectoryListing.names(in: trees) }
        if let trees = try SubvolumeTrees(of: directory) {
            names += try DirectoryListing.names(in: trees.directory)
        }
        return names.sorted()
    }

    /// Free bytes plus those staged by interrupted runs, which are used again or removed.
    static func info(_ root: TargetRoot) throws -> FileSystemInfo {
        var info = try FileSystemInfo(of: root.anchor())
        info.availableBytes += try root.state?.stagedBytes() ?? 0
        return info
    }

    // MARK: Removing

    /// Removes the old trees of exchanges, also in their grace period.
    func removeOldTrees() throws {
        let now = FileTime(seconds: .max, nanoseconds: 0)
        _ = try RetiredTree.reduce(in: state, displaced: now, looked: nil)
        _ = try SubvolumeTrees(of: directory)?.reduce(in: state, displaced: now)
    }

    /// Removes the next part. Some file systems show freed space only after a sync.
    ///
    /// - Parameter allowed: the names that may be removed; nil for any.
    /// - Returns: the removed names; empty if none may be removed.
    func give(_ allowed: Set<String>?) throws -> [String] {
        let trees = try oldTrees().map { "\(StateEntry.trees.name)/\($0)" }
        var gone: [String] = []
        if !trees.isEmpty, allowed?.isSuperset(of: trees) ?? true {
            try removeOldTrees()
            gone = trees
        } else if let id = try Retention(state).removeOldest(where: { allowed?.contains($0) ?? true }) {
            gone = [id]
        }
        if !gone.isEmpty { try directory.syncFileSystem() }
        return gone
    }
}

/// Adds up freed space. An object is counted with its last name, and only bytes that no other file shares.
private struct ReleasedSpace {
    private let mayShareBlocks: Bool
    /// The number of names seen so far of objects with several, by inode.
    private var seen: [UInt64: UInt32] = [:]

    init(_ root: Directory) throws {
        mayShareBlocks = try FileSystemInfo(of: root).mayShareBlocks
    }

    mutating func count(_ directory: Directory, into part: inout HistorySpace.Part) throws {
        let scan = try TreeScan(directory, TreeScan.Options(toleratesUnreadable: true))
        let resolver = PathResolver(directory)
        part.inodes += 1
        while try scan.advance() {
            let status = scan.status
            // Objects that a recovery moved there are not removed.
            if scan.path.components.first?.starts(with: TransactionEntry.conflicts.bytes) ?? true { continue }
            if status.isMultiplyLinked {
                let names = seen[status.inode, default: 0] + 1
                seen[status.inode] = names
                guard names == status.links else { continue }
            }
            part.inodes += 1
            part.bytes += try bytes(of: scan.path, status, resolver)
        }
    }

    private func bytes(of path: RelativePath, _ status: FileStatus, _ resolver: PathResolver) throws
        -> ByteCount
    {
        guard mayShareBlocks, status.allocated > 0 else { return status.allocated }
        guard status.type == .file, let (directory, name) = try resolver.location(of: path) else { return 0 }
        do {
            return try directory.open(name, [.read, .noFollow, .nonBlocking]).exclusiveBytes()
        } catch is Errno {
            return 0
        } catch let error as SystemError where error.errno == .accessDenied {
            return 0
        }
    }
}
