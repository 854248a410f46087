import FileSystem

/// Which files may be taken for equal because size and modification time are.
///
/// An edit that puts size and time back still moves the change time (ctime), which nobody can set. A file
/// whose change time is not accounted for is *suspect*: its content is compared.
package struct Trust: Sendable {
    /// When the scan behind the manifest began.
    package var scanned: FileTime
    /// When the last run that looked at the whole source and ended well began its scan; never before `scanned`.
    package var verified: FileTime
    /// When the last one that looked at the whole target did.
    package var targetVerified: FileTime
    /// When the last commit had done its last operation.
    package var committed: FileTime
    /// Until when every change of a file that an exchange linked is accounted for.
    package var linked: FileTime?
    /// The source's change times come from this machine's clock, as those of a network's file system do not.
    package var sharesClock: Bool

    package init(
        scanned: FileTime, verified: FileTime?, targetVerified: FileTime? = nil, committed: FileTime,
        linked: FileTime? = nil, sharesClock: Bool = false
    ) {
        self.scanned = scanned
        self.verified = max(scanned, verified ?? scanned)
        self.targetVerified = targetVerified ?? self.verified
        self.committed = committed
        self.linked = linked
        self.sharesClock = sharesClock
    }

    /// A change of the target since somebody last looked, unless the last commit made it: by its operations,
    /// or by staging the file (born after the scan began), or an exchange by linking it.
    package func suspectsTarget(_ status: FileStatus) -> Bool {
        guard status.changed >= targetVerified else { return false }
        // What the commit moved or gave attributes is compared once more: somebody may have edited it then.
        let isOurs = status.created.map { $0 >= scanned } ?? false
        return isOurs ? status.changed >= committed : linked.map { status.changed >= $0 } ?? true
    }

    /// The change time in the record of a file that the last run could not look at: no file has it, and nothing
    /// vouches for this one.
    package static let unexamined = FileTime(seconds: 0, nanoseconds: 0)

    /// A change so late that a second one may have had the same time, or one that is not in the manifest and
    /// that the last good run has not seen either.
    package func suspectsSource(_ status: FileStatus, record: FileStatus) -> Bool {
        if status.changed >= verified || record.changed == Trust.unexamined { return true }
        return status.changed != record.changed && !sharesClock
    }
}
