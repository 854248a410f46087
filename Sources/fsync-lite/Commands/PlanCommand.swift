import FileStorage
import FileSystem
import FsyncLite

enum PlanCommand: ReadingCommand {
    static var remoteTarget: ArgumentDescription? { SyncRun.target }
    private static let exitCode = OptionDescription.flag(
        "--exit-code", "exit 2 if there is something to do")
    static let out = OptionDescription.value("--out", "FILE", "save the plan, for apply --plan")
    private static let show = OptionDescription.value(
        "--show", "FILE", "show a saved plan; takes no SOURCE and TARGET"
    ).replacingArguments()

    static let job = OptionDescription.value(
        "--job", "JOB", "preview a job; takes no SOURCE and TARGET"
    ).replacingArguments()

    static let description = CommandDescription(
        name: "plan", summary: "Show what apply would do. Writes nothing.",
        discussion:
            "Lists one action per line: + create, ~ update, = attributes, > move, - delete, each with its causes. "
            + "With --weak-commit, it makes and removes a directory in the target, to test the file system.",
        arguments: [SyncRun.source, SyncRun.target],
        options: [exitCode, out, show, job, .newTarget, .settingsFile] + OptionDescription.firstRun
            + OptionDescription.settable + OptionDescription.mirroringRemote + [SyncRun.allActions],
        examples: [
            ("fsync-lite plan photos /mnt/backup/photos", "Preview a backup"),
            ("fsync-lite plan --job photos", "Preview a job"),
            ("fsync-lite plan photos mirror --out photos.plan", "Save a plan to look at and apply later"),
            ("fsync-lite plan --json src mirror | jq '.summary'", "The totals, for a script"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let given = invocation.options
        if let file = given.value(show) {
            try describe(SavedPlan(reading: LocalFile(bytes: file)), given, &console)
            return .done
        }
        let settings = try SettingsSources(invocation)
        let planned =
            try invocation.client == nil
            ? given.value(job).flatMap { try settings.jobs(named: [$0]).first } : SyncRun.job(of: invocation)
        if let planned,
            let remote = try RemoteInvocation(planned, invocation, settings, as: PlanCommand.self)
        {
            return try remote.run(&console)
        }
        if planned == nil, let option = OptionDescription.firstRun.first(where: given.has) {
            throw UsageError("\(option.name) is for a job", hint: "leave it out, or give --job JOB")
        }
        let run = try SyncRun(invocation, settings, planned)
        guard !given.has(out) || run.source.directories.allSatisfy({ $0.name == nil }) else {
            throw UsageError(
                "a plan of sources with names cannot be saved",
                hint: "leave out \(out.name); run JOB plans again"
            )
        }
        console.wantsDocument = run.isJSON
        let plan = try run.plan(&console)
        let code = ExitCode(plan, run.options)
        guard code == .done else { return code }
        if let file = given.value(out) {
            let words = SavedPlan.words(for: run.given, run.options.filters)
            if let client = run.client {
                let saved = try SavedPlan(
                    plan, source: client.command.source?.directories[0].path ?? [], target: run.shownTarget,
                    options: words)
                var document: [UInt8] = []
                try saved.write(to: &document)
                client.write(document, to: .document)
            } else {
                let source = [run.source.single].compactMap(\.self)
                try SavedPlan.check(file, outside: source + [run.target], run.options.filters)
                try SavedPlan(
                    plan, source: run.source.directories[0].path, target: run.target, options: words
                ).write(to: LocalFile(bytes: file))
            }
            if run.listsPlan {
                let named = try invocation.asTyped().options.value(out) ?? file
                Console.complain("saved; to carry it out: \(run.next.carryingOut(named))")
            }
        }
        return given.has(exitCode) && plan.summary.actions > 0 ? .different : .done
    }

    private static func describe(
        _ plan: SavedPlan, _ given: GivenOptions, _ console: inout Console
    ) throws {
        guard !given.has(.json) else { return try plan.write(to: &console) }
        try console.line("saved      \(plan.saved.localText), \(plan.saved.elapsed()) ago")
        try console.line("source     \(LocalFile(bytes: plan.source))")
        try console.line("target     \(LocalFile(bytes: plan.target))")
        try console.line("manifest   \(plan.manifest.map { SnapshotName.short($0) } ?? "none")")
        for name in plan.givingWay { try console.line("removes    \(SnapshotName.short(part: name))") }
        for option in plan.options { try console.line("option     \(escapedText(option))") }
        if given.has(.all) || given.has(.verbose) {
            try ActionText(listsAll: given.has(.all)).write(plan.actions, to: &console)
        }
        try console.line(ActionText.totals(plan.summary, .planned))
    }
}

extension SyncRun {
    func plan(_ console: inout Console) throws -> Plan {
        let plan = try synchronizing { try $0.plan() }
        if isJSON {
            try document.write(plan, to: &console)
        } else if listsPlan {
            try actionText.write(plan.actions, to: &console)
            // If the run was refused before the scans, the totals would say nothing.
            if plan.refusals.isEmpty || !plan.actions.isEmpty {
                try console.line(labelled(ActionText.totals(plan.summary, .planned)))
            }
        }
        // Refusals are printed last, even if the list cannot be written.
        let flushed = Result { try console.flush() }
        let history = [
            ("to make space, this run will first remove the snapshots", plan.givingWay),
            ("this run will remove \(Amount.of(plan.expiring.count, "snapshot"))", plan.expiring),
        ]
        complain(
            notes: plan.notes + history.compactMap(SyncRun.note), problems: plan.problems,
            refusals: plan.refusals)
        for line in advice(after: plan.refusals) { complain(line) }
        try flushed.get()
        return plan
    }
}
