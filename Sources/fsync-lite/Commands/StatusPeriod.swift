import FileSystem
import FsyncLite

/// The runs since a time: a line for each job, and one for each run that was not good.
struct StatusPeriod {
    let start: Timestamp

    func runs(_ asked: StatusQuery) -> [RecordedRun] { asked.runs.filter { $0.began >= start } }

    private func bad(_ asked: StatusQuery) -> [RecordedRun] {
        runs(asked).filter(\.isBad)
    }

    func write(_ asked: [StatusQuery], to console: inout Console) throws {
        let isOfJobs = asked.allSatisfy { $0.job != nil }
        let titles = [
            isOfJobs ? "job" : "target", "good runs", "bad runs", "changes", "copied", "last good run",
        ]
        try console.table([titles] + asked.map { cells(of: $0) })
        let rows = asked.flatMap { asked in
            bad(asked).map { [asked.name, String($0.began.localText.prefix(16)), $0.resultAndReason] }
        }
        guard !rows.isEmpty else { return }
        try console.line("")
        try console.table([[titles[0], "bad run", "why"]] + rows)
    }

    private func cells(of asked: StatusQuery) -> [String] {
        let good = runs(asked).filter(\.isGood).compactMap(\.outcome)
        let last = asked.lastGood.map { $0.nearText() } ?? "never"
        return [
            asked.name, "\(good.count)", "\(bad(asked).count)", "\(good.map(\.changes).reduce(0, +))",
            Amount.bytes(good.map(\.copied).sum()), asked.isPaused ? "\(last), paused" : last,
        ]
    }
}
