import FileStorage
import FsyncLite

/// How several targets stand, one per line.
struct StatusTable {
    private let rows: [[String]]

    init(_ asked: [StatusQuery], _ limit: TimeSpan?) {
        let isOfJobs = asked.allSatisfy { $0.job != nil }
        rows =
            [[isOfJobs ? "job" : "target", "last good run", "last attempt", "size", "next"]]
            + asked.map { [$0.name] + StatusTable.cells($0) + [$0.next(limit) ?? "-"] }
    }

    /// Several targets, and those that this user has written to in a table of their own.
    static func write(
        _ asked: [StatusQuery], _ limit: TimeSpan?, _ known: [KnownTarget], to console: inout Console
    ) throws {
        if !asked.isEmpty || known.isEmpty {
            try TextTable(rows: StatusTable(asked, limit).rows).write(to: &console)
        }
        if !known.isEmpty { try TextTable(rows: StatusTable(known).rows).write(to: &console) }
    }

    /// Targets that this user has written to.
    init(_ known: [KnownTarget]) {
        rows =
            [["known target", "last apply", "now"]]
            + known.map { ["\(LocalFile(bytes: $0.path))", $0.lastApply.localText, $0.presence.words] }
    }

    private static func cells(_ asked: StatusQuery) -> [String] {
        let status = try? asked.status.get()
        let good = asked.lastGood.map { $0.nearText() } ?? (status == nil ? "-" : "never")
        return [good, attempt(asked), status?.manifest.map { Amount.bytes($0.summary.bytes) } ?? "-"]
    }

    private static func attempt(_ asked: StatusQuery) -> String {
        if asked.job?.disabled != nil { return "paused" }
        if let run = asked.failed { return "\(run.began.nearText()), \(run.result)" }
        if let run = asked.runs.last, run.isIncomplete, asked.lastRun?.isComplete ?? false {
            return "\(run.began.nearText()), \(run.result)"
        }
        guard let last = asked.lastRun, last.isComplete else {
            return asked.lastRun.map { "\($0.problems) not mirrored" } ?? "-"
        }
        return "the same"
    }
}
