import FileStorage
import FileSystem
import FsyncLite

enum StatusCommand: Command {
    private static let maxAge = OptionDescription.value(
        "--max-age", "AGE",
        "exit 2 when the last run is older, complete or not; AGE is such as 26h, 7d or yesterday")

    static let description = CommandDescription(
        "status", summary: "Show what a target holds and when it was last written.", arguments: [.target],
        options: [.json, maxAge],
        examples: [
            ("fsync-lite status mirror", "See how a mirror stands"),
            ("fsync-lite status --max-age 26h mirror", "Let monitoring know when it is late"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let limit = try invocation.options.value(
            maxAge, "give \(TimeSpan.forms)", { TimeSpan($0) })
        let target = Target(path: try invocation.argument(.target))
        let status = try target.status()
        if invocation.options.has(.json) {
            try StatusDocument.write(target, status, to: &console)
        } else {
            try write(status, to: &console)
        }
        if status.isPending {
            Console.complain(
                "a commit was begun and not ended; run: fsync-lite recover \(Shell.word(target.path))")
            return .pending
        }
        guard let limit else { return .done }
        guard let last = status.lastRun else {
            Console.complain("no run has mirrored anything here yet")
            return .different
        }
        guard last.began < limit.start else { return .done }
        Console.complain("the last run began \(ElapsedTime(since: last.began)) ago, at \(words(last))")
        return .different
    }

    /// When the run began, and whether it mirrored everything.
    private static func words(_ run: LastRun) -> String {
        let entries = run.problems == 1 ? "1 entry" : "\(run.problems) entries"
        return "\(run.began.localText) "
            + (run.isComplete ? "(complete)" : "(incomplete: \(entries) could not be mirrored)")
    }

    /// When the run began, and the progress of its phase.
    private static func words(_ activity: Activity) -> String {
        let progress = activity.progress
        var words = ["since \(activity.began.localText): \(progress.phase.rawValue)"]
        if progress.bytes > 0 || progress.totalBytes ?? 0 > 0 {
            let total = progress.totalBytes.map { " of \(ActionText.byteCount($0))" } ?? ""
            words.append(ActionText.byteCount(progress.bytes) + total)
        } else if let total = progress.totalEntries {
            words.append("\(progress.entries) of \(total) entries")
        }
        if let rate = activity.bytesPerSecond() { words.append("\(ActionText.byteCount(rate))/s") }
        return words.joined(separator: ", ")
    }

    private static func write(_ status: Target.Status, to console: inout Console) throws {
        if let (header, summary) = status.manifest {
            try console.line("manifest   \(SnapshotName.short(header.id)), of \(header.created.localText)")
            if let source = header.source { try console.line("source     \(LocalFile(bytes: source.path))") }
            try console.line(
                "holds      \(summary.files) files, \(summary.directories) directories, \(summary.symlinks) symlinks, "
                    + "\(summary.others) others; \(ActionText.byteCount(summary.bytes))")
        } else if !status.isPending {
            try console.line("manifest   none: nothing was applied yet")
        }
        if let activity = status.activity { try console.line("running    \(words(activity))") }
        if let lastRun = status.lastRun { try console.line("last run   \(words(lastRun))") }
        for applied in status.history {
            try console.line(
                "kept       \(applied.shortID), \(ActionText.byteCount(applied.bytesHeld)) displaced")
        }
        if !status.history.isEmpty {
            try console.line("history    \(ActionText.byteCount(status.bytesHeld))")
        }
    }
}

/// `status --json`.
enum StatusDocument {
    static func write(_ target: Target, _ status: Target.Status, to console: inout Console) throws {
        var document = DocumentWriter(format: "fsync-lite-status")
        document.text.field("target", "target_base64", target.path[...])
        document.text.field(
            "state", status.isPending ? "pending" : status.manifest == nil ? "empty" : "committed")
        if let (header, summary) = status.manifest {
            document.text.field("manifest", header.id)
            document.text.field("created", header.created)
            if let source = header.source {
                document.text.field("source", "source_base64", source.path[...])
            }
            document.text.key("summary")
            document.text.summary(summary)
        }
        if let activity = status.activity {
            let progress = activity.progress
            document.text.field("running_since", activity.began)
            document.text.field("running_process", Int(activity.process))
            document.text.field("running_phase", progress.phase.rawValue)
            document.text.field("running_phase_since", activity.phaseBegan)
            document.text.field("running_entries", progress.entries)
            if let total = progress.totalEntries { document.text.field("running_entries_total", total) }
            document.text.field("running_bytes", progress.bytes)
            if let total = progress.totalBytes { document.text.field("running_bytes_total", total) }
        }
        if let lastRun = status.lastRun {
            document.text.field("last_run", lastRun.began)
            document.text.field("last_run_ended", lastRun.ended)
            document.text.field("last_run_result", lastRun.result)
            document.text.field("last_run_problems", lastRun.problems)
        }
        document.text.field("history_bytes_held", status.bytesHeld)
        try document.array("history", of: status.history, to: &console) { text, applied in
            text.field("id", applied.id)
            text.field("short_id", applied.shortID)
            text.field("created", applied.created)
            text.field("bytes_held", applied.bytesHeld)
        }
        try document.end(to: &console)
    }
}
