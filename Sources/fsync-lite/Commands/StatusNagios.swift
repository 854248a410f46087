import FileSystem
import FsyncLite

/// One line for Nagios and the like: the worst state of all jobs, and the age of each one's last good run.
///
/// It follows the Nagios Plugin Development Guidelines. It is made from the record of runs, which everybody
/// may read. If this user may read the target, its state is added.
struct StatusNagios {
    /// The maximum age of a good run; nil for no limit.
    let warning, critical: TimeSpan?
    /// When these were read. All ages are of this moment.
    private let now = Timestamp.now

    enum State: Int32 {
        case ok, warning, critical, unknown

        /// Critical is worse than unknown, and unknown is worse than warning.
        var rank: Int { [0, 1, 3, 2][Int(rawValue)] }
    }

    /// A job or a target, and its status: nil if this user cannot read it, or it is on another machine.
    typealias Row = (asked: StatusQuery, status: Target.Status?)

    /// Faults in spite of good runs.
    private func faults(_ row: Row) -> [(state: State, text: String)] {
        let (isPending, check) = (row.status?.isPending ?? false, row.status?.lastCheck)
        return [
            isPending ? (.critical, "a commit was interrupted") : nil,
            check.flatMap { $0.isBad ? (.critical, "last check: \($0.text)") : nil },
            row.asked.incomplete.map { (.warning, "\($0.began.nearText()) \($0.resultAndReason)") },
        ].compactMap(\.self)
    }

    private func state(of row: Row) -> State {
        guard !row.asked.isPaused else { return .ok }
        let states = [stateOfAge(row.asked)] + faults(row).map(\.state)
        return states.max { $0.rank < $1.rank } ?? .ok
    }

    private func stateOfAge(_ row: StatusQuery) -> State {
        guard let good = row.lastGood else { return row.failed == nil ? .unknown : .critical }
        if good.isAhead(of: now) { return .unknown }
        if let critical, good < critical.start { return .critical }
        if let warning, good < warning.start { return .warning }
        return row.failed == nil ? .ok : .warning
    }

    private func words(_ row: Row) -> String {
        let good =
            row.asked.lastGood.map { "last good run \($0.ageText(now: now))" } ?? "no good run is known"
        let failed = row.asked.failed.map { "\($0.began.nearText(now: now)) \($0.resultAndReason)" }
        return "\(row.asked.name): "
            + ([good, failed].compactMap(\.self) + faults(row).map(\.text)).joined(separator: "; ")
    }

    private func words(running: Int, paused: Int) -> String {
        let parts = [
            running > 0
                ? Amount.of(running, "job")
                    + (warning ?? critical == nil
                        ? ", no last run failed" : ", no last good run is too old") : nil,
            paused > 0 ? "\(Amount.of(paused, "job is", "jobs are")) paused" : nil,
        ]
        return parts.compactMap(\.self).joined(separator: "; ")
    }

    private func data(_ row: StatusQuery) -> String? {
        guard let good = row.lastGood, !good.isAhead(of: now), !row.isPaused else { return nil }
        let label = row.name.map {
            $0.isASCII && ($0.isLetter || $0.isNumber || "-.".contains($0)) ? $0 : "_"
        }
        func seconds(_ span: TimeSpan?) -> String {
            span.map { "\(now.fileTime.seconds(since: $0.start.fileTime))" } ?? ""
        }
        let age = max(0, now.fileTime.seconds(since: good.fileTime))
        return
            "\(String(label))_age=\(age)s;\(seconds(warning));\(seconds(critical))"
    }

    /// Prints the line.
    ///
    /// - Returns: the exit code, 0 to 3.
    func write(_ rows: [Row], to console: inout Console) throws -> ExitCode {
        let states = rows.map { (row: $0, state: state(of: $0)) }
        let worst = states.map(\.state).max { $0.rank < $1.rank } ?? .unknown
        let bad = states.filter { $0.state != .ok }.sorted { $0.state.rank > $1.state.rank }
        let text =
            rows.isEmpty
            ? "no run of any job is recorded"
            : bad.isEmpty
                ? words(
                    running: rows.count { !$0.asked.isPaused }, paused: rows.count(where: \.asked.isPaused))
                : bad.map { words($0.row) }.joined(separator: "; ")
        let data = rows.compactMap { self.data($0.asked) }
        return try StatusNagios.write(worst, text, data, to: &console)
    }

    /// Prints an error as the state `unknown`, because a plugin has no other exit codes.
    static func write(_ error: any Error, to console: inout Console) throws -> ExitCode {
        try write(.unknown, (error as? UsageError)?.message ?? "\(error)", [], to: &console)
    }

    private static func write(
        _ state: State, _ text: String, _ data: [String], to console: inout Console
    ) throws -> ExitCode {
        // In a plugin's line, data follows a bar.
        let shown = singleLine(text.replacing("|", with: "/"))
        let rest = data.isEmpty ? "" : " | \(data.joined(separator: " "))"
        try console.line("FSYNC-LITE \("\(state)".uppercased()): \(shown)\(rest)")
        return ExitCode(rawValue: state.rawValue) ?? .failed
    }
}
