import FileStorage
import FileSystem

/// The tree after a commit.
public struct Snapshot: Hashable, Sendable {
    /// The id of the apply that made it; `initial` for what the first one found.
    public var id: String
    /// A name of it that tells it from the others at the front, at least eight characters; stands wherever `id` may.
    public internal(set) var shortID: String
    /// When that apply began; nil for `initial`.
    public var created: Timestamp?
    /// Seconds east of UTC, in the zone of the machine and the moment that the apply was planned; nil if not recorded.
    var utcOffset: Int64?
    /// The user's name for it.
    public var label: String?
    /// What that apply changed; nil if no longer known.
    public var summary: ActionSummary?
    /// Bytes of content that it copied; nil if not known.
    public var copied: ByteCount?
    /// How long it took; nil if not known.
    public var seconds: Int64?
    /// Bytes of content that are kept only to go back to this tree, or further.
    public var bytesHeld: ByteCount = 0
    /// The target's retention rules that keep it; empty if none does.
    public var reasons: [String] = []
    /// Why it cannot be restored; nil when it can.
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
