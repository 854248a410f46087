import FileSystem
import FsyncLite

enum SnapshotListCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let path = try invocation.argument("TARGET")
        let options = try RetentionOptions(settingsFor: path, invocation)
        let snapshots = try Target(path: path).snapshots(options)
        let rules = try Target(path: path).retention(options)
        if invocation.has("--json") {
            try SnapshotDocument.write(path, snapshots, rules, to: &console)
        } else {
            for snapshot in snapshots { try console.line(line(snapshot)) }
            try console.line(line(rules))
        }
        return snapshots.contains { $0.damage != nil } ? .invalidDocument : .done
    }

    /// Such as `20261121T090000.123456Z-3f2a  2026-11-21T09:00:00Z  +1 ~2  4.2 MB held  "before"  (last, daily)`.
    static func line(_ snapshot: Snapshot) -> String {
        var parts = [
            escapedText(snapshot.id.utf8), snapshot.created.map(\.description) ?? "-",
            snapshot.summary.map(counts) ?? "-",
        ]
        if snapshot.bytesHeld > 0 { parts.append("\(ActionText.byteCount(snapshot.bytesHeld)) held") }
        if let label = snapshot.label { parts.append("\"\(escapedText(label.utf8))\"") }
        parts.append("(\(snapshot.reasons.isEmpty ? "goes" : snapshot.reasons.joined(separator: ", ")))")
        if let damage = snapshot.damage { parts.append(damage) }
        return parts.joined(separator: "  ")
    }

    /// Such as `rules: keep_last 3, keep_within 7d (built in)`.
    static func line(_ rules: RetentionRules) -> String {
        let more = rules.origin == .builtIn ? "; the oldest go where an apply needs the room" : ""
        return "rules: \(escapedText("\(rules.policy)".utf8)) (\(rules.origin.rawValue)\(more))"
    }

    private static func counts(_ summary: ActionSummary) -> String {
        let counts = [
            ("+", summary.create), ("~", summary.update), ("=", summary.attributes), (">", summary.move),
            ("-", summary.delete),
        ].filter { $0.1 > 0 }.map { "\($0.0)\($0.1)" }
        return counts.isEmpty ? "no changes" : counts.joined(separator: " ")
    }
}

enum SnapshotShowCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let target = Target(path: try invocation.argument("TARGET"))
        let actions = try target.changes(of: invocation.argumentText("ID"))
        if invocation.has("--json") {
            var document = DocumentWriter(format: "fsync-lite-snapshot-changes")
            document.text.field("target", "target_base64", target.path[...])
            try document.array("actions", of: actions, to: &console) { $0.action($1) }
            try document.end(to: &console)
        } else {
            try ActionText(invocation).write(actions, to: &console)
        }
        return .done
    }
}

enum SnapshotDiffCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let path = try invocation.argument("TARGET")
        let changes = try Target(path: path).changes(
            from: invocation.argumentText("A"), to: invocation.argumentText("B"))
        if invocation.has("--json") {
            try PlanDocument(source: path, target: path).write(changes, to: &console)
        } else {
            try ActionText(invocation).write(changes.actions, to: &console)
            try console.line(ActionText.totals(changes.summary, .compared))
        }
        return changes.summary.actions > 0 ? .different : .done
    }
}

enum SnapshotLogCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let path = try RestoreCommand.path(invocation.argument("PATH"))
        let text = ActionText(invocation)
        for (snapshot, actions) in try Target(path: invocation.argument("TARGET")).life(of: path) {
            for action in actions {
                try console.line(
                    "\(snapshot.created.map(\.description) ?? "-")  \(escapedText(snapshot.id.utf8))  \(text.line(action))"
                )
            }
        }
        return .done
    }
}

enum SnapshotCreateCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        guard let label = try invocation.text("--label"), !label.isEmpty else {
            throw UsageError(
                "a snapshot is there already; what is missing is its name", hint: "give --label L")
        }
        let path = try invocation.argument("TARGET")
        let snapshot = try Target(path: path).label(
            label, RetentionOptions(settingsFor: path, invocation))
        try console.line(SnapshotListCommand.line(snapshot))
        return .done
    }
}

enum SnapshotPruneCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let path = try invocation.argument("TARGET")
        let given = try RetentionPolicy(invocation)
        let rules =
            try given.isEmpty
            ? Target(path: path).retention(RetentionOptions(settingsFor: path, invocation))
            : RetentionRules(given: given)
        let isDryRun = invocation.has("--dry-run")
        let snapshots = try Target(path: path).prune(rules.policy, isDryRun: isDryRun)
        if invocation.has("--json") {
            try SnapshotDocument.write(path, snapshots, rules, to: &console)
        } else if !invocation.has("--quiet") {
            for snapshot in snapshots { try console.line(SnapshotListCommand.line(snapshot)) }
            try console.line(SnapshotListCommand.line(rules))
            let going = snapshots.count { $0.reasons.isEmpty }
            try console.line("\(going) \(isDryRun ? "to go" : "gone"), \(snapshots.count - going) kept")
        }
        return .done
    }
}

enum SnapshotVerifyCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let (faults, count) = try Target(path: invocation.argument("TARGET")).verifyHistory()
        for (snapshot, error) in faults {
            Console.complain("\(escapedText(snapshot.utf8)) and what is older: \(error)")
        }
        if faults.isEmpty, !invocation.has("--quiet") { try console.line("\(count) snapshots are whole") }
        return faults.isEmpty ? .done : .invalidDocument
    }
}

/// `snapshot list --json`.
enum SnapshotDocument {
    static func write(
        _ target: [UInt8], _ snapshots: [Snapshot], _ rules: RetentionRules, to console: inout Console
    ) throws {
        var document = DocumentWriter(format: "fsync-lite-snapshots")
        document.text.field("target", "target_base64", target[...])
        document.text.field("rules", rules.policy.description)
        document.text.field("rules_from", rules.origin.rawValue)
        try document.array("snapshots", of: snapshots, to: &console) { text, snapshot in
            text.field("id", snapshot.id)
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
