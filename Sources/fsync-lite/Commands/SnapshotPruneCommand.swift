import FsyncLite

enum SnapshotPruneCommand: TargetCommand {
    private static let damaged = OptionDescription.flag(
        "--damaged", "make an end to snapshots that cannot be read, and to all that are older")

    static let description = CommandDescription(
        name: "snapshot prune", summary: "Let go of snapshots that no rule keeps.",
        discussion: """
            A snapshot stays that one of the rules keeps; the present tree always stays, and what has a label, unless \
            --keep-label names those that do. Rules that are given here hold for this command only. Without any, those are used that an apply would go by: snapshot list shows them.
            """,
        arguments: [.target],
        options: RetentionPolicy.options + [damaged, .dryRun, .json, .quiet, .settingsFile]
            + OptionDescription.remote,
        examples: [
            (
                "fsync-lite snapshot prune mirror --keep-last 3 --keep-daily 14 --dry-run",
                "What such rules would let go of"
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
