import FileStorage
import FsyncLite

extension RunRecord {
    /// The record of this user's runs on a target here or on another machine; nil if there is no record.
    private init?(of target: [UInt8], in known: KnownTargets? = .own) {
        guard let known else { return nil }
        let isFar = (try? SyncRun.endpoint(target)) != nil
        self.init(on: target, isFar: isFar, beside: known)
    }

    /// The runs on a target, the newest last: this user's, or root's, as far as everybody may see them.
    static func runs(on target: [UInt8]) -> [RecordedRun] {
        KnownTargets.readable.lazy.compactMap { RunRecord(of: target, in: $0)?.all().nonEmpty }.first ?? []
    }

    /// The runs of each job that has any: this user's and root's.
    static var ofJobs: [(job: String, runs: [RecordedRun])] {
        KnownTargets.readable.reduce(into: []) { jobs, known in
            let names = Set(jobs.map(\.job))
            jobs += ofJobs(beside: known).filter { !names.contains($0.job) }
        }
    }

    /// Records a run from before its first scan to its end. If that fails, the run continues.
    ///
    /// - Parameters:
    ///   - outcome: makes the recorded outcome from the result.
    ///   - run: receives a note for its report if it is not recorded.
    static func noting<Result>(
        _ target: [UInt8], job: String? = nil, isQuiet: Bool, _ outcome: (Result) -> RecordedRun.Outcome,
        _ run: (_ notes: [String]) throws -> Result
    ) rethrows -> Result {
        var notes: [String] = []
        let record = RunRecord(of: target)
        func attempt<Value>(_ body: (RunRecord) throws -> Value) -> Value? {
            do {
                return try record.map(body)
            } catch {
                notes.append("this run is not recorded for 'status': \(error)")
                if !isQuiet { Console.complain("note: \(notes[notes.count - 1])") }
                return nil
            }
        }
        let begun = attempt { try $0.begin(job: job) }
        func end(_ outcome: RecordedRun.Outcome) {
            if let begun { _ = attempt { try $0.end(begun, outcome) } }
        }
        do {
            let result = try run(notes)
            end(outcome(result))
            return result
        } catch {
            end(RecordedRun.Outcome(error))
            throw error
        }
    }
}

extension RecordedRun.Outcome {
    init(_ report: Report, _ code: ExitCode) {
        let refusal = report.refusals.first ?? report.error?.refusal
        let problem = report.problems.first
        self.init(exitCode: code.rawValue)
        if report.outcome == .committed {
            (changes, copied) = (report.summary.actions, report.summary.bytesToCopy)
        }
        guard code != .done else { return }
        reason = refusal?.kind.rawValue ?? report.error?.code.rawValue ?? problem?.code.rawValue
        message =
            refusal?.reason ?? report.error.map { "\($0)" } ?? problem.map { "\($0.path): \($0.message)" }
    }

    init(_ error: any Error) {
        let known = error as? SyncError
        self.init(
            exitCode: ExitCode(of: error).rawValue,
            reason: known?.refusal?.kind.rawValue ?? known?.code.rawValue,
            message: known?.refusal?.reason ?? "\(error)")
    }

    /// - Parameter report: of the run on the other machine; nil if there is none.
    init(_ code: ExitCode, _ report: FarReport?) {
        let (refusal, problem) = (report?.refusals?.first, report?.problems?.first)
        self.init(exitCode: code.rawValue)
        if let summary = report?.summary, report?.outcome == Report.Outcome.committed.rawValue {
            changes = summary.create + summary.update + summary.attributes + summary.move + summary.delete
            copied = summary.bytesToCopy
        }
        guard code != .done else { return }
        reason = refusal?.case ?? report?.case ?? problem?.code
        message =
            refusal?.reason ?? report?.error ?? problem?.message
            ?? "it ended on the other machine with exit code \(code.rawValue); its output has the reason"
    }
}
