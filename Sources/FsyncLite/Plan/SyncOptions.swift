import FileSystem

/// The options of a plan and an apply.
public struct SyncOptions: Hashable, Sendable {
    /// Take over a target that holds files which fsync-lite did not write.
    public var adopt = false
    /// Mirror an empty source over a target that has entries.
    public var allowEmptySource = false
    /// Accept another source than last time.
    public var changeSource = false
    /// Refuse a target that has no manifest of ours, or is on another file system than last time: a job's target is
    /// there, unless its disk is missing.
    public var expectsTarget = false
    /// With `expectsTarget`: accept another file system than last time.
    public var changeTarget = false
    /// The targets of this user, among which a target is looked up before it is begun; nil for none.
    public var knownTargets: KnownTargets?
    /// With `knownTargets`: begin a target where a known one is not there.
    public var acceptsNewTarget = false
    /// Create missing parent directories of the target.
    public var createParents = false
    /// Refuse a plan that deletes more than this.
    public var deleteLimit = DeleteLimit.half
    /// Remove most of the history, by new rules of retention.
    public var allowsRemoval = false
    /// Delete nothing; a plan in which something replaces a directory that is not empty is refused.
    public var keepsDeleted = false
    /// Delete other targets in the tree of the target, with their history.
    public var deletesTargets = false
    /// Commit what can be mirrored and list the rest.
    public var keepGoing = false
    /// Commit only if no file changed while it was copied.
    public var strict = false

    /// Build the complete new tree beside the target and swap it in with one rename.
    public var exchanges = false

    /// Write also to a file system that lacks what a commit needs to be all or nothing after a power cut.
    public var allowsWeakCommit = false

    /// What is mirrored besides content, type, mode and modification time.
    public var attributes = MirroredAttributes.all
    /// Compare the content of files whose size and modification time are equal, even if the manifest vouches for them.
    public var comparesContent = false
    /// Read the target's state from the manifest instead of a scan, and check only what is to be changed.
    public var trustsManifest = false
    /// Record a digest of every file's content, but of those with large holes.
    public var recordsDigests = false
    /// With `recordsDigests`: also of those.
    public var recordsAllDigests = false
    /// Record none, although the target remembers that earlier runs did; later runs record none, too.
    public var forgetsDigests = false
    /// Read staged content back from the disk before the commit.
    public var verifiesCopies = false
    /// Copy also source files that are not as recorded although their size and modification time are.
    public var trustsSource = false
    /// Inodes of the target's objects to compare by content; nothing else is mirrored.
    package var repairs: Set<UInt64> = []

    /// The most threads that read or copy at a time, at least one. nil copies with `defaultThreads`, and reads
    /// directories with as many as wait for the disk.
    public var threads: Int?
    /// One per processor, at most 16.
    public static let defaultThreads = Processors.defaultThreads
    /// The bytes of holes up to which a file gets a digest. What is read back is compared by it.
    var mostHoles: Int64 { recordsAllDigests || verifiesCopies ? .max : ContentHash.mostHoles }
    /// The threads that copy and compare.
    var copyThreads: Int { threads ?? SyncOptions.defaultThreads }

    /// Which entries are covered.
    public var filters = Filters()
    /// Delete excluded entries from the target.
    public var deletesExcluded = false

    /// Bytes of content copied per second, more than zero; nil for no limit.
    public var bandwidth: ByteCount?
    /// Which snapshots are kept afterwards.
    public var retention = RetentionOptions()

    public init() {}

    /// The rule that is stored with the target after this run.
    ///
    /// - Parameter kept: the one before.
    func digestRule(over kept: DigestRule?) -> DigestRule? {
        recordsDigests ? recordsAllDigests ? .all : .usual : forgetsDigests ? nil : kept
    }

    /// Takes over what the target remembers.
    mutating func remember(_ kept: DigestRule?) {
        let rule = digestRule(over: kept)
        (recordsDigests, recordsAllDigests) = (rule != nil, rule == .all)
    }

    /// Whether an apply commits nothing because of a problem.
    package func stops(for problem: Problem) -> Bool {
        problem.code == .changing ? strict : problem.isOfWholeEntry && !keepGoing
    }

    /// Only root sets owners.
    var settableAttributes: MirroredAttributes {
        Account.isRoot ? attributes : attributes.subtracting(.owner)
    }
}
