import FileStorage
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
