import FileStorage
import FileSystem
import FsyncLite

enum PlanCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        if let file = invocation.value("--show") {
            return try show(SavedPlan(reading: LocalFile(bytes: file)), invocation, &console)
        }
        let command = try SyncCommand(invocation)
        if let path = invocation.value("--explain") {
            return try explain(path, command, &console)
        }
        return try run(command, &console)
    }

    static func run(_ command: SyncCommand, _ console: inout Console) throws -> ExitCode {
        let invocation = command.invocation
        let monitor = RunMonitor(isQuiet: command.isQuiet)
        let plan: Plan
        do {
            defer { monitor.clear() }
            plan = try command.synchronizer(monitor).plan()
        }
        if command.isJSON {
            try PlanDocument(source: command.source, target: command.target).write(plan, to: &console)
        } else {
            try ActionText(command.invocation).write(plan.actions, to: &console)
            try console.line(ActionText.totals(plan.summary, .planned))
        }
        let history = [
            ("to make room, these go before", plan.givingWay),
            ("the rules of retention let go of these after", plan.expiring),
        ]
        command.complain(
            notes: plan.notes + history.compactMap(SyncCommand.note), problems: plan.problems,
            refusals: plan.refusals)
        if !plan.refusals.isEmpty { return .refused }
        if !plan.problems.isEmpty, !command.options.keepGoing { return .failed }
        if let file = invocation.value("--out") {
            let words = SavedPlan.words(for: command.invocation, command.options.filters)
            try SavedPlan(plan, source: command.source, target: command.target, options: words)
                .write(to: LocalFile(bytes: file))
            if !command.isQuiet {
                Console.complain(
                    "saved; to do just this: fsync-lite apply --plan \(Shell.word(file))")
            }
        }
        return invocation.has("--exit-code") && plan.summary.actions > 0 ? .different : .done
    }

    private static func show(
        _ plan: SavedPlan, _ invocation: Invocation, _ console: inout Console
    ) throws -> ExitCode {
        if invocation.has("--json") {
            try plan.write(to: &console)
            return .done
        }
        try console.line("saved      \(plan.saved), \(ElapsedTime(since: plan.saved)) ago")
        try console.line("source     \(LocalFile(bytes: plan.source))")
        try console.line("target     \(LocalFile(bytes: plan.target))")
        try console.line("manifest   \(plan.manifest.map { escapedText($0.utf8) } ?? "none")")
        for name in plan.givingWay { try console.line("gives way  \(escapedText(name.utf8))") }
        for option in plan.options { try console.line("option     \(escapedText(option))") }
        if invocation.has("--all") || invocation.has("--verbose") {
            try ActionText(invocation).write(plan.actions, to: &console)
        }
        try console.line(ActionText.totals(plan.summary, .planned))
        return .done
    }

    private static func explain(
        _ given: [UInt8], _ command: SyncCommand, _ console: inout Console
    ) throws -> ExitCode {
        let path = try RestoreCommand.path(given)
        let decision = try command.options.filters.explain(
            path, source: command.source, target: command.target)
        try console.line("\(path): \(decision)")
        return .done
    }
}
