import FileSystem
import FsyncLite

enum ApplyCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let command = try SyncCommand(invocation)
        return try run(command, &console) { monitor in
            Synchronizer(
                source: command.source, target: command.target, options: command.options, monitor: monitor)
        }
    }

    static func run(
        _ command: SyncCommand, _ console: inout Console, _ synchronizer: (any Monitor) -> Synchronizer
    ) throws -> ExitCode {
        let display = StandardStream.error.isTerminal && !command.isQuiet ? TerminalMonitor() : nil
        Interruption.watch()
        let synchronizer = synchronizer(RunMonitor(display: display))
        let report: Report
        do {
            defer { display?.finish() }
            report = try synchronizer.apply()
        } catch {
            try command.log("failed: \(error)", [])
            throw error
        }
        do {
            try show(report, command, &console)
        } catch {
            // The exit code tells of the target; what could not be printed does not change that.
            console.discard()
            Console.complain("\(error)")
        }
        command.complain(notes: report.notes, problems: report.problems, refusals: report.refusals)
        if report.outcome == .committed, Interruption.signal != nil {
            Console.complain("interrupted; the commit had begun and was finished: the new tree is there")
        }
        if let error = report.error { Console.complain("\(error)") }
        if report.outcome == .failed, report.error?.code != .interrupted {
            Console.complain("the target is unchanged")
            if report.error == nil {
                Console.complain("to mirror the rest: \(command.command(adding: "--keep-going"))")
            }
        }
        do {
            try log(report, command)
        } catch {
            Console.complain("\(error)")
        }
        return ExitCode(report)
    }

    private static func log(_ report: Report, _ command: SyncCommand) throws {
        try command.log(
            "\(report.outcome.rawValue): \(ActionText.totals(report.summary, past: report.outcome == .committed))",
            report.problems.map { "\($0.path): \($0.message)" } + report.refusals.map(\.reason)
                + (report.error.map { ["\($0)"] } ?? []))
    }

    private static func show(_ report: Report, _ command: SyncCommand, _ console: inout Console) throws {
        if command.isJSON {
            try PlanDocument(source: command.source, target: command.target).write(report, to: &console)
        } else {
            if command.invocation.has("--verbose") || command.invocation.has("--all") {
                for action in report.actions { try console.line(ActionText.line(action)) }
            }
            let isGood = report.outcome == .committed || report.outcome == .unchanged
            if isGood, !command.isQuiet { try console.line(ActionText.totals(report.summary, past: true)) }
        }
        try console.flush()
    }
}
