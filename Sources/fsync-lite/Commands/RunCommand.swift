import FileStorage
import FileSystem
import FsyncLite

enum RunCommand: Command {
    private static let job = ArgumentDescription("JOB", "the name of a job", repeated: true)
    private static let all = OptionDescription.flag("--all", "run every job, in the order of their names")
        .replacingArguments()

    static let description = CommandDescription(
        "run", summary: "Apply the jobs that the settings name.",
        discussion: """
            Each job is an apply with its own source, target and options; what is given here goes before what \
            the settings say. A job that fails does not stop the next one; the exit code is the first that is \
            not 0. A job's commands run before and after it, with the report on standard input.
            """,
        arguments: [job],
        options: [all, .settingsFile] + OptionDescription.settable,
        examples: [
            ("fsync-lite run photos", "Run one job"),
            ("fsync-lite run --all --quiet", "All of them, from cron"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let settings = try SettingsSources(invocation.options)
        // All jobs are checked before the first one begins.
        let jobs =
            try invocation.options.has(all) ? settings.jobs() : settings.jobs(named: invocation.values(job))
        guard !jobs.isEmpty else {
            throw UsageError(
                "the settings name no jobs", hint: "fsync-lite settings init writes settings to begin with")
        }
        TerminationSignal.watch()
        // For an apply the option has another meaning.
        var invocation = invocation
        invocation.options.remove(all)
        var first = ExitCode.done
        for job in jobs {
            let code = run(job, invocation, settings, &console)
            if first == .done { first = code }
            if TerminationSignal.signal != nil { break }
        }
        return first
    }

    /// Runs one job with its commands. Its error does not affect other jobs.
    private static func run(
        _ job: Job, _ invocation: Invocation, _ settings: SettingsSources, _ console: inout Console
    ) -> ExitCode {
        let run: SyncRun
        do {
            run = try SyncRun(invocation, settings, job)
        } catch {
            return ExitCode(reporting: error) { Console.complain(job.labelled($0)) }
        }
        var report: Report
        var code: ExitCode
        do {
            if let failure = job.run(.before) {
                try run.log("failed: \(failure)")
                throw SyncError(.failed, "\(failure); nothing was applied")
            }
            report = try run.apply(&console)
            code = ExitCode(report)
        } catch {
            report = Report(failedFor: error as? SyncError ?? SyncError(.failed, "\(error)"))
            code = ExitCode(reporting: error, run.complain)
        }
        do {
            var document: [UInt8] = []
            try run.document.write(report, to: &document)
            func tell(_ failure: String) throws {
                run.complain(failure)
                try run.log("problem: \(failure)")
            }
            if [.done, .committedWithOmissions].contains(code), let failure = job.run(.after, document) {
                code = .committedWithOmissions
                try tell(failure)
            }
            if code != .done, let failure = job.run(.onFailure, document) { try tell(failure) }
        } catch {
            run.complain("\(error)")
        }
        return code
    }
}

extension Job {
    /// Runs the command of a moment, if there is one.
    ///
    /// - Returns: the error; nil on success.
    fileprivate func run(_ moment: Hook.Moment, _ report: [UInt8] = []) -> String? {
        hooks.first { $0.moment == moment }.flatMap { $0.run(report: report) }
    }
}
