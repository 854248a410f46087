import FileSystem

/// Which files may be taken for equal because size and modification time are.
///
/// An edit that puts size and time back still moves the change time (ctime), which nobody can set. A file
/// whose change time is not accounted for is *suspect*: its content is compared.
package struct Trust: Sendable {
    /// When the scan behind the manifest began.
    package var scanned: FileTime
    /// When the last run that looked at everything and ended well began its scan; never before `scanned`.
    package var verified: FileTime
    /// Between these two the last commit itself changed the target.
    package var committed: ClosedRange<FileTime>

    package init(scanned: FileTime, verified: FileTime?, committed: ClosedRange<FileTime>) {
        self.scanned = scanned
        self.verified = max(scanned, verified ?? scanned)
        self.committed = committed
    }

    /// A change of the target since somebody last looked, unless the last commit made it: by its operations,
    /// or by staging the file (born after the scan began).
    package func suspectsTarget(_ status: FileStatus) -> Bool {
        guard status.changed >= verified else { return false }
        // What the commit moved or gave attributes is compared once more: somebody may have edited it then.
        let isOurs = status.created.map { $0 >= scanned } ?? false
        return status.changed >= committed.upperBound || !isOurs
    }

    /// Another change time than the recorded one, or one so late that a second change may have had the same.
    package func suspectsSource(_ status: FileStatus, record: FileStatus) -> Bool {
        status.changed != record.changed || status.changed >= verified
    }
}
