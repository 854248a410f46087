import FileStorage
import FileSystem
import FsyncLite

enum RunCommand: Command {
    private static let job = ArgumentDescription("JOB", "the name of a job", optional: true, repeated: true)
    private static let all = OptionDescription.flag(
        "--all", "run every job that is not disabled, in the order of their names"
    ).replacingArguments()

    static let description = CommandDescription(
        "run", summary: "Apply the jobs that the settings name.",
        discussion: """
            Each job is an apply with its own source, target and options; what is given here goes before what \
            the settings say. A job that fails does not stop the next one; the exit code is the first that is \
            not 0. A job's commands run before and after it, with the report on standard input.
            A job never begins its target unasked: one that is missing, was never written by fsync-lite, or is on \
            another file system than last time is most likely a disk that is not mounted, and the run is refused. The \
            first run takes --create-target, and the first after a move to another disk --change-target.
            """,
        arguments: [job],
        options: [all, .dryRun, .settingsFile] + OptionDescription.firstRun + OptionDescription.settable
            + OptionDescription.mirroringRemote,
        examples: [
            ("fsync-lite run photos --create-target", "Run a job for the first time"),
            ("fsync-lite run --dry-run photos", "See what it would do; plan --job photos is the same"),
            ("fsync-lite run --all --quiet", "All of them, from cron"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let settings = try SettingsSources(invocation.options)
        // All jobs are checked before the first one begins.
        let isAll = invocation.options.has(all)
        let names = invocation.values(job)
        guard isAll || !names.isEmpty else { throw try settings.noJob("'run' is missing JOB") }
        let jobs = try isAll ? settings.enabledJobs() : settings.jobs(named: names)
        if let option = OptionDescription.firstRun.first(where: invocation.options.has),
            isAll || jobs.count > 1
        {
            throw UsageError(
                "\(option.name) is for one job, so that no other fills the disk below a mount point",
                hint: "fsync-lite run JOB \(option.name)")
        }
        if jobs.isEmpty, !invocation.options.has(.quiet) { Console.complain(settings.nothingEnabled) }
        // For an apply the options have another meaning.
        var given = invocation
        given.options.remove(all)
        let isDryRun = invocation.options.has(.dryRun)
        if !isDryRun { TerminationSignal.watch() }
        var first = ExitCode.done
        for job in jobs {
            let code = isDryRun ? plan(job, given, settings, &console) : run(job, given, settings, &console)
            if first == .done { first = code }
            if TerminationSignal.signal != nil { break }
        }
        return first
    }

    /// Shows what a job would do, without its commands. Its error does not affect other jobs.
    private static func plan(
        _ job: Job, _ invocation: Invocation, _ settings: SettingsSources, _ console: inout Console
    ) -> ExitCode {
        do {
            if let remote = try RemoteInvocation(job, invocation, settings, as: PlanCommand.self) {
                return try remote.run(&console)
            }
            let run = try SyncRun(invocation, settings, job)
            return ExitCode(try run.plan(&console), run.options)
        } catch {
            return report(error, of: job, invocation, invocation.options, &console).code
        }
    }

    /// Runs one job with its commands, and notes it. Its error does not affect other jobs.
    private static func run(
        _ job: Job, _ invocation: Invocation, _ settings: SettingsSources, _ console: inout Console
    ) -> ExitCode {
        let isQuiet = invocation.options.has(.quiet)
        let noted = try? RunRecord.noting(job.target, job: job.name, isQuiet: isQuiet, \.self) { notes in
            run(job, invocation, settings, notes, &console)
        }
        return noted.flatMap { ExitCode(rawValue: $0.exitCode) } ?? .failed
    }

    /// - Parameter notes: for its report.
    private static func run(
        _ job: Job, _ invocation: Invocation, _ settings: SettingsSources, _ notes: [String],
        _ console: inout Console
    ) -> RecordedRun.Outcome {
        let steps: Steps
        do {
            if let location = job.disabled {
                throw SyncError(.disabledJob(location))
            }
            steps = try Steps(job, invocation, settings)
        } catch {
            _ = report(error, of: job, invocation, invocation.options, &console)
            return RecordedRun.Outcome(error)
        }
        var ended: EndedRun
        do {
            if let failure = job.run(.before) {
                try steps.log("failed: \(failure)")
                throw SyncError(.failed, "\(failure); nothing was applied")
            }
            ended = try steps.apply(job, &console, notes)
        } catch {
            let (report, code) = self.report(error, of: job, invocation, steps.given, &console)
            ended = EndedRun(
                report: HookReport(job, report, code), document: steps.document(report),
                outcome: RecordedRun.Outcome(error))
        }
        /// The other commands run also if the log cannot be written.
        func tell(_ failure: String) {
            Console.complain(job.labelled(failure))
            do {
                try steps.log("problem: \(failure)")
            } catch {
                Console.complain(job.labelled("\(error)"))
            }
        }
        if [.done, .committedWithOmissions].contains(ended.code), let failure = job.run(.after, ended) {
            ended.fail(failure, .committedWithOmissions)
            tell(failure)
        }
        if ended.code != .done, let failure = job.run(.onFailure, ended) {
            ended.note(failure)
            tell(failure)
        }
        return ended.outcome
    }

    /// Tells of an error that ended a job, and writes its document where one is wanted. The report is for its commands.
    private static func report(
        _ error: any Error, of job: Job, _ invocation: Invocation, _ given: GivenOptions,
        _ console: inout Console
    ) -> (report: Report, code: ExitCode) {
        // A job is run by no client, whose words might be unknown here.
        let next = try? NextCommand(invocation, job)
        let code = ExitCode(reporting: error, advice: { next?.advice(after: [$0]) ?? [] }) {
            Console.complain(job.labelled($0))
        }
        let report = Report(failedFor: error as? SyncError ?? SyncError(.failed, "\(error)"))
        if given.has(.json) {
            do {
                try ErrorDocument.write(error, code, job: job.name, to: &console)
                try console.flush()
            } catch {
                Console.complain("\(error)")
            }
        }
        return (report, code)
    }
}

/// How a job's apply ended.
private struct EndedRun {
    private(set) var report: HookReport
    /// The same in JSON.
    private(set) var document: [UInt8]
    /// The same for the record of runs.
    private(set) var outcome: RecordedRun.Outcome

    var code: ExitCode { report.code }

    init(report: HookReport, document: [UInt8], outcome: RecordedRun.Outcome) {
        (self.report, self.document, self.outcome) = (report, document, outcome)
        self.outcome.exitCode = report.code.rawValue
    }

    /// A command of the job failed, and the job ends with this exit code.
    mutating func fail(_ command: String, _ code: ExitCode) {
        report.fail(command, code)
        PlanDocument.add(failedCommand: command, exitCode: code.rawValue, to: &document)
        outcome.exitCode = code.rawValue
        note(command)
    }

    /// Records a command that failed, unless the run has another reason.
    mutating func note(_ command: String) {
        guard outcome.message == nil else { return }
        (outcome.reason, outcome.message) = ("command", command)
    }
}

extension Job {
    /// Runs the command of a moment, if there is one.
    ///
    /// - Returns: the error; nil on success.
    fileprivate func run(_ moment: Hook.Moment, _ ended: EndedRun? = nil) -> String? {
        hooks.first { $0.moment == moment }.flatMap { $0.run(of: self, ended?.report, ended?.document ?? []) }
    }
}

/// A job's apply, here or on another machine.
private enum Steps {
    case here(SyncRun)
    case there(RemoteInvocation)

    init(_ job: Job, _ invocation: Invocation, _ settings: SettingsSources) throws {
        if let remote = try RemoteInvocation(job, invocation, settings, as: ApplyCommand.self) {
            self = .there(remote)
        } else {
            self = .here(try SyncRun(invocation, settings, job))
        }
    }

    var given: GivenOptions {
        switch self {
        case .here(let run): run.given
        case .there(let remote): remote.options
        }
    }

    /// - Parameter notes: for a report of this machine.
    func apply(_ job: Job, _ console: inout Console, _ notes: [String]) throws -> EndedRun {
        switch self {
        case .here(let run):
            let report = try run.apply(&console, notes)
            let code = ExitCode(report)
            return EndedRun(
                report: HookReport(job, report, code, next: run.advice(after: report)),
                document: document(report), outcome: RecordedRun.Outcome(report, code))
        case .there(let remote):
            let (code, document) = try remote.run(&console, wantsReport: true)
            let report = FarReport(document)
            let failure = SyncError(.failed, "it failed there, with exit code \(code.rawValue)")
            return EndedRun(
                report: HookReport(job, report, code),
                document: document.isEmpty ? self.document(Report(failedFor: failure)) : document,
                outcome: RecordedRun.Outcome(code, report))
        }
    }

    func document(_ report: Report) -> [UInt8] {
        var document: [UInt8] = []
        let format =
            switch self {
            case .here(let run): run.document
            case .there(let remote): remote.document
            }
        do {
            try format.write(report, to: &document)
        } catch {
            Console.complain("\(error)")
        }
        return document
    }

    func log(_ text: String) throws {
        switch self {
        case .here(let run): try run.log(text)
        case .there(let remote): try remote.log(text)
        }
    }
}
