import FileStorage
import FileSystem

/// The tree after a commit.
public struct Snapshot: Hashable, Sendable {
    /// The id of the apply that made it; `initial` for what the first one found.
    public var id: String
    /// When that apply began; nil for `initial`.
    public var created: Timestamp?
    /// The user's name for it.
    public var label: String?
    /// What that apply changed; nil if no longer known.
    public var summary: ActionSummary?
    /// Bytes of content that are kept only to go back to this tree, or further.
    public var bytesHeld: Int64 = 0
    /// The target's retention rules that keep it; empty if none does.
    public var reasons: [String] = []
    /// Why it cannot be restored; nil when it can.
    public var damage: String?

    package init(
        id: String, created: Timestamp? = nil, label: String? = nil, summary: ActionSummary? = nil
    ) {
        (self.id, self.created, self.label, self.summary) = (id, created, label, summary)
    }

    static let initialID = "initial"
}

extension Snapshot {
    /// The index of the named snapshot: an id or a prefix of one, `latest`, `latest~2`, or a date such as `2026-11-20`
    /// or `2026-11-20T14:00`, UTC, for the newest not after that day or minute.
    ///
    /// - Parameter snapshots: newest first.
    /// - Throws: `SyncError`: `inputMissing` if there is none, `usage` for a prefix of several ids.
    static func index(of name: String, in snapshots: [Snapshot]) throws -> Int {
        if let step = stepsBack(name) {
            guard step < snapshots.count else {
                throw SyncError(
                    .inputMissing, "there is no \(name): the oldest snapshot is latest~\(snapshots.count - 1)"
                )
            }
            return step
        }
        if let end = endOfTime(name) {
            guard let index = snapshots.firstIndex(where: { $0.created.map { $0 < end } ?? false }) else {
                throw SyncError(.inputMissing, "there is no snapshot of \(name) or before")
            }
            return index
        }
        let matches = snapshots.indices.filter {
            !name.isEmpty && snapshots[$0].id.utf8.starts(with: name.utf8)
        }
        if let exact = matches.first(where: { snapshots[$0].id.utf8.elementsEqual(name.utf8) }) {
            return exact
        }
        guard let match = matches.first else {
            throw SyncError(
                .inputMissing, "there is no snapshot \(escapedText(name.utf8)); see snapshot list")
        }
        guard matches.count == 1 else {
            throw SyncError(
                .usage, "\(escapedText(name.utf8)) is the beginning of \(matches.count) ids; give more of it")
        }
        return match
    }

    private static func stepsBack(_ name: String) -> Int? {
        if name == "latest" { return 0 }
        guard name.hasPrefix("latest~"), !name.hasPrefix("latest~+") else { return nil }
        return Int(name.dropFirst("latest~".count)).flatMap { $0 < 0 ? nil : $0 }
    }

    /// The first moment after the named day, minute or second; nil for an invalid time.
    private static func endOfTime(_ name: String) -> Timestamp? {
        let forms: [(length: Int, rest: String, seconds: Int64)] = [
            (10, "T00:00:00Z", 86_400), (16, ":00Z", 60), (19, "Z", 1),
        ]
        let text = name.hasSuffix("Z") ? String(name.dropLast()) : name
        guard let form = forms.first(where: { $0.length == text.utf8.count }),
            let time = Timestamp(iso8601: text + form.rest)
        else { return nil }
        return Timestamp(seconds: time.seconds + form.seconds, nanoseconds: 0)
    }
}
