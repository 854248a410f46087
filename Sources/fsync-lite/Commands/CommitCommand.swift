import FileSystem
import FsyncLite

enum CommitCommand: TargetCommand {
    static let id = ArgumentDescription("ID", "the id that 'apply --prepare' has printed")

    static let description = CommandDescription(
        name: "commit", summary: "Commit the run that 'apply --prepare' has prepared.",
        discussion: """
            If a file of the prepared run has changed since, nothing is written. The command names that file and ends \
            with exit code 5. Other files are not looked at. Nothing is scanned or copied, so this takes \
            milliseconds, and a moment for the disk. If the run had nothing to do or is already committed, nothing \
            changes, and the exit code is 0. Snapshots that no rule of retention keeps are removed now.
            """,
        arguments: [.target, id],
        options: [.dryRun, RecoverCommand.trustState] + OptionDescription.output + OptionDescription.remote,
        examples: [
            ("fsync-lite commit /srv/www $id", "Swap in the new tree"),
            ("fsync-lite commit --dry-run nas:/srv/www $id", "See whether the commit is possible"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let run = try SyncRun(invocation, nil)
        console.wantsDocument = run.isJSON
        let (id, given) = (try invocation.text(id), invocation.options)
        let isDryRun = given.has(.dryRun)
        if !isDryRun { TerminationSignal.watch() }
        return ExitCode(
            try run.telling(&console) {
                try run.monitoring { monitor in
                    var report = try Target(path: run.target, name: run.shownTarget).commit(
                        id, isDryRun: isDryRun, keepsHistory: invocation.keepsHistory,
                        trustingState: given.has(RecoverCommand.trustState), monitor: monitor)
                    // Only `--prepare` prints it.
                    if !run.isJSON { report.transaction = nil }
                    return report
                }
            })
    }
}
