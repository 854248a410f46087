import FileStorage
import FileSystem
import FsyncLite

/// The result of a job, for its commands: a mail for people, and the same in variables for scripts.
struct HookReport {
    private static let mostExamples = 10
    private static let mostProblems = 20

    let job: Job
    private(set) var code: ExitCode
    /// The report in JSON.
    private(set) var document: [UInt8]
    /// For the record of runs.
    private(set) var recorded: RecordedRun.Outcome
    private let outcome: Report.Outcome
    /// The reasons why the run did not mirror everything.
    private let reasons: [String]
    private let problems: [String]
    /// A command of the job that failed after the run, and its result.
    private var failedCommand: String?
    private var next: [String] = []
    private var totals: String?
    private var examples: [String] = []
    private var left = 0

    /// - Parameter next: the command that continues after a refusal.
    init(
        _ job: Job, _ report: Report, _ code: ExitCode, _ document: [UInt8],
        _ recorded: RecordedRun.Outcome, next: [String] = []
    ) {
        (self.job, self.code, self.next, outcome) = (job, code, next, report.outcome)
        (self.document, self.recorded) = (document, recorded)
        reasons = report.refusals.map(\.reason) + (report.error.map { ["\($0)"] } ?? [])
        problems = report.problems.map { "\($0.path): \($0.message)" }
        guard report.summary.actions > 0 || reasons.isEmpty else { return }
        let isDone = HookReport.done.contains(outcome)
        totals = ActionText.totals(report.summary, isDone ? .done : .planned)
        guard !isDone else { return }
        examples = report.actions.prefix(HookReport.mostExamples).map(
            ActionText(listsAll: true, isPlain: true).line)
        left = max(0, report.actions.count - examples.count)
    }

    /// The result of a run on another machine.
    init(
        _ job: Job, _ report: FarReport?, _ code: ExitCode, _ document: [UInt8],
        _ recorded: RecordedRun.Outcome
    ) {
        (self.job, self.code, self.document, self.recorded) = (job, code, document, recorded)
        outcome = report.flatMap { Report.Outcome(rawValue: $0.outcome) } ?? .failed
        reasons = (report?.refusals ?? []).map(\.reason) + [report?.error].compactMap(\.self)
        problems = (report?.problems ?? []).map { "\($0.path ?? "?"): \($0.message)" }
    }

    /// The outcomes after which the whole plan is done.
    private static let done: [Report.Outcome] = [.committed, .unchanged]

    /// Notes that a command of the job failed, and that the job ends with this exit code.
    mutating func fail(_ command: String, _ code: ExitCode) {
        (failedCommand, self.code, recorded.exitCode) = (command, code, code.rawValue)
        PlanDocument.add(failedCommand: command, exitCode: code.rawValue, to: &document)
        note(command)
    }

    /// Records a command that failed, unless the run has another reason.
    mutating func note(_ command: String) {
        guard recorded.message == nil else { return }
        (recorded.reason, recorded.message) = ("command", command)
    }

    private var target: String { "\(LocalFile(bytes: job.target))" }

    private var result: String {
        switch code {
        case .done: outcome == .unchanged ? "was up to date" : "was mirrored"
        case .committedWithOmissions:
            problems.isEmpty && failedCommand != nil
                ? "was mirrored, but a command of it failed" : "was mirrored, but not all of it"
        case .refused: "was not mirrored: the run was refused"
        case .interrupted, .terminated: "was stopped"
        default: "was not mirrored: the run failed"
        }
    }

    var text: [UInt8] {
        var lines = [
            "The job \(escapedText(job.name.utf8)) \(result) (exit code \(code.rawValue)).",
            "Target: \(target)",
        ]
        func add(_ part: [String]) { if !part.isEmpty { lines += [""] + part } }
        add(reasons + [failedCommand].compactMap(\.self) + next)
        let shown = problems.prefix(HookReport.mostProblems)
        let more = problems.count - shown.count
        add(shown + (more > 0 ? ["... and \(more) more"] : []))
        add(
            [totals.map { HookReport.done.contains(outcome) ? $0 : "Not done: \($0)" }].compactMap(\.self)
                + examples)
        if left > 0 { lines.append("... and \(left) more") }
        return Array((lines.map { singleLine($0) }.joined(separator: "\n") + "\n").utf8)
    }

    /// The names are those in `help settings init`.
    var variables: [String: String] {
        [
            "FSYNC_LITE_TARGET": target, "FSYNC_LITE_OUTCOME": outcome.rawValue,
            "FSYNC_LITE_EXIT_CODE": "\(code.rawValue)",
            "FSYNC_LITE_MESSAGE": singleLine((reasons + problems).first ?? failedCommand ?? ""),
        ]
    }
}
