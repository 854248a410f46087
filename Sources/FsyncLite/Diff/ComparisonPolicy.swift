import FileSystem

/// The parts of two entries that are compared, and the evidence that is accepted.
package struct ComparisonPolicy: Sendable {
    /// nil without a manifest (then `alwaysComparesContent` decides) and between two manifests.
    package var commitSpans: CommitSpans?
    /// The source keeps inode numbers and change times. Otherwise path, size and modification time decide, and renames
    /// are not followed.
    package var keepsIdentity = true
    /// The target is not scanned: its entries are assumed to be those of the manifest.
    package var trustsTarget = false
    /// Old trees of exchanges exist; their removal moves the change times of files with several names.
    package var hasOldTrees = false
    package var racyCheck: RacyCheck?
    /// Probes the files that it finds racy, as they are read; nil if no file is read.
    var probes: SettlingProbes?
    /// Files that changed after this time are read again; nil if the disk has not lost power since. When the base was
    /// recorded, their content may not have been on the disk.
    package var lastingUntil: FileTime?
    /// Entries of the target that the manifest lacks may have been excluded before, so they are no edits.
    package var mayWiden = false
    /// The filters of the manifest, if they decide by path alone; else nil.
    package var earlierFilters: Filters?
    /// Every file that looks equal is compared by content, because there is no manifest.
    package var alwaysComparesContent = false
    /// Without owner if only root could set it.
    package var attributes = MirroredAttributes.all
    /// The target is a copy of the one that the manifest describes. Inodes prove nothing there, and are recorded anew.
    package var targetIsCopy = false
    /// The smallest difference of modification times in the target, in nanoseconds.
    package var timeStep: Int64 = 1
    /// The target has change times; otherwise size and modification time show an edit there.
    package var usesTargetChangeTime = true
    /// The target keeps inode numbers; otherwise size and modification time show another object there.
    package var keepsTargetInodes = true
    /// The streams provide extended attributes. Otherwise they are read, unless the base shows that they are unchanged.
    package var knowsExtended = false
    /// Extended attributes are always read: the base was recorded without them.
    package var alwaysInspects = false
    /// The maximum number of names of a file in the target; nil for no limit.
    package var linkLimit: UInt32?
    /// Facts about a source that is an older list of the target; nil for any other source.
    package var earlier: Earlier? { didSet { pairsByNumber = earlier != nil } }
    /// The source is an older list. Entries are paired by the numbers of their objects, not by the source's identity.
    /// Content is equal if and only if the object is the recorded one. Stored, because each entry asks for it.
    private(set) var pairsByNumber = false
    /// Inodes of the target's objects that are compared by content even if the base shows no change.
    package var suspects: Set<UInt64> = []
    /// The base's inodes and birth times are those of the present source.
    package var followsIdentity = true
    /// Whether an entry of the source and an object of the target, by their paths, are of one file system; nil for all.
    package var haveSameDomain: (@Sendable (_ source: RelativePath, _ target: RelativePath) -> Bool)?
    /// Both trees are on this machine, and no object may be in both: a hard link to the source is no copy.
    package var replacesShared = false
    /// Two trees are compared without a manifest. The target is its own base, and no manifest is written.
    package var targetIsBase = false
    package var merging = Merging()

    /// Which entries take part in the merge, and what it finds besides differences.
    package struct Merging: Sendable {
        /// Excluded entries are deleted from the target.
        var deletesExcluded = false
        /// The kinds of names that the target treats as equal.
        package var folding = NameFolding.Kind.none
        /// Entries are also counted for each directory at the top, which is a source.
        package var countsTops = false
        /// The maximum memory of new entries, in bytes. It bounds the entries that another machine can send.
        var arrivalMemory = Int.max
    }

    /// Whether an entry of the source and an object of the target with equal identities may be one object. Inodes of
    /// several file systems, or after a change by hand, may be equal by chance.
    func mayBeSame(_ source: RelativePath, _ target: RelativePath) -> Bool {
        haveSameDomain?(source, target) ?? true
    }

    /// The identity that an entry of the source and a recorded object share if they are one.
    func key(_ status: FileStatus, _ object: UInt64) -> FileIdentity {
        pairsByNumber ? FileIdentity(ofObject: object) : status.identity
    }

    func key(of file: File) -> FileIdentity { key(file.status, file.object) }
    func key(of base: BaseEntry) -> FileIdentity { key(base.status, base.object) }

    /// The facts about an older list.
    package struct Earlier: Sendable {
        /// Uncovered entries that the list covers, by their present path; nil if filters decide.
        var recovered: Set<RelativePath>?
        /// Paths of the list that its manifest did not cover.
        var uncovering: Set<RelativePath> = []
        /// Names that are left out now, of objects in the list.
        var leftOutNames: [RelativePath: UInt64] = [:]
    }

    package init() {}

    /// Paths that become uncovered.
    var uncovering: Set<RelativePath> { earlier?.uncovering ?? [] }

    /// A file that was edited in the target is still the recorded object, and moves back in an earlier tree.
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
    /// For a new entry that this user will own and could not read: the status with the right to read; else nil.
    package func opened(_ status: FileStatus) -> FileStatus? {
        var open = status
        return !attributes.contains(.owner) && attributes.contains(.mode)
            && open.open(to: Account.effectiveUser) ? open : nil
    }
}
