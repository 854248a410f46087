import FileStorage
import FsyncLite

/// How several targets stand, one per line.
struct StatusTable {
    private let rows: [[String]]

    init(_ asked: [StatusQuery], _ limit: TimeSpan?) {
        let isOfJobs = asked.allSatisfy { $0.job != nil }
        rows =
            [[isOfJobs ? "job" : "target", "last run", "result", "age", "size", "next"]]
            + asked.map { [$0.name] + StatusTable.cells($0) + [$0.next(limit) ?? "-"] }
    }

    /// Several targets, and those that this user has written to in a table of their own.
    static func write(
        _ asked: [StatusQuery], _ limit: TimeSpan?, _ known: [KnownTarget], to console: inout Console
    ) throws {
        if !asked.isEmpty || known.isEmpty { try StatusTable(asked, limit).write(to: &console) }
        if !known.isEmpty { try StatusTable(known).write(to: &console) }
    }

    /// Targets that this user has written to.
    init(_ known: [KnownTarget]) {
        rows =
            [["known target", "last apply", "now"]]
            + known.map { ["\(LocalFile(bytes: $0.path))", $0.lastApply.localText, $0.presence.words] }
    }

    private static func cells(_ asked: StatusQuery) -> [String] {
        guard case .success(let status) = asked.status else { return ["-", "-", "-", "-"] }
        let size = status.manifest.map { Amount.bytes($0.summary.bytes) } ?? "-"
        guard let last = status.lastRun else { return ["never", "-", "-", size] }
        let result = last.isComplete ? "complete" : "\(last.problems) not mirrored"
        return [last.began.localText, result, "\(ElapsedTime(since: last.began))", size]
    }

    func write(to console: inout Console) throws {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        for row in rows {
            let cells = zip(row, widths).map { $0.padded(to: $1) }
            // The last column needs no padding.
            try console.line((cells.dropLast() + row.suffix(1)).joined(separator: "  "))
        }
    }
}
