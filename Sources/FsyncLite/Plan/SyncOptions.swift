import FileSystem

/// The options of a plan and a run.
public struct SyncOptions: Hashable, Sendable {
    /// Take over a target with files that fsync-lite did not write.
    public var adopt = false
    /// Mirror an empty source over a target that has entries.
    public var allowEmptySource = false
    /// Accept another source than last time.
    public var changeSource = false
    /// Refuse a target without a manifest of ours, or on another file system than last time. A job's target exists,
    /// unless its disk is missing.
    public var expectsTarget = false
    /// With `expectsTarget`: accept another file system than last time.
    public var changeTarget = false
    /// The targets of this user. They are searched before a new target is begun; nil for none.
    public var knownTargets: KnownTargets?
    /// With `knownTargets`: begin a new target if a known one is not at its place.
    public var acceptsNewTarget = false
    /// Create missing parent directories of the target.
    public var createParents = false
    /// Refuse a plan that deletes more than this.
    public var deleteLimit = DeleteLimit.half
    /// Remove most of the history, by new rules of retention.
    public var allowsRemoval = false
    /// Delete no entry. A plan is refused if an entry replaces a directory that is not empty.
    public var keepsDeleted = false
    /// Delete other targets in the tree of the target, with their history.
    public var deletesTargets = false
    /// Commit what can be mirrored and list the rest.
    public var keepGoing = false
    /// Commit only if no file changed while it was copied.
    public var strict = false

    /// Build the complete new tree beside the target and swap it in with one rename.
    public var exchanges = false

    /// Write also to a file system on which a power cut can leave half a commit.
    public var allowsWeakCommit = false

    /// The mirrored attributes, in addition to content, type, mode and modification time.
    public var attributes = MirroredAttributes.all
    /// Compare the content of files with equal size and modification time, even if the manifest shows no change.
    public var comparesContent = false
    /// Read the target's state from the manifest instead of a scan, and check only what is to be changed.
    public var trustsManifest = false
    /// Record a digest of every file's content, except of files with large holes.
    public var recordsDigests = false
    /// With `recordsDigests`: also of files with large holes.
    public var recordsAllDigests = false
    /// Record no digests, although earlier runs did. Later runs record none either.
    public var forgetsDigests = false
    /// Read staged content back from the disk before the commit.
    public var verifiesCopies = false
    /// Copy a source file even if it changed since it was recorded and its size and modification time did not.
    public var trustsSource = false
    /// Inodes of the target's objects to compare by content. No other object is mirrored.
    package var repairs: Set<UInt64> = []

    /// The most threads that read or copy at a time, at least one. With nil, `defaultThreads` copy, and as many read
    /// directories as wait for the disk.
    public var threads: Int?
    /// One per processor, at most 16.
    public static let defaultThreads = Processors.defaultThreads
    /// The bytes of holes up to which a file gets a digest. Content that is read back is compared by the digest.
    var mostHoles: Int64 { recordsAllDigests || verifiesCopies ? .max : ContentHash.mostHoles }
    var copyThreads: Int { threads ?? SyncOptions.defaultThreads }

    /// The rules that decide whether an entry is covered.
    public var filters = Filters()
    /// Delete excluded entries from the target.
    public var deletesExcluded = false

    /// Bytes of content copied per second, more than zero; nil for no limit.
    public var bandwidth: ByteCount?
    /// The rules for snapshots after the run.
    public var retention = RetentionOptions()

    public init() {}

    /// The rule for digests that is stored with the target after this run.
    ///
    /// - Parameter stored: the rule before.
    func digestRule(over stored: DigestRule?) -> DigestRule? {
        recordsDigests ? recordsAllDigests ? .all : .usual : forgetsDigests ? nil : stored
    }

    /// Takes the target's rule for digests, unless an option sets another.
    mutating func remember(_ stored: DigestRule?) {
        let rule = digestRule(over: stored)
        (recordsDigests, recordsAllDigests) = (rule != nil, rule == .all)
    }

    /// Whether a run commits no change because of a problem.
    package func stops(for problem: Problem) -> Bool {
        problem.code == .changing ? strict : problem.isOfWholeEntry && !keepGoing
    }

    /// Only root sets owners.
    var settableAttributes: MirroredAttributes {
        Account.isRoot ? attributes : attributes.subtracting(.owner)
    }
}
