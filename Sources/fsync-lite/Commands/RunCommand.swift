import FileStorage
import FileSystem
import FsyncLite

enum RunCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let settings = try SettingsSources(invocation)
        // All of them are looked at before the first one begins.
        let jobs =
            try invocation.has("--all") ? settings.jobs() : settings.jobs(named: invocation.arguments("JOB"))
        guard !jobs.isEmpty else {
            throw UsageError(
                "the settings name no jobs", hint: "fsync-lite settings init writes settings to begin with")
        }
        TerminationSignal.watch()
        var given = invocation
        given.optionValues["--all"] = nil
        var first = ExitCode.done
        for job in jobs {
            let code = run(job, given, settings, &console)
            if first == .done { first = code }
            if TerminationSignal.signal != nil { break }
        }
        return first
    }

    /// One job from its first command to its last. What goes wrong is this job's and nobody else's.
    private static func run(
        _ job: Job, _ invocation: Invocation, _ settings: SettingsSources, _ console: inout Console
    ) -> ExitCode {
        let command: SyncCommand
        do {
            command = try SyncCommand(invocation, settings, job)
        } catch {
            return ExitCode(reporting: error) { Console.complain("\(escapedText(job.name.utf8)): \($0)") }
        }
        var report: Report
        var code: ExitCode
        do {
            if let failure = job.run(.before) {
                try command.log("failed: \(failure)", [])
                throw SyncError(.failed, "\(failure); nothing was applied")
            }
            report = try ApplyCommand.run(command, &console)
            code = ExitCode(report)
        } catch {
            report = Report(failedFor: error as? SyncError ?? SyncError(.failed, "\(error)"))
            code = ExitCode(reporting: error, command.complain)
        }
        var document: [UInt8] = []
        do {
            try PlanDocument(source: job.source, target: job.target).write(report, to: &document)
            if [.done, .committedWithOmissions].contains(code), let failure = job.run(.after, document) {
                code = .committedWithOmissions
                command.complain(failure)
                try command.log("problem: \(failure)", [])
            }
            if code != .done, let failure = job.run(.onFailure, document) {
                command.complain(failure)
                try command.log("problem: \(failure)", [])
            }
        } catch {
            command.complain("\(error)")
        }
        return code
    }
}

extension Job {
    /// Runs the command for a moment, where there is one.
    ///
    /// - Returns: what went wrong; nil when all is well.
    fileprivate func run(_ moment: Hook.Moment, _ report: [UInt8] = []) -> String? {
        hooks.first { $0.moment == moment }.flatMap { $0.run(report: report) }
    }
}
