import FsyncLite

enum SnapshotListCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let path = try invocation.argument("TARGET")
        let snapshots = try Target(path: path).snapshots()
        if invocation.has("--json") {
            try SnapshotDocument.write(path, snapshots, to: &console)
        } else {
            for snapshot in snapshots { try console.line(line(snapshot)) }
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
                "a snapshot is there already; what is missing is its name", wayOut: "give --label L")
        }
        let snapshot = try Target(path: invocation.argument("TARGET")).label(label)
        try console.line(SnapshotListCommand.line(snapshot))
        return .done
    }
}

enum SnapshotPruneCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let policy = try RetentionPolicy(invocation)
        guard !policy.isEmpty else {
            throw UsageError(
                "this would keep nothing but the present tree",
                wayOut: "say what to keep, as by --keep-last 3 (or 0)")
        }
        let path = try invocation.argument("TARGET")
        let isDryRun = invocation.has("--dry-run")
        let snapshots = try Target(path: path).prune(policy, isDryRun: isDryRun)
        if invocation.has("--json") {
            try SnapshotDocument.write(path, snapshots, to: &console)
        } else if !invocation.has("--quiet") {
            for snapshot in snapshots { try console.line(SnapshotListCommand.line(snapshot)) }
            let going = snapshots.count { $0.reasons.isEmpty }
            try console.line("\(going) \(isDryRun ? "to go" : "gone"), \(snapshots.count - going) kept")
        }
        return .done
    }
}

extension RetentionPolicy {
    fileprivate init(_ invocation: Invocation) throws {
        self.init()
        keepLast = try invocation.integer("--keep-last")
        keepHourly = try invocation.integer("--keep-hourly")
        keepDaily = try invocation.integer("--keep-daily")
        keepWeekly = try invocation.integer("--keep-weekly")
        keepMonthly = try invocation.integer("--keep-monthly")
        keepYearly = try invocation.integer("--keep-yearly")
        let wayOut = "give one such as 30d or 1y6mo; m would be minutes, months are mo"
        keepWithin = try invocation.value("--keep-within", wayOut) { RetentionPolicy.within($0) }
        let labels = invocation.values("--keep-label").map { String(decoding: $0, as: UTF8.self) }
        if !labels.isEmpty { keepLabel = labels }
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
    static func write(_ target: [UInt8], _ snapshots: [Snapshot], to console: inout Console) throws {
        var document = DocumentWriter(format: "fsync-lite-snapshots")
        document.text.field("target", "target_base64", target[...])
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
