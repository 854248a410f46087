import FileStorage
import FsyncLite

enum UndoCommand: Command {
    static var remoteTarget: ArgumentDescription? { .target }

    private static let steps = OptionDescription.value(
        "--steps", "N", "take the last N applies back, as one transaction (default: 1)")

    static let description = CommandDescription(
        "undo", summary: "Take the last run back. A second undo brings it back.",
        discussion: """
            The target becomes the tree that the last apply found. Entries of the target that changed since then \
            stay as they are; those that stand in the way of an older one are listed. With --steps, what was changed by \
            hand between two of these applies goes to the history. Where the last apply was an exchange, this is one too. \
            The history stays whole. After a commit that was cut short, undo stops with 6: it may have been one of undo, \
            which must not be taken back. fsync-lite recover ends it, and snapshot list shows which tree is there.
            """,
        arguments: [.target],
        options: [steps, .dryRun] + Restoration.exchangeOptions + OptionDescription.output
            + OptionDescription.remote,
        examples: [
            ("fsync-lite undo --dry-run mirror", "What would come back"),
            ("fsync-lite undo mirror", "Take the last apply back"),
            ("fsync-lite undo --steps 3 mirror", "Take the last three back"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let target = try invocation.argument(.target)
        let steps = try invocation.options.integer(steps, in: 1...Int.max) ?? 1
        let snapshot = try invocation.target().found(
            byLast: steps, called: invocation.targetOfClient ?? target)
        var restoration = Restoration(target: target, snapshot: snapshot)
        restoration.name = invocation.targetOfClient
        restoration.keepsDrift = true
        try restoration.readExchange(invocation.options)
        return try SnapshotRestoreCommand.run(restoration, invocation, &console)
    }
}
