import FileSystem
import FsyncLite

/// Snapshots and the rules that keep them, as lines for people and as a document.
enum SnapshotText {
    /// Such as `3f2a9c01  2026-11-21 10:00:00  +1 ~2  4.2 MB held  "before"  kept: last, daily`.
    static func line(_ snapshot: Snapshot) -> String {
        var parts = [
            snapshot.shortID, snapshot.created?.localText ?? "-",
            snapshot.summary.map(counts) ?? "-",
        ]
        if snapshot.bytesHeld > 0 { parts.append("\(Amount.bytes(snapshot.bytesHeld)) held") }
        if let label = snapshot.label { parts.append("\"\(escapedText(label.utf8))\"") }
        if snapshot.reasons.isEmpty {
            parts.append("goes: \(snapshot.damage ?? "no rule keeps it")")
        } else {
            parts.append("kept: \(escapedText(snapshot.reasons.joined(separator: ", ").utf8))")
            if let damage = snapshot.damage { parts.append(damage) }
        }
        return parts.joined(separator: "  ")
    }

    private static func counts(_ summary: ActionSummary) -> String {
        let counts = [
            ("+", summary.create), ("~", summary.update), ("=", summary.attributes), (">", summary.move),
            ("-", summary.delete),
        ].filter { $0.1 > 0 }.map { "\($0.0)\($0.1)" }
        return counts.isEmpty ? "no changes" : counts.joined(separator: " ")
    }

    /// One line for each snapshot, one with the total, and one such as `rules: keep_last 3, keep_within 7d (built in)`.
    static func write(_ snapshots: [Snapshot], _ rules: RetentionRules, to console: inout Console) throws {
        for snapshot in snapshots { try console.line(line(snapshot)) }
        try console.line("history: \(Amount.bytes(bytesHeld(snapshots))) held")
        let more = rules.origin == .builtIn ? "; the oldest go where an apply needs the room" : ""
        try console.line("rules: \(escapedText("\(rules.policy)".utf8)) (\(rules.origin.rawValue)\(more))")
    }

    private static func bytesHeld(_ snapshots: [Snapshot]) -> ByteCount {
        snapshots.map(\.bytesHeld).sum()
    }

    /// The document of `--json`.
    static func writeDocument(
        _ target: [UInt8], _ snapshots: [Snapshot], _ rules: RetentionRules, to console: inout Console
    ) throws {
        var document = DocumentWriter(format: "fsync-lite-snapshots")
        document.text.field("target", "target_base64", target[...])
        document.text.field("bytes_held", bytesHeld(snapshots))
        document.text.field("rules", rules.policy.description)
        document.text.field("rules_from", rules.origin.rawValue)
        try document.array("snapshots", of: snapshots, to: &console) { text, snapshot in
            text.field("id", snapshot.id)
            text.field("short_id", snapshot.shortID)
            if let created = snapshot.created { text.field("created", created) }
            if let label = snapshot.label { text.field("label", label) }
            if let summary = snapshot.summary { text.counts(summary) }
            text.field("bytes_held", snapshot.bytesHeld)
            text.field("kept", snapshot.reasons)
            if let damage = snapshot.damage { text.field("damage", damage) }
        }
        try document.end(to: &console)
    }
}
