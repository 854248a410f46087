import FsyncLite

enum PlanCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let command = try SyncCommand(invocation)
        if let path = invocation.value("--explain") {
            return try explain(path, command, &console)
        }
        return try show(
            Synchronizer(source: command.source, target: command.target, options: command.options).plan(),
            command, &console)
    }

    static func show(_ plan: Plan, _ command: SyncCommand, _ console: inout Console) throws -> ExitCode {
        let invocation = command.invocation
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

    private static func explain(
        _ given: [UInt8], _ command: SyncCommand, _ console: inout Console
    ) throws -> ExitCode {
        guard let path = RelativePath(given.last == UInt8(ascii: "/") ? given.dropLast() : given[...]) else {
            throw UsageError(
                "\(QuotedBytes(given)) is no path below the source",
                wayOut: "give one such as src/main.c, without ./ and without / at the beginning")
        }
        let decision = try command.options.filters.explain(
            path, source: command.source, target: command.target)
        try console.line("\(path): \(decision)")
        return .done
    }
}
