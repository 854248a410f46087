import FileStorage
import FileSystem

/// An earlier tree of a target, to restore in the target itself or in another directory.
public struct Restoration: Hashable, Sendable {
    /// The target with the snapshot.
    public var target: [UInt8]
    /// The target's name in messages with a command; nil for its path.
    public var name: [UInt8]?
    /// An id or a prefix of one, `latest~1`, or a date.
    public var snapshot: String
    /// The wanted paths, with all entries below them; all paths if empty.
    public var paths: [RelativePath]
    /// The directory that gets a copy; nil for the target itself. For a whole tree it must be empty or missing.
    public var destination: [UInt8]?
    /// The destination is the target's source, and must be the directory that was mirrored.
    public var isToSource = false
    /// Paths with other content in the destination are replaced; otherwise they are refusals.
    public var overwrites = false
    /// Whether the target returns by an exchange; nil: if its last run was one.
    public var exchanges: Bool?
    /// Changes in the target since the last run are left in place and listed.
    public var keepsDrift = false
    /// The IDs of the runs that an undo takes back, the newest first, for its report.
    package var takesBack: [String] = []

    public init(target: [UInt8], snapshot: String, paths: [RelativePath] = [], destination: [UInt8]? = nil) {
        (self.target, self.snapshot, self.paths, self.destination) = (target, snapshot, paths, destination)
    }

    /// The fixed options of a restoration. All entries that it deletes are in the history, and can be restored.
    var options: SyncOptions {
        var options = SyncOptions()
        options.allowEmptySource = true
        options.deleteLimit = .unlimited
        options.keepGoing = true
        options.adopt = isBesideOthers
        return options
    }

    /// Paths are copied into a directory. Its other entries are left unchanged.
    var isBesideOthers: Bool { destination != nil && !paths.isEmpty }

    /// Locks the target against other runs until the root is released.
    func lockTarget() throws -> TargetRoot {
        let root = try TargetRoot(target)
        try root.lock()
        if try root.state?.hasJournal() ?? false { throw SyncError.pendingCommit(name ?? target) }
        return root
    }

    /// Recorded in the state of a copy. It shows a second run whether it makes the same copy.
    func copy(of snapshot: String) -> [UInt8] {
        Array(([Array(snapshot.utf8)] + paths.sorted().map(\.bytes)).joined(separator: [0]))
    }
}
