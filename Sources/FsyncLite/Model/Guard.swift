import FileStorage

/// The reasons to refuse, with their names in documents. `Refusal` has the text and the way out of each.
public enum Guard: String, CaseIterable, Hashable, Sendable {
    // MARK: Sources
    case emptySource = "empty_source"
    case manyDeletions = "many_deletions"
    case manyRemovals = "many_removals"
    case otherSource = "other_source"
    case missingSource = "missing_source"
    case weakSourceAmongOthers = "weak_source_among_others"
    case rottenSource = "rotten_source"
    case overlap
    case tooManySources = "too_many_sources"
    case tooManyEntries = "too_many_entries"
    case disabledJob = "disabled_job"

    // MARK: The target
    case foreignTarget = "foreign_target"
    case unknownJobTarget = "unknown_job_target"
    case otherFileSystem = "other_file_system"
    case missingTarget = "missing_target"
    case noParent = "no_parent"
    case danglingTarget = "dangling_target"
    case insideState = "inside_state"
    case insideTarget = "inside_target"
    case renamedTarget = "renamed_target"
    case stateNameTaken = "state_name_taken"
    case projectOrEncryption = "project_or_encryption"
    case noTarget = "no_target"

    // MARK: The state of the target
    case unmarkedState = "unmarked_state"
    case stateOfOtherDirectory = "state_of_other_directory"
    case twoStates = "two_states"
    case oddStateEntry = "odd_state_entry"
    case mountedState = "mounted_state"
    case otherOwner = "other_owner"
    case writableState = "writable_state"
    case untrustedState = "untrusted_state"
    case noMark = "no_mark"

    // MARK: Entries of the target
    case mountInTarget = "mount_in_target"
    case fileSystemInTarget = "file_system_in_target"
    case targetInExchange = "target_in_exchange"
    case targetInTheWay = "target_in_the_way"
    case nameCollision = "name_collision"
    case excludedInTheWay = "excluded_in_the_way"
    case undeletedInTheWay = "undeleted_in_the_way"
    case locked
    case entryOfOther = "entry_of_other"

    // MARK: The file system
    case weakFileSystem = "weak_file_system"
    case readOnlyFileSystem = "read_only_file_system"
    case noSpace = "no_space"
    case noInodes = "no_inodes"
    case spaceForPrepared = "space_for_prepared"
    case exchangeImpossible = "exchange_impossible"

    // MARK: Restoring
    case otherSourceDirectory = "other_source_directory"
    case destinationIsTarget = "destination_is_target"
    case unfinishedRestore = "unfinished_restore"
    case occupiedDestination = "occupied_destination"
    case otherKind = "other_kind"
    case wouldOverwrite = "would_overwrite"
    case noSingleSource = "no_single_source"
    case fewerSnapshots = "fewer_snapshots"
    case nothingToLabel = "nothing_to_label"
    case neededSnapshot = "needed_snapshot"
    case notInSnapshot = "not_in_snapshot"

    // MARK: Mounting snapshots
    case missingMountPoint = "missing_mount_point"
    case occupiedMountPoint = "occupied_mount_point"
    case mountedMountPoint = "mounted_mount_point"
    case mountPointInTarget = "mount_point_in_target"
    case noFuse = "no_fuse"
    case mountForbidden = "mount_forbidden"
    case othersForbidden = "others_forbidden"

    // MARK: Other machines
    case notServed = "not_served"
    case openServedDirectory = "open_served_directory"
    case keyForbids = "key_forbids"

    // MARK: Files of others
    case unsafeFile = "unsafe_file"

    // MARK: Plans that were made before
    case changedSincePlan = "changed_since_plan"
    case changedSincePrepared = "changed_since_prepared"

    /// The code of the error that ends a run. The exit code follows from it.
    public var code: SyncError.Code {
        switch self {
        case .changedSincePlan, .changedSincePrepared: .stale
        case .notInSnapshot, .missingMountPoint: .inputMissing
        default: .refused
        }
    }
}

extension Guard {
    /// A safer step to try before the way out, which may make a mistake final; nil if nothing can be lost. The words
    /// SOURCE and TARGET in it are placeholders.
    var safeWay: String? {
        switch self {
        case .emptySource, .missingSource, .otherSource, .otherSourceDirectory, .unknownJobTarget,
            .otherFileSystem,
            .missingTarget, .noParent, .danglingTarget:
            "if a disk is missing: mount it, and run the same again"
        case .manyRemovals: "if that is not meant: leave the new rules out, and run the same again"
        case .manyDeletions: "if that is not meant: look into the source, and run the same again"
        case .rottenSource:
            "to find the good copy: fsync-lite manifest verify --source SOURCE TARGET TARGET. To restore FILE in the source: "
                + "fsync-lite snapshot restore TARGET latest FILE --to-source --overwrite"
        case .noSpace, .noInodes:
            "to choose the snapshots to remove: fsync-lite snapshot list TARGET"
        case .wouldOverwrite:
            "to compare the files first: restore to an empty directory, with --to"
        default: nil
        }
    }
}
