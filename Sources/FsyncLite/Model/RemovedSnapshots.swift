import FileSystem

/// Snapshots that are removed, or would be.
public struct RemovedSnapshots: Sendable, CustomStringConvertible {
    /// Newest first.
    public var ids: [String] = []
    package var labels: [String] = []
    /// When the runs began that made them, as far as it is known.
    var created: [Timestamp] = []
    /// Bytes of content that are free afterwards.
    public var bytes: ByteCount = 0

    /// Such as `6 snapshots (2026-11-19 to 2026-11-24)`.
    public var description: String {
        let days = created.map { $0.localText.prefix(10) }
        let count = Amount.of(ids.count, "snapshot")
        guard let first = days.min(), let last = days.max() else { return count }
        return first == last ? "\(count) (\(first))" : "\(count) (\(first) to \(last))"
    }
}
