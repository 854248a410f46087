import FileSystem

/// What is compared, and which evidence counts.
package struct ComparisonPolicy: Sendable {
    /// nil without a manifest (then `alwaysComparesContent` decides) and between two manifests.
    package var commitSpans: CommitSpans?
    /// The source keeps inode numbers and change times; otherwise path, size and modification time decide, and renames
    /// are not followed.
    package var keepsIdentity = true
    /// The target is not scanned: its entries are taken to be as recorded.
    package var trustsTarget = false
    /// Old trees of exchanges exist; their removal moves the change times of files with several names.
    package var hasOldTrees = false
    package var racyCheck: RacyCheck?
    /// Probes the files that it finds racy, as they are read; nil where nothing is read.
    var probes: SettlingProbes?
    /// Files of the base that changed since then may have been read before they were on the disk, which has lost power
    /// since; nil where it has not.
    package var lastingUntil: FileTime?
    /// Entries of the target that the manifest lacks may have been excluded before, so they are no drift.
    package var mayWiden = false
    /// The filters of the manifest, if they decide by path alone; else nil.
    package var earlierFilters: Filters?
    /// Every file that looks equal is compared by content, as there is no manifest.
    package var alwaysComparesContent = false
    /// Without owner where only root could set it.
    package var attributes = MirroredAttributes.all
    /// The target is a copy of the one that the manifest is of: inodes prove nothing there, and are recorded anew.
    package var targetIsCopy = false
    /// Nanoseconds between two modification times that the target can tell apart.
    package var timeStep: Int64 = 1
    /// The target keeps change times; otherwise size and modification time tell of an edit there.
    package var usesTargetChangeTime = true
    /// The target keeps inode numbers; otherwise size and modification time tell of another object there.
    package var keepsTargetInodes = true
    /// The streams provide extended attributes; otherwise they are read wherever the base does not vouch for them.
    package var knowsExtended = false
    /// Extended attributes are always read: the base was recorded without them.
    package var alwaysInspects = false
    /// The maximum number of names of a file in the target; nil for no limit.
    package var linkLimit: UInt32?
    /// Of a source that is an older list of the target; nil for any other.
    package var earlier: Earlier? { didSet { pairsByNumber = earlier != nil } }
    /// Entries are paired by the numbers of their objects, not by the identity of the source's object, and content is the
    /// same exactly if the object is the recorded one: the source is an older list. Stored, as it is asked for every entry.
    private(set) var pairsByNumber = false
    /// Inodes of the target's objects that are compared by content even if the base vouches for them.
    package var suspects: Set<UInt64> = []
    /// The base's inodes and birth times are those of the present source.
    package var followsIdentity = true
    /// Whether an entry of the source and an object of the target, by their paths, are of one file system; nil for all.
    package var haveSameDomain: (@Sendable (_ source: RelativePath, _ target: RelativePath) -> Bool)?
    /// Both trees are of this machine and no object may be in both: a mirror that is a hard link to its source is no copy.
    package var replacesShared = false
    /// Two trees are compared without a manifest: the target is its own base, and nothing is recorded.
    package var targetIsBase = false
    package var merging = Merging()

    /// Which entries take part in the merge, and what it finds besides differences.
    package struct Merging: Sendable {
        /// Excluded entries are deleted from the target.
        var deletesExcluded = false
        /// Which names the target does not tell apart.
        package var folding = NameFolding.Kind.none
        /// Entries are also counted for each directory at the top, which is a source.
        package var countsTops = false
        /// The maximum memory of new entries, in bytes: it bounds what another machine can send.
        var arrivalMemory = Int.max
    }

    /// Whether an entry of the source and an object of the target may be one object if their identities are equal: inodes
    /// may be equal by chance, of several file systems or after a change by hand.
    func mayBeSame(_ source: RelativePath, _ target: RelativePath) -> Bool {
        haveSameDomain?(source, target) ?? true
    }

    /// What an entry of the source and a recorded object have in common where they are one.
    func key(_ status: FileStatus, _ object: UInt64) -> FileIdentity {
        pairsByNumber ? FileIdentity(ofObject: object) : status.identity
    }

    func key(of file: File) -> FileIdentity { key(file.status, file.object) }
    func key(of base: BaseEntry) -> FileIdentity { key(base.status, base.object) }

    /// What is known of an older list.
    package struct Earlier: Sendable {
        /// Uncovered entries that it covers, by their present path; nil where filters decide.
        var recovered: Set<RelativePath>?
        /// Its paths that its manifest did not cover.
        var uncovering: Set<RelativePath> = []
        /// Names that are left out now, of objects that it has.
        var leftOutNames: [RelativePath: UInt64] = [:]
    }

    package init() {}

    /// Paths that become uncovered.
    var uncovering: Set<RelativePath> { earlier?.uncovering ?? [] }

    /// A file of the target that was changed there is still the one that was recorded, and moves back in an earlier tree.
    func followsEdited(_ path: RelativePath) -> Bool {
        earlier.map { !($0.recovered?.contains(path) ?? false) } ?? false
    }

    /// Whether an entry of the target that the manifest lacks may have been uncovered when that was written.
    func mayHaveBeenExcluded(_ path: RelativePath, _ type: FileType) -> Bool {
        guard mayWiden, let earlierFilters else { return mayWiden }
        return earlierFilters.excludes(path, type)
    }
}

extension ComparisonPolicy {
    /// The status of a new entry that this user could not read as its owner in the target, with the right to; nil for
    /// any other.
    package func opened(_ status: FileStatus) -> FileStatus? {
        var open = status
        return !attributes.contains(.owner) && attributes.contains(.mode)
            && open.open(to: Account.effectiveUser) ? open : nil
    }
}
