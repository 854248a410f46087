import FileStorage
import FileSystem
import FsyncLite

/// What a job's commands get: a mail that a person reads, and the variables that tell the same to a script.
struct HookReport {
    private static let mostExamples = 10
    private static let mostProblems = 20

    let job: Job
    let code: ExitCode
    private let outcome: Report.Outcome
    /// Why it did not mirror everything.
    private let reasons: [String]
    private let problems: [String]
    private var next: [String] = []
    private var totals: String?
    private var examples: [String] = []
    private var left = 0

    /// - Parameter next: what goes on after a refusal.
    init(_ job: Job, _ report: Report, _ code: ExitCode, next: [String] = []) {
        (self.job, self.code, self.next, outcome) = (job, code, next, report.outcome)
        reasons = report.refusals.map(\.reason) + (report.error.map { ["\($0)"] } ?? [])
        problems = report.problems.map { "\($0.path): \($0.message)" }
        guard report.summary.actions > 0 || reasons.isEmpty else { return }
        let isDone = outcome == .committed
        totals = ActionText.totals(report.summary, isDone ? .done : .planned)
        guard !isDone else { return }
        examples = report.actions.prefix(HookReport.mostExamples).map(ActionText.plain)
        left = max(0, report.actions.count - examples.count)
    }

    /// Of a run on another machine.
    init(_ job: Job, _ report: FarReport?, _ code: ExitCode) {
        (self.job, self.code) = (job, code)
        outcome = report.flatMap { Report.Outcome(rawValue: $0.outcome) } ?? .failed
        reasons = (report?.refusals ?? []).map(\.reason) + [report?.error].compactMap(\.self)
        problems = (report?.problems ?? []).map { "\($0.path ?? "?"): \($0.message)" }
    }

    private var target: String { "\(LocalFile(bytes: job.target))" }

    private var result: String {
        switch code {
        case .done: "was mirrored"
        case .committedWithOmissions: "was mirrored, but not all of it"
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
        add(reasons + next)
        let shown = problems.prefix(HookReport.mostProblems)
        let more = problems.count - shown.count
        add(shown + (more > 0 ? ["... and \(more) more"] : []))
        add([totals.map { outcome == .committed ? $0 : "Not done: \($0)" }].compactMap(\.self) + examples)
        if left > 0 { lines.append("... and \(left) more") }
        return Array((lines.map { singleLine($0) }.joined(separator: "\n") + "\n").utf8)
    }

    /// By the names of `help settings init`.
    var variables: [String: String] {
        [
            "FSYNC_LITE_TARGET": target, "FSYNC_LITE_OUTCOME": outcome.rawValue,
            "FSYNC_LITE_EXIT_CODE": "\(code.rawValue)",
            "FSYNC_LITE_MESSAGE": singleLine((reasons + problems).first ?? ""),
        ]
    }
}
