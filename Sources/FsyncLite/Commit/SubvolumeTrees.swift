import FileStorage
import FileSystem

/// `.NAME.fsync-lite-trees` beside a target that is a subvolume: snapshots that will get the target's name and, for a
/// grace period, trees that had it before. Each is named after the time of its snapshot.
struct SubvolumeTrees {
    let directory: Directory
    private let target: Directory
    private let location: (parent: Directory, name: FileName)

    /// nil if there are none.
    init?(of target: Directory) throws {
        guard try target.isSubvolume(), let (parent, name) = try target.location(),
            let own = StateDirectory.treesName(beside: name),
            // The same rules as for a state: it is this user's, was not mirrored, and is not writable for others.
            let found = try StateDirectory(beside: own, in: parent)
        else { return nil }
        directory = found.directory
        self.target = target
        location = (parent, own)
    }

    /// Creates the directory, and removes the remains of interrupted runs.
    init(for target: Directory, at location: (parent: Directory, name: FileName)) throws {
        try SubvolumeTrees(of: target)?.removeUnfinished()
        if let own = StateDirectory.treesName(beside: location.name),
            try location.parent.status(of: own) == nil
        {
            try location.parent.makeDirectory(own)
            try location.parent.directory(own).markAsState()
        }
        guard let made = try SubvolumeTrees(of: target) else {
            throw SyncError(.failed, path: target.path, "the target is being moved; run again")
        }
        self = made
    }

    /// Removes the snapshots of the present target. Only interrupted runs have worked on them.
    func removeUnfinished() throws {
        let own = try target.subvolumeID().own
        for name in try DirectoryListing.names(in: directory) {
            guard let tree = try subvolume(name), try tree.subvolumeID().origin == own else { continue }
            try remove(name)
        }
        try removeIfEmpty()
    }

    /// Removes the trees whose grace period is over.
    ///
    /// - Parameter displaced: only trees whose snapshots were made before this time.
    /// - Returns: the new paths of objects that were added to a tree after its snapshot was made.
    func reduce(in state: StateDirectory, displaced: FileTime) throws -> [[UInt8]] {
        try removeUnfinished()
        var lateObjects: [[UInt8]] = []
        for name in try DirectoryListing.names(in: directory).sorted() {
            guard let created = TransactionID.time(of: name), created < displaced,
                let tree = try subvolume(name)
            else { continue }
            if try hasLateChanges(tree, since: created) {
                try TreeRemoval.remove(name, in: directory) { $0.changed < created }
                lateObjects.append(try keep(name, tree, in: state))
            }
            try remove(name)
        }
        try removeIfEmpty()
        return lateObjects
    }

    private func hasLateChanges(_ tree: Directory, since created: FileTime) throws -> Bool {
        let scan = try TreeScan(tree, .target)
        var isLate = false
        while try scan.advance() {
            isLate = isLate || scan.status.type != .directory && scan.status.changed >= created
        }
        guard let mount = scan.findings.mounts.first else { return isLate }
        throw SyncError(
            .failed, path: tree.path + [UInt8(ascii: "/")] + mount.path.bytes,
            "this is a mount or a subvolume in an old tree; unmount it or move it away")
    }

    /// Copies a tree into the history, because no rename crosses the boundary of a subvolume.
    private func keep(_ name: FileName, _ tree: Directory, in state: StateDirectory) throws -> [UInt8] {
        let trash = try state.makeTrash()
        try TreeRemoval.remove(name, in: trash)
        try trash.makeDirectory(name)
        try LinkedCopy(
            of: tree, in: trash.directory(name), for: Difference(), scanned: .now,
            monitor: SilentMonitor()
        ).fill()
        try trash.syncFileSystem()
        return try RetiredTree.keep(name, from: trash, in: state)
    }

    private func subvolume(_ name: FileName) throws -> Directory? {
        guard try directory.status(of: name)?.type == .directory else { return nil }
        let found = try directory.directory(name)
        return try found.isSubvolume() ? found : nil
    }

    private func remove(_ name: FileName) throws {
        do throws(SystemError) {
            try directory.removeSubvolume(name)
        } catch {
            guard [.notPermitted, .accessDenied].contains(error.errno) else { throw error }
            // The owner of a subvolume may empty it, even if only root may remove it.
            try TreeRemoval.remove(name, in: directory)
        }
    }

    private func removeIfEmpty() throws {
        guard try DirectoryListing.names(in: directory).isEmpty else { return }
        try location.parent.removeDirectory(location.name)
    }
}
