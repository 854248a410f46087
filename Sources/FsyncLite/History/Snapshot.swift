import FileStorage
import FileSystem

/// The tree after a commit.
public struct Snapshot: Hashable, Sendable {
    /// The id of the run that made it; `initial` for the tree that the first run found.
    public var id: String
    /// A short unique name, at least eight characters; see `SnapshotName`. It is accepted in place of `id`.
    public internal(set) var shortID: String
    /// When that run began; nil for `initial`.
    public var created: Timestamp?
    /// Seconds east of UTC on the machine when the run was planned; nil if not recorded.
    var utcOffset: Int64?
    /// The user's name for it.
    public var label: String?
    /// The changes of that run; nil if no longer known.
    public var summary: ActionSummary?
    /// Bytes of content that the run copied; nil if not known.
    public var copied: ByteCount?
    /// Duration of the run; nil if not known.
    public var seconds: Int64?
    /// Bytes of content that are stored only for this tree or older ones.
    public var bytesStored: ByteCount = 0
    /// The target's retention rules that keep it; empty if none does.
    public var reasons: [String] = []
    /// Why it cannot be restored; nil if it can.
    public var damage: String?

    package init(
        id: String, created: Timestamp? = nil, utcOffset: Int64? = nil, label: String? = nil,
        summary: ActionSummary? = nil, copied: ByteCount? = nil, seconds: Int64? = nil
    ) {
        (self.id, self.created, self.utcOffset) = (id, created, utcOffset)
        (self.label, self.summary, self.copied, self.seconds) = (label, summary, copied, seconds)
        shortID = SnapshotName.short(id)
    }

    static let initialID = "initial"
}
