import FileSystem
import FsyncLite

enum ApplyCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        // Before it is watched, a signal ends the wait for a pipe with patterns, settings or a plan.
        let command = try SyncCommand(invocation)
        TerminationSignal.watch()
        return ExitCode(try run(command, &console))
    }

    static func run(_ command: SyncCommand, _ console: inout Console) throws -> Report {
        let monitor = RunMonitor(isQuiet: command.isQuiet)
        let report: Report
        do {
            defer { monitor.clear() }
            report = try command.synchronizer(monitor).apply(exactly: command.saved)
        } catch {
            try command.log("failed: \(error)", [])
            throw error
        }
        do {
            try show(report, command, &console)
        } catch {
            // The exit code tells of the target; what could not be printed does not change that.
            console.discard()
            command.complain("\(error)")
        }
        // Also of a quiet run: what went does not come back.
        if let note = SyncCommand.note("to make room, these went", report.gaveWay) { command.complain(note) }
        command.complain(notes: report.notes, problems: report.problems, refusals: report.refusals)
        if report.outcome == .committed, TerminationSignal.signal != nil {
            command.complain("interrupted; the commit had begun and was finished: the new tree is there")
        }
        if let error = report.error { command.complain("\(error)") }
        if report.outcome == .failed, report.error?.code != .interrupted {
            command.complain("the target is unchanged")
            if report.error == nil {
                let isChanging = report.problems.contains { $0.code == .changing }
                command.complain(
                    isChanging
                        ? "to mirror the rest, leave --strict away"
                        : "to mirror the rest: \(command.command(adding: ["--keep-going"]))")
            }
        }
        do {
            try log(report, command)
        } catch {
            command.complain("\(error)")
        }
        return report
    }

    private static func log(_ report: Report, _ command: SyncCommand) throws {
        let totals = ActionText.totals(report.summary, report.outcome == .committed ? .done : .planned)
        let room = SyncCommand.note("to make room, these went", report.gaveWay).map { "; \($0)" } ?? ""
        try command.log(
            "\(report.outcome.rawValue): \(totals)\(room)",
            report.problems.map { "\($0.path): \($0.message)" } + report.refusals.map(\.reason)
                + (report.error.map { ["\($0)"] } ?? []))
    }

    private static func show(_ report: Report, _ command: SyncCommand, _ console: inout Console) throws {
        if command.isJSON {
            try PlanDocument(source: command.source, target: command.target).write(report, to: &console)
        } else {
            if command.invocation.has("--verbose") || command.invocation.has("--all") {
                try ActionText(command.invocation).write(report.actions, to: &console)
            }
            let isGood = report.outcome == .committed || report.outcome == .unchanged
            if isGood, !command.isQuiet {
                try console.line(command.labelled(ActionText.totals(report.summary, .done)))
            }
        }
        try console.flush()
    }
}
