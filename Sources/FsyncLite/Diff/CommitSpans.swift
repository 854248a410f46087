import FileSystem

/// Which change times of the target's objects are known to be the work of a commit or an exchange.
///
/// A commit moves the change time of what it touches, and its manifest is written before. So an entry that it touched
/// has no change time of the target on record: until the next manifest has one, the time must lie in the commit.
package struct CommitSpans: Hashable, Sendable {
    package var spans: [Range<FileTime>]

    package init(spans: [Range<FileTime>]) {
        self.spans = spans
    }

    package func accounts(for changed: FileTime) -> Bool { spans.contains { $0.contains(changed) } }

    /// The change time in the record of a file that the last run could not look at: no file has it, so the file is
    /// compared.
    package static let unexamined = FileTime(seconds: 0, nanoseconds: 0)
}
