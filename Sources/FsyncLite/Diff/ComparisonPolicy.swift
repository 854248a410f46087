import FileSystem

/// What is compared, and how far it may be believed.
package struct ComparisonPolicy: Sendable {
    /// nil: nothing is racy (two manifests), which is decided by `alwaysComparesContent` otherwise.
    package var trust: CommitSpans?
    /// The source keeps change times; without it size and modification time decide.
    package var usesChangeTime = true
    /// The source keeps the inodes of its objects; without it nothing is followed, and paths decide.
    package var usesIdentity = true
    /// A moved change time alone compares attributes, not content.
    package var ignoresChangeTime = false
    /// Nobody looks at the target: its entries are taken to be the recorded ones.
    package var trustsTarget = false
    /// Trees of earlier exchanges stand, and will move the change times of files with other names when they go.
    package var hasOldTrees = false
    package var racyCheck: RacyCheck?
    /// What the target has and the manifest has not may have been excluded before: it was not brought since.
    package var mayWiden = false
    /// The filters that the manifest was made with, as far as they decide by paths alone; nil for others.
    package var earlierFilters: Filters?
    /// Of what takes no part now, where that stands which does in the earlier tree; nil where filters decide.
    package var recovered: Set<RelativePath>?
    /// Paths of the source, an earlier tree, that its manifest did not have.
    package var uncovering: Set<RelativePath> = []
    /// Without a manifest every file that looks equal is compared by content.
    package var alwaysComparesContent = false
    /// Without owner where only root could set it.
    package var attributes = MirroredAttributes.all
    /// The streams know the extended attributes of their entries; else they are looked up where nothing vouches
    /// for what the record says of them.
    package var knowsExtended = false
    /// Nothing vouches for them: the record was made without them.
    package var alwaysInspects = false
    /// The target tells names apart neither by case nor by Unicode form.
    package var foldsNames = false
    /// How many names a file of the target can have; nil where that is no matter.
    package var linkLimit: UInt32?
    /// What is excluded goes from the target.
    package var deletesExcluded = false
    /// The source is an earlier tree of the target: an object that is the recorded one holds the same content, and
    /// no other does.
    package var identityTellsContent = false
    /// Objects of the target, by inode, that are compared by content whatever vouches for them.
    package var suspects: Set<UInt64> = []
    /// Inode and birth time of the record belong to the source that is looked at.
    package var followsIdentity = true
    /// The target tells what is recorded of it, and no record is kept: two trees are compared, and nothing mirrored.
    package var isRecordItself = false

    package init() {}

    /// Whether an entry of the target that the manifest has not may have taken no part when that was made.
    func mayHaveBeenExcluded(_ path: RelativePath, _ type: FileType) -> Bool {
        guard mayWiden, let earlierFilters else { return mayWiden }
        return earlierFilters.excludes(path, type)
    }
}
