import FileSystem

/// What a person may ask of a plan and an apply.
public struct SyncOptions: Hashable, Sendable {
    /// Take over a target that holds somebody's files.
    public var adopt = false
    /// Mirror an empty source over a target that has entries.
    public var allowEmptySource = false
    /// Accept another source than the one of last time.
    public var changeSource = false
    /// Make the directories that lead to the target.
    public var createParents = false
    /// Refuse a plan that deletes more.
    public var deleteLimit = DeleteLimit.half
    /// Delete nothing.
    public var keepsDeleted = false
    /// Commit what can be mirrored and list the rest.
    public var keepGoing = false
    /// Commit only if every file stood still while it was copied.
    public var strict = false

    /// Build the complete new tree beside the target and swap it in with one rename.
    public var exchanges = false
    /// Then share blocks of unchanged files instead of linking them.
    public var clonesUnchanged = false

    /// What is mirrored besides content, kind, mode and modification time.
    public var attributes = MirroredAttributes.all
    /// Compare the content of files whose size and modification time agree, whatever vouches for them.
    public var comparesContent = false
    /// Where only the change time of a source's file has moved, compare its attributes and not its content.
    public var ignoresChangeTime = false
    /// Take the manifest's word for what the target holds, and look only at what is to be changed.
    public var trustsManifest = false
    /// Record a digest of every file's content.
    public var recordsDigests = false
    /// Read what was staged once more, from the disk, before it is committed.
    public var verifiesCopies = false
    /// Copy also what is not as recorded in the source although its size and modification time are.
    public var trustsSource = false
    /// Objects of the target, by inode: what they hold is compared, and nothing else is mirrored.
    package var repairs: Set<UInt64> = []

    /// Threads that copy at the same time, at least one.
    public var threads = SyncOptions.defaultThreads
    /// One for each processor, but no more than a disk has use for.
    public static let defaultThreads = min(ThreadTeam.processors, 8)

    /// What takes part.
    public var filters = Filters()
    /// Delete from the target what is excluded.
    public var deletesExcluded = false

    /// Bytes of content copied per second, more than zero; nil for as fast as it goes.
    public var bandwidth: Int64?
    /// Which snapshots stay afterwards.
    public var retention = RetentionOptions()

    public init() {}

    /// Whether an apply commits nothing because of a problem.
    func stops(for problem: Problem) -> Bool {
        problem.code == .changing ? strict : problem.isOfWholeEntry && !keepGoing
    }

    /// Only root sets owners.
    var settableAttributes: MirroredAttributes {
        Account.isRoot ? attributes : attributes.subtracting(.owner)
    }
}
