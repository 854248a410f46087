import FileSystem
import FsyncLite

enum ApplyCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let command = try SyncCommand(invocation)
        let monitor = StandardStream.error.isTerminal && !command.isQuiet ? TerminalMonitor() : nil
        let synchronizer = Synchronizer(
            source: command.source, target: command.target, options: command.options,
            monitor: monitor ?? SilentMonitor())
        let report: Report
        do {
            defer { monitor?.finish() }
            report = try synchronizer.apply()
        } catch {
            try command.log("failed: \(error)", [])
            throw error
        }
        if command.isJSON {
            try PlanDocument(source: command.source, target: command.target).write(report, to: &console)
        } else {
            if invocation.has("--verbose") {
                for action in report.actions { try console.line(ActionText.line(action)) }
            }
            let isGood = report.outcome == .committed || report.outcome == .unchanged
            if isGood, !command.isQuiet { try console.line(ActionText.totals(report.summary, past: true)) }
        }
        command.complain(notes: report.notes, problems: report.problems, refusals: report.refusals)
        if let error = report.error { Console.complain("\(error)") }
        if report.outcome == .failed {
            Console.complain("the target is unchanged")
            if report.error == nil { Console.complain("to mirror the rest: \(command.command(adding: "--keep-going"))") }
        }
        try command.log(
            "\(report.outcome.rawValue): \(ActionText.totals(report.summary, past: report.outcome == .committed))",
            report.problems.map { "\($0.path): \($0.message)" } + report.refusals.map(\.reason)
                + (report.error.map { ["\($0)"] } ?? []))
        return ExitCode(report)
    }
}
