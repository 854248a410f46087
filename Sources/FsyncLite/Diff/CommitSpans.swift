import FileSystem

/// The time spans of commits and exchanges. They explain the change times of the target's objects.
///
/// A commit moves the change times of the objects that it touches, after its manifest is written. So the manifest has
/// no target change time for these entries. Until the next manifest records one, the time must be in the commit's span.
package struct CommitSpans: Hashable, Sendable {
    package var spans: [Range<FileTime>]
    /// The last run did not scan the target. It looked at the change times of files before it changed them, but not at
    /// those of their directories.
    package var isWithoutScan = false

    package init(spans: [Range<FileTime>]) {
        self.spans = spans
    }

    package func accounts(for target: FileStatus) -> Bool {
        !(isWithoutScan && target.type == .directory) && spans.contains { $0.contains(target.changed) }
    }
}
