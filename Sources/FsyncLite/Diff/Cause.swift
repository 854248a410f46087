/// Why an action is in a plan: a closed list, as it stands in plans and reports.
public enum Cause: String, Sendable, CaseIterable, Comparable {
    /// The source has it and the target does not.
    case new
    /// The target has it and the source does not.
    case removed
    /// The same object, by inode and birth time, has another path in the source now.
    case renamed
    /// It is another kind of thing.
    case type
    case size
    /// The modification time.
    case modified
    /// The bytes, where size and modification time gave no hint.
    case content
    /// Where a symlink points.
    case destination
    /// What a device node stands for.
    case device
    case mode
    case owner
    case group
    /// Extended attributes.
    case xattrs
    /// POSIX ACLs.
    case acls
    /// Which other names are names of the same file.
    case links
    /// Somebody changed the target since the last apply.
    case drift

    public static func < (left: Cause, right: Cause) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int { Cause.allCases.firstIndex(of: self) ?? 0 }
}
