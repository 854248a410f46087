import FileStorage
import FsyncLite

/// `status --json`.
enum StatusDocument {
    static func write(_ asked: StatusQuery, _ status: Target.Status, to console: inout Console) throws {
        var document = DocumentWriter(format: "fsync-lite-status")
        document.text.name(asked)
        document.text.status(status)
        document.text.runs(asked)
        document.text.field("history_bytes_held", status.bytesStored)
        try document.array("history", of: status.history, to: &console) { text, applied in
            text.field("id", applied.id)
            text.field("short_id", applied.shortID)
            text.field("created", applied.created)
            text.field("bytes_held", applied.bytesStored)
        }
        try document.end(to: &console)
    }

    /// A target that cannot be read, with the runs that this machine remembers.
    static func write(_ asked: StatusQuery, _ error: SyncError, to console: inout Console) throws {
        try ErrorDocument.write(error, ExitCode(of: error), job: asked.job?.name, to: &console) { text in
            text.field("target", "target_base64", asked.target.path[...])
            text.runs(asked)
        }
    }

    /// Several targets, one per line.
    static func write(
        _ asked: [StatusQuery], _ limit: TimeSpan?, _ start: Timestamp?, _ known: [KnownTargets.Found],
        to console: inout Console
    ) throws {
        var document = DocumentWriter(format: "fsync-lite-status-list")
        try document.array("targets", of: asked, to: &console) { text, asked in
            text.name(asked)
            switch asked.status {
            case .success(let status): text.status(status)
            case .failure(let error):
                text.field("state", "unknown")
                text.field("error", error.description)
            }
            text.runs(asked)
            if let start { text.list(asked.runs(since: start)) }
            if let next = asked.next(limit) { text.field("next", next) }
        }
        if !known.isEmpty {
            try document.array("known_targets", of: known, to: &console) { text, target in
                text.field("target", "target_base64", target.path[...])
                text.field("last_apply", target.lastApply)
                text.field("now", target.presence.rawValue)
            }
        }
        try document.end(to: &console)
    }
}

extension JSONText {
    fileprivate mutating func name(_ asked: StatusQuery) {
        if let job = asked.job { field("job", job.name) }
        field("target", "target_base64", asked.target.path[...])
    }

    /// The runs that this machine remembers.
    fileprivate mutating func runs(_ asked: StatusQuery) {
        if asked.isPaused { flag("disabled") }
        if let good = asked.lastGood { field("last_good_run", good) }
        if let work = asked.recordedGood?.outcome {
            field("last_good_run_changes", work.changes)
            field("last_good_run_bytes_copied", work.copied)
        }
        guard let run = asked.runs.last else { return }
        field("last_attempt", run.began)
        if let ended = run.ended { field("last_attempt_ended", ended) }
        field("last_attempt_result", run.result.replacing(" ", with: "_"))
        guard let outcome = run.outcome else { return }
        field("last_attempt_exit_code", outcome.exitCode)
        if let reason = outcome.reason { field("last_attempt_reason", reason) }
        if let message = outcome.message { field("last_attempt_message", message) }
        field("last_attempt_changes", outcome.changes)
        field("last_attempt_bytes_copied", outcome.copied)
    }

    /// The runs of a period, the newest last.
    fileprivate mutating func list(_ runs: [RecordedRun]) {
        array("runs", of: runs) { text, run in
            text.field("began", run.began)
            if let ended = run.ended { text.field("ended", ended) }
            text.field("result", run.result.replacing(" ", with: "_"))
            guard let outcome = run.outcome else { return }
            text.field("exit_code", outcome.exitCode)
            if let reason = outcome.reason { text.field("reason", reason) }
            if let message = outcome.message { text.field("message", message) }
            text.field("changes", outcome.changes)
            text.field("bytes_copied", outcome.copied)
        }
    }

    fileprivate mutating func status(_ status: Target.Status) {
        if status.isElsewhere { flag("elsewhere") }
        field("state", status.isPending ? "pending" : status.manifest == nil ? "empty" : "committed")
        if let (header, summary) = status.manifest {
            field("manifest", header.id)
            field("created", header.created)
            sources(header.sources.map { ($0.name, $0.path) })
            self.summary(summary)
        }
        if let fileSystem = status.fileSystem { self.fileSystem(fileSystem) }
        if let activity = status.activity {
            let progress = activity.progress
            field("running_since", activity.began)
            field("running_process", Int(activity.process))
            field("running_phase", progress.phase.rawValue)
            field("running_phase_since", activity.phaseBegan)
            field("running_entries", progress.entries)
            if let total = progress.totalEntries { field("running_entries_total", total) }
            field("running_bytes", progress.bytes)
            if let total = progress.totalBytes { field("running_bytes_total", total) }
        }
        if let (id, since) = status.prepared {
            field("prepared", id)
            field("prepared_since", since)
        }
        if let lastRun = status.lastRun {
            field("last_run", lastRun.began)
            field("last_run_ended", lastRun.ended)
            field("last_run_result", lastRun.result)
            field("last_run_problems", lastRun.problems)
        }
        if let check = status.lastCheck, let ended = check.time {
            object("last_check") { $0.check(check, ended) }
        }
    }

    private mutating func check(_ check: LastCheck, _ ended: Timestamp) {
        field("ended", ended)
        for (key, count) in [
            ("part", check.part), ("parts", check.parts), ("files_read", check.filesRead),
            ("files_without_digest", check.filesWithoutDigest), ("rotten", check.rotten),
            ("other_differences", check.otherDifferences), ("damaged_snapshots", check.damagedSnapshots),
        ] as [(StaticString, Int)] {
            field(key, count)
        }
        // The parts with a fault.
        guard let findings = check.findings, !findings.isEmpty else { return }
        array("findings", of: findings) { text, found in
            text.field("part", found.part)
            text.field("parts", found.parts)
            text.field("rotten", found.rotten)
            text.field("damaged", found.damaged)
        }
    }
}
