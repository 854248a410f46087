import FileStorage
import FileSystem
import FsyncLite

/// The state of several targets, one per line.
enum StatusTable {
    /// Prints the targets, and a second table of those that this user has written to.
    static func write(
        _ asked: [StatusQuery], _ limit: TimeSpan?, _ known: [KnownTargets.Found], to console: inout Console
    ) throws {
        if !asked.isEmpty || known.isEmpty {
            let isOfJobs = asked.allSatisfy { $0.job != nil }
            let titles = [isOfJobs ? "job" : "target", "last good run", "last attempt", "size", "next"]
            let rows = asked.map { [$0.name] + cells($0) + [$0.next(limit) ?? "-"] }
            try console.table([titles] + rows)
        }
        guard !known.isEmpty else { return }
        let rows = known.map { ["\(LocalFile(bytes: $0.path))", $0.lastApply.localText, $0.presence.words] }
        try console.table([["known target", "last apply", "now"]] + rows)
    }

    /// Prints the runs since a time: a line for each job, and one for each run that was not good.
    static func write(_ asked: [StatusQuery], since start: Timestamp, to console: inout Console) throws {
        let isOfJobs = asked.allSatisfy { $0.job != nil }
        let titles = [
            isOfJobs ? "job" : "target", "good runs", "bad runs", "changes", "copied", "last good run",
        ]
        try console.table([titles] + asked.map { cells($0, since: start) })
        let rows = asked.flatMap { asked in
            asked.runs(since: start).filter(\.isBad).map {
                [asked.name, String($0.began.localText.prefix(16)), $0.resultAndReason]
            }
        }
        guard !rows.isEmpty else { return }
        try console.line("")
        try console.table([[titles[0], "bad run", "why"]] + rows)
    }

    private static func cells(_ asked: StatusQuery, since start: Timestamp) -> [String] {
        let runs = asked.runs(since: start)
        let good = runs.filter(\.isGood).compactMap(\.outcome)
        let last = asked.lastGood.map { $0.nearText() } ?? "never"
        return [
            asked.name, "\(good.count)", "\(runs.count(where: \.isBad))",
            "\(good.map(\.changes).reduce(0, +))", Amount.bytes(good.map(\.copied).sum()),
            asked.isPaused ? "\(last), paused" : last,
        ]
    }

    private static func cells(_ asked: StatusQuery) -> [String] {
        let status = try? asked.status.get()
        let good = asked.lastGood.map { $0.nearText() } ?? (status == nil ? "-" : "never")
        return [good, attempt(asked), status?.manifest.map { Amount.bytes($0.summary.bytes) } ?? "-"]
    }

    private static func attempt(_ asked: StatusQuery) -> String {
        if asked.isPaused { return "paused" }
        if let run = asked.runs.first(where: \.isRunning) { return "runs since \(run.began.nearText())" }
        if let run = asked.failed { return "\(run.began.nearText()), \(run.result)" }
        if let run = asked.incomplete, asked.lastRun?.isComplete ?? false {
            return "\(run.began.nearText()), \(run.result)"
        }
        guard let last = asked.lastRun, last.isComplete else {
            return asked.lastRun.map { "\($0.problems) not mirrored" } ?? "-"
        }
        return "the same"
    }
}
