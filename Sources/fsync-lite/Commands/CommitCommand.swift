import FileSystem
import FsyncLite

enum CommitCommand: TargetCommand {
    static let id = ArgumentDescription("ID", "what 'apply --prepare' has printed")

    static let description = CommandDescription(
        name: "commit", summary: "Commit what 'apply --prepare' has prepared.",
        discussion: """
            Everything that takes part must be as it was when it was prepared: an object that was changed since ends \
            this with exit code 5, named, and nothing is written. What takes no part is not looked at. Nothing is \
            scanned or copied, so this takes milliseconds, and a moment for the disk. The id of a run that had \
            nothing to do, and one that is committed already, change nothing, with exit code 0. What no rule of \
            retention keeps goes now.
            """,
        arguments: [.target, id],
        options: [.dryRun, RecoverCommand.trustState] + OptionDescription.output + OptionDescription.remote,
        examples: [
            ("fsync-lite commit /srv/www $id", "Let the new tree take its place"),
            ("fsync-lite commit --dry-run nas:/srv/www $id", "Would it?"),
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
