import FsyncLite

enum SnapshotRemoveCommand: TargetCommand {
    private static let snapshots = ArgumentDescription(
        ArgumentDescription.snapshot.name, ArgumentDescription.snapshot.help, repeated: true)

    static let description = CommandDescription(
        name: "snapshot remove", summary: "Remove the snapshots that you name, even if they have a label.",
        discussion: "The present tree and the snapshot before it, which undo needs, are never removed.",
        arguments: [.target, snapshots],
        options: [.dryRun, .json, .quiet, .settingsFile] + OptionDescription.remote,
        examples: [
            ("fsync-lite snapshot remove mirror kf4e2179 --dry-run", "See how much it would free")
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let names = try invocation.values(snapshots).map { try decoded($0, of: snapshots.name) }
        let options = try RetentionOptions(settingsFor: invocation)
        let target = try invocation.target()
        let rules = try target.retention(options)
        let given = invocation.options
        let (all, removed) = try target.remove(names, options, isDryRun: given.has(.dryRun))
        if given.has(.json) {
            try SnapshotText.writeDocument(target.path, all, rules, removed: removed, to: &console)
        } else if !given.has(.quiet) {
            try console.table(SnapshotText.table(all.filter { removed.ids.contains($0.id) }))
            try console.line(SnapshotText.outcome(removed, of: all.count, isDryRun: given.has(.dryRun)))
        }
        return .done
    }
}
