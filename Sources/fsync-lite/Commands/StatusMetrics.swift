import FileSystem
import FsyncLite

/// The state of targets in the text format of Prometheus. Each metric is a family with a sample per target.
///
///     family = "# HELP " name " " text LF "# TYPE " name " gauge" LF *(name "{" labels "} " value LF)
enum StatusMetrics {
    private struct Metric {
        let name: String
        let help: String
        /// nil if the target has no such value.
        let value: (StatusQuery, Target.Status?) -> String?

        init(_ name: String, _ help: String, _ value: @escaping (StatusQuery, Target.Status?) -> String?) {
            (self.name, self.help, self.value) = ("fsync_lite_\(name)", help, value)
        }

        static func ofLastRun(_ name: String, _ help: String, _ value: @escaping (LastRun) -> String)
            -> Metric
        {
            Metric("last_run_\(name)", help) { $1?.lastRun.map(value) }
        }
    }

    private static var metrics: [Metric] {
        let now = Timestamp.now
        return [
            Metric("up", "Whether the state of the target could be read.") { $1 == nil ? "0" : "1" },
            Metric("commit_pending", "Whether a commit was interrupted.") {
                $1.map { $0.isPending ? "1" : "0" }
            },
            .ofLastRun("timestamp_seconds", "When the last run began that ended with exit code 0 or 3.") {
                seconds($0.began.rawSeconds, $0.began.nanoseconds)
            },
            .ofLastRun(
                "age_seconds",
                "How long before this measurement that was; +Inf if that time is in the future."
            ) {
                $0.began.isAhead(of: now) ? "+Inf" : elapsed($0.began, now)
            },
            .ofLastRun("duration_seconds", "How long it took.") { elapsed($0.began, $0.ended) },
            .ofLastRun("result", "0, or 3 if something could not be mirrored.") {
                "\($0.result)"
            },
            .ofLastRun("problems", "How many problems it listed.") { "\($0.problems)" },
            Metric(
                "last_attempt_timestamp_seconds", "When the last run began on this machine, however it ended."
            ) {
                asked, _ in asked.runs.last.map { seconds($0.began.rawSeconds, $0.began.nanoseconds) }
            },
            Metric("last_attempt_exit_code", "Its exit code; -1 if it did not end.") { asked, _ in
                asked.runs.last.flatMap { $0.outcome.map { "\($0.exitCode)" } ?? ($0.isCutOff ? "-1" : nil) }
            },
            Metric("job_disabled", "Whether the job is disabled.") { asked, _ in
                asked.job.map { $0.disabled == nil ? "0" : "1" }
            },
            Metric("last_check_timestamp_seconds", "When the last verify ended.") {
                $1?.lastCheck?.time.map { seconds($0.rawSeconds, $0.nanoseconds) }
            },
            Metric("last_check_rotten", "How many rotten files were found, by the last check of each part.") {
                $1?.lastCheck.map { "\($0.rotten)" }
            },
            Metric("last_check_damaged_snapshots", "How many snapshots have a damaged or missing file.") {
                $1?.lastCheck.map { "\($0.damagedSnapshots)" }
            },
            Metric("entries", "Files and directories in the target.") {
                $1?.manifest.map { "\($0.summary.entries)" }
            },
            Metric("bytes", "Bytes of content in the target.") {
                $1?.manifest.map { "\($0.summary.bytes)" }
            },
        ]
    }

    static func write(_ asked: [StatusQuery], to console: inout Console) throws {
        for metric in metrics {
            let samples = asked.compactMap { asked in
                metric.value(asked, try? asked.status.get()).map { "\(metric.name){\(labels(asked))} \($0)" }
            }
            guard !samples.isEmpty else { continue }
            try console.line("# HELP \(metric.name) \(metric.help)")
            try console.line("# TYPE \(metric.name) gauge")
            for sample in samples { try console.line(sample) }
        }
    }

    private static func labels(_ asked: StatusQuery) -> String {
        let job = asked.job.map { [("job", Array($0.name.utf8))] } ?? []
        return (job + [("target", asked.target.path)]).map { "\($0)=\"\(escaped($1))\"" }
            .joined(separator: ",")
    }

    /// Labels are UTF-8, with escapes for backslash, quote and line feed only.
    private static func escaped(_ bytes: [UInt8]) -> String {
        (String(validating: bytes, as: UTF8.self) ?? escapedText(bytes)).replacing("\\", with: "\\\\")
            .replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    /// Never below zero, even if a clock was set back.
    private static func elapsed(_ from: Timestamp, _ to: Timestamp) -> String {
        let total = max(0, to.fileTime.milliseconds(since: from.fileTime))
        return seconds(total / 1000, Int32(total % 1000) * 1_000_000)
    }

    /// Rounded to milliseconds.
    private static func seconds(_ seconds: Int64, _ nanoseconds: Int32) -> String {
        "\(seconds).\(String(1000 + nanoseconds / 1_000_000).dropFirst())"
    }
}
