import FsyncLite

enum UndoCommand: TargetCommand {
    private static let steps = OptionDescription.value(
        "--steps", "N", "take the last N runs back, as one transaction (default: 1)")

    static let description = CommandDescription(
        name: "undo", summary: "Take the last run back. A second undo brings it back.",
        discussion: """
            The target gets back the files that it had before the last run. Files that were changed by hand since then are left \
            unchanged; if an older version needs their path, they are listed. With --steps, files that were changed by \
            hand between these runs are moved to the history. No snapshot is removed. The next run makes the target like the \
            source again. After an interrupted commit, undo \
            stops with exit code 6, because that commit may have been an undo. Then fsync-lite recover completes it, \
            and snapshot list shows the present tree.
            """,
        arguments: [.target],
        options: [steps, .dryRun] + Restoration.exchangeOptions + OptionDescription.output
            + OptionDescription.remote,
        examples: [
            ("fsync-lite undo --dry-run mirror", "Preview it"),
            ("fsync-lite undo mirror", "Take the last run back"),
            ("fsync-lite undo --steps 3 mirror", "Take the last three runs back"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let target = try invocation.argument(.target)
        let steps = try invocation.options.integer(steps, in: 1...Int.max) ?? 1
        let (snapshot, runs) = try invocation.target().found(
            byLast: steps, called: invocation.targetOfClient ?? target)
        if !invocation.options.has(.json), !invocation.options.has(.quiet) {
            try console.line(text(runs, target, isDryRun: invocation.options.has(.dryRun)))
        }
        var restoration = Restoration(target: target, snapshot: snapshot)
        restoration.name = invocation.targetOfClient
        restoration.keepsDrift = true
        restoration.takesBack = runs.map(\.id)
        try restoration.readExchange(invocation.options)
        return try SnapshotRestoreCommand.run(SyncRun(invocation, restoration), invocation, &console)
    }

    /// Such as `takes back the run of 2026-11-25 03:15; the attempt of today 03:15 changed nothing`.
    private static func text(_ runs: [Snapshot], _ target: [UInt8], isDryRun: Bool) -> String {
        let times = runs.map { $0.created.map { String($0.localText.prefix(16)) } ?? $0.shortID }
        let what =
            times.count == 1
            ? "the run of \(times[0])"
            : "the last \(times.count) runs, back to that of \(times[times.count - 1])"
        let text = "\(isDryRun ? "would take" : "takes") back \(what)"
        return attempt(on: target, after: runs[0].created).map { "\(text); \($0)" } ?? text
    }

    /// The last attempt that this machine has recorded, if it changed nothing; otherwise nil.
    ///
    /// - Parameter run: the begin of the last run that changed something; nil if that is unknown.
    static func attempt(on target: [UInt8], after run: Timestamp?) -> String? {
        // A run without an outcome may have begun before the last good one, or may still be running.
        guard let last = RunRecord.runs(on: target).last, let outcome = last.outcome, !last.isGood,
            run.map({ $0 < last.began }) ?? true, outcome.changes == 0
        else { return nil }
        return "the attempt of \(last.began.nearText()) changed nothing"
    }
}
