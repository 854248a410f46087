import FsyncLite

enum SnapshotPruneCommand: TargetCommand {
    private static let damaged = OptionDescription.flag(
        "--damaged", "remove snapshots that cannot be read, and all that are older")

    static let description = CommandDescription(
        name: "snapshot prune", summary: "Remove snapshots that no rule keeps.",
        discussion: """
            A snapshot is kept if one rule keeps it. Snapshots with a label are kept, unless --keep-label names other \
            labels. The present tree is never removed. Rules given here apply to this command only. Without any, the rules of the target apply: snapshot list shows them.
            """,
        arguments: [.target],
        options: RetentionPolicy.options + [damaged, .dryRun, .json, .quiet, .settingsFile]
            + OptionDescription.remote,
        examples: [
            (
                "fsync-lite snapshot prune mirror --keep-last 3 --keep-daily 14 --dry-run",
                "See which snapshots such rules would remove"
            )
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let options = invocation.options
        let target = try invocation.target()
        let given = try RetentionPolicy(options)
        let rules =
            try given.isEmpty
            ? target.retention(RetentionOptions(settingsFor: invocation))
            : RetentionRules(given: given)
        let (snapshots, removed) = try target.prune(
            rules.policy, dropsDamaged: options.has(damaged), isDryRun: options.has(.dryRun))
        if options.has(.json) {
            try SnapshotText.writeDocument(target.path, snapshots, rules, removed: removed, to: &console)
        } else if !options.has(.quiet) {
            try SnapshotText.write(snapshots, rules, to: &console)
            try console.line(
                SnapshotText.outcome(removed, of: snapshots.count, isDryRun: options.has(.dryRun)))
        }
        return .done
    }
}
