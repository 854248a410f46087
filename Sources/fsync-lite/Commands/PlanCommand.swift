import FsyncLite

enum PlanCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let command = try SyncCommand(invocation)
        let plan = try Synchronizer(source: command.source, target: command.target, options: command.options)
            .plan()
        if command.isJSON {
            try PlanDocument(source: command.source, target: command.target).write(plan, to: &console)
        } else {
            let limit =
                invocation.has("--all") || invocation.has("--verbose") ? Int.max : ActionText.usualLimit
            for action in plan.actions.prefix(limit) { try console.line(ActionText.line(action)) }
            if plan.actions.count > limit {
                try console.line("... and \(plan.actions.count - limit) more; --all lists them")
            }
            try console.line(ActionText.totals(plan.summary, past: false))
        }
        command.complain(notes: plan.notes, problems: plan.problems, refusals: plan.refusals)
        if !plan.refusals.isEmpty { return .refused }
        if !plan.problems.isEmpty, !command.options.keepGoing { return .failed }
        return invocation.has("--exit-code") && plan.summary.actions > 0 ? .different : .done
    }
}
