import FileSystem
import FsyncLite

/// Snapshots and the rules of retention, as lines for people and as a document.
enum SnapshotText {
    private static let titles = ["id", "date", "changes", "copied", "frees", "why it is kept"]

    /// Such as `3f2a9c01  2026-11-21 10:00  +1 ~2  4.2 MB  9 B  "before"  last, daily`.
    private static func cells(_ snapshot: Snapshot) -> [String] {
        // Without the present tree, no space would be freed.
        let isPresent = snapshot.reasons.first == "present"
        var notes: [String] = []
        if let label = snapshot.label { notes.append("\"\(escapedText(label.utf8))\"") }
        if snapshot.reasons.isEmpty {
            notes.append("to be removed: \(snapshot.damage ?? "no rule keeps it")")
        } else {
            notes.append(escapedText(snapshot.reasons.joined(separator: ", ").utf8))
            if let damage = snapshot.damage { notes.append(damage) }
        }
        return [
            snapshot.shortID, snapshot.created.map { String($0.localText.prefix(16)) } ?? "-",
            snapshot.summary.map(counts) ?? "-", snapshot.copied.map(Amount.bytes) ?? "-",
            isPresent ? "-" : Amount.bytes(snapshot.bytesStored), notes.joined(separator: "  "),
        ]
    }

    static func table(_ snapshots: [Snapshot]) -> [[String]] { [titles] + snapshots.map(cells) }

    /// A snapshot as one line.
    static func line(_ snapshot: Snapshot) -> String {
        cells(snapshot).joined(separator: "  ")
    }

    private static func counts(_ summary: ActionSummary) -> String {
        let counts = [
            ("+", summary.create), ("~", summary.update), ("=", summary.attributes), (">", summary.move),
            ("-", summary.delete),
        ].filter { $0.1 > 0 }.map { "\($0.0)\($0.1)" }
        return counts.isEmpty ? "no changes" : counts.joined(separator: " ")
    }

    /// Prints each snapshot, the total, and a line such as `rules: keep_last 3, keep_within 7d (built in)`.
    static func write(_ snapshots: [Snapshot], _ rules: RetentionRules, to console: inout Console) throws {
        if !snapshots.isEmpty { try console.table(table(snapshots)) }
        try console.line("history: \(Amount.bytes(snapshots.map(\.bytesStored).sum()))")
        let more = rules.origin == .builtIn ? "; if a run needs the space, the oldest are removed" : ""
        try console.line("rules: \(escapedText("\(rules.policy)".utf8)) (\(rules.origin.rawValue)\(more))")
    }

    /// The document of `--json`.
    static func writeDocument(
        _ target: [UInt8], _ snapshots: [Snapshot], _ rules: RetentionRules,
        removed: RemovedSnapshots? = nil, to console: inout Console
    ) throws {
        var document = DocumentWriter(format: "fsync-lite-snapshots")
        document.text.field("target", "target_base64", target[...])
        document.text.field("bytes_held", snapshots.map(\.bytesStored).sum())
        document.text.field("rules", rules.policy.description)
        document.text.field("rules_from", rules.origin.rawValue)
        if let removed {
            document.text.field("removed_snapshots", removed.ids)
            document.text.field("bytes_freed", removed.bytes)
        }
        try document.array("snapshots", of: snapshots, to: &console) { text, snapshot in
            text.field("id", snapshot.id)
            text.field("short_id", snapshot.shortID)
            addRun(snapshot, to: &text)
            text.field("bytes_held", snapshot.bytesStored)
            text.field("kept", snapshot.reasons)
            if let damage = snapshot.damage { text.field("damage", damage) }
        }
        try document.end(to: &console)
    }

    /// Such as `3f2a9c01, 8b1c22d0`.
    static func names(_ snapshots: [Snapshot]) -> String {
        let ids = snapshots.map(\.shortID)
        guard ids.count > 3, let first = ids.first, let last = ids.last else {
            return ids.joined(separator: ", ")
        }
        return "\(ids.count) snapshots, \(first) to \(last)"
    }

    /// The last line of a command that removes snapshots.
    static func outcome(
        _ removed: RemovedSnapshots, of count: Int, isDryRun: Bool
    ) -> String {
        let text = removed.text(isDryRun: isDryRun) ?? "nothing to remove"
        return "\(text); \(count - removed.ids.count) kept"
    }

    /// The fields of the run that made a snapshot.
    static func addRun(_ snapshot: Snapshot, to text: inout JSONText) {
        if let created = snapshot.created { text.field("created", created) }
        if let label = snapshot.label { text.field("label", label) }
        if let summary = snapshot.summary { text.counts(summary) }
        if let copied = snapshot.copied { text.field("bytes_copied", copied) }
        if let seconds = snapshot.seconds { text.field("seconds", seconds) }
    }
}

extension RemovedSnapshots {
    /// Such as `removed 6 snapshots (2026-11-19 to 2026-11-24), 5.0 MB are free`; nil for none.
    func text(isDryRun: Bool = false) -> String? {
        guard !ids.isEmpty else { return nil }
        let free =
            isDryRun ? "at most \(Amount.bytes(bytes)) would be free" : "\(Amount.bytes(bytes)) are free"
        return "\(isDryRun ? "would remove" : "removed") \(self)" + (bytes > 0 ? ", \(free)" : "")
    }
}
