import FileStorage
import FileSystem
import FsyncLite

enum RunCommand: Command {
    private static let job = ArgumentDescription("JOB", "the name of a job", optional: true, repeated: true)
    private static let all = OptionDescription.flag(
        "--all", "run every job that is not disabled, in the order of their names"
    ).replacingArguments()

    static let description = CommandDescription(
        name: "run", summary: "Run jobs of the settings.",
        discussion: """
            Each job has its own source, target and options. Options given here override the settings. \
            After a job that fails, the next one runs; the exit code is the first that is not 0. A job's commands \
            run before and after it, with the report on standard input.
            The run is refused if the target is missing, is new to fsync-lite, or is on another file system than last \
            time. Most often, a disk is not mounted then. Give --create-target for the first run, and --change-target for the first \
            run on another disk.
            """,
        arguments: [job],
        options: [all, .dryRun, .settingsFile] + OptionDescription.firstRun + OptionDescription.settable
            + OptionDescription.mirroringRemote,
        examples: [
            ("fsync-lite run photos --create-target", "Run a job for the first time"),
            ("fsync-lite run --dry-run photos", "Preview it; plan --job photos is the same"),
            ("fsync-lite run --all --quiet", "All of them, from cron"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let settings = try SettingsSources(invocation.options)
        // All jobs are checked before the first one begins.
        let isAll = invocation.options.has(all)
        let names = invocation.values(job)
        guard isAll || !names.isEmpty else { throw try settings.noJob("'run' is missing JOB") }
        let jobs = try isAll ? settings.someJobs().filter { $0.disabled == nil } : settings.jobs(named: names)
        if let option = OptionDescription.firstRun.first(where: invocation.options.has),
            isAll || jobs.count > 1
        {
            throw UsageError(
                "\(option.name) is for one job, so that no other job writes below an empty mount point",
                hint: "next: fsync-lite run JOB \(option.name)")
        }
        if jobs.isEmpty, !invocation.options.has(.quiet) { Console.complain(settings.nothingEnabled) }
        // Here `--all` selects jobs; for `apply` it lists actions.
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

    /// Shows the plan of a job, without running its commands. Its error does not affect other jobs.
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

    /// Runs one job with its commands, and records it. Its error does not affect other jobs.
    private static func run(
        _ job: Job, _ invocation: Invocation, _ settings: SettingsSources, _ console: inout Console
    ) -> ExitCode {
        let isQuiet = invocation.options.has(.quiet)
        let noted = RunRecord.noting(job.target, job: job.name, isQuiet: isQuiet, \.self) { notes in
            run(job, invocation, settings, notes, &console)
        }
        return ExitCode(rawValue: noted.exitCode) ?? .failed
    }

    /// - Parameter notes: added to its report.
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
        var ended: HookReport
        do {
            if let failure = job.run(.before) {
                steps.given.log(["failed: \(failure)"], of: self, job)
                throw SyncError(.failed, "\(failure); nothing was applied")
            }
            ended = try steps.apply(&console, notes)
        } catch {
            let (report, code) = self.report(error, of: job, invocation, steps.given, &console)
            ended = HookReport(job, report, code, steps.format.bytes(of: report), RecordedRun.Outcome(error))
        }
        func reportFailure(_ failure: String) {
            Console.complain(job.labelled(failure))
            steps.given.log(["problem: \(failure)"], of: self, job)
        }
        if [.done, .committedWithOmissions].contains(ended.code), let failure = job.run(.after, ended) {
            ended.fail(failure, .committedWithOmissions)
            reportFailure(failure)
        }
        if ended.code != .done, let failure = job.run(.onFailure, ended) {
            ended.note(failure)
            reportFailure(failure)
        }
        return ended.recorded
    }

    /// Prints the error that ended a job, also as JSON if wanted. The report is for the job's commands.
    private static func report(
        _ error: any Error, of job: Job, _ invocation: Invocation, _ given: GivenOptions,
        _ console: inout Console
    ) -> (report: Report, code: ExitCode) {
        // A client never runs a job by `run`, so all its words are known here.
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

extension Job {
    /// Runs the command of a moment, if there is one.
    ///
    /// - Returns: the error; nil on success.
    fileprivate func run(_ moment: Hook.Moment, _ report: HookReport? = nil) -> String? {
        hooks.first { $0.moment == moment }.flatMap { $0.run(of: self, report) }
    }
}

/// A job's apply, here or on another machine.
private struct Steps {
    /// Completed by settings.
    let given: GivenOptions
    let format: PlanDocument
    /// Receives notes for a report of this machine.
    let apply: (inout Console, _ notes: [String]) throws -> HookReport

    init(_ job: Job, _ invocation: Invocation, _ settings: SettingsSources) throws {
        if let remote = try RemoteInvocation(job, invocation, settings, as: ApplyCommand.self) {
            (given, format) = (remote.options, remote.document)
            apply = { [format] console, _ in
                let (code, document) = try remote.run(&console, wantsReport: true)
                let report = FarReport(document)
                let failure = SyncError(.failed, "\(FarFailure(code: code))")
                return HookReport(
                    job, report, code,
                    document.isEmpty ? format.bytes(of: Report(failedFor: failure)) : document,
                    RecordedRun.Outcome(code, report))
            }
        } else {
            let run = try SyncRun(invocation, settings, job)
            (given, format) = (run.given, run.document)
            apply = { [format] console, notes in
                let report = try run.apply(&console, notes)
                let code = ExitCode(report)
                return HookReport(
                    job, report, code, format.bytes(of: report), RecordedRun.Outcome(report, code),
                    next: run.advice(after: report))
            }
        }
    }
}

extension PlanDocument {
    fileprivate func bytes(of report: Report) -> [UInt8] {
        var document: [UInt8] = []
        do {
            try write(report, to: &document)
        } catch {
            Console.complain("\(error)")
        }
        return document
    }
}
