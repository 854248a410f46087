import FileSystem

/// Snapshots that are removed, or that a run would remove.
public struct RemovedSnapshots: Sendable, CustomStringConvertible {
    /// Newest first.
    public var ids: [String] = []
    package var labels: [String] = []
    /// The start times of the runs that made them, if known.
    var created: [Timestamp] = []
    /// The bytes of content that become free.
    public var bytes: ByteCount = 0

    /// For example `6 snapshots (2026-11-19 to 2026-11-24)`.
    public var description: String {
        let days = created.map { $0.localText.prefix(10) }
        let count = Amount.of(ids.count, "snapshot")
        guard let first = days.min(), let last = days.max() else { return count }
        return first == last ? "\(count) (\(first))" : "\(count) (\(first) to \(last))"
    }
}
