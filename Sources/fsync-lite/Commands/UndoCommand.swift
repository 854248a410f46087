import FileStorage
import FsyncLite

enum UndoCommand: Command {
    static var remoteTarget: ArgumentDescription? { .target }

    static let description = CommandDescription(
        "undo", summary: "Take the last apply back. Undone once more, it is there again.",
        discussion: """
            The target becomes the tree that the last apply found. Entries of the target that changed since then \
            stay as they are and are listed. Where the last apply was an exchange, this is one too. The history stays \
            whole.
            """,
        arguments: [.target],
        options: [.dryRun] + Restoration.exchangeOptions + OptionDescription.output
            + OptionDescription.remote,
        examples: [
            ("fsync-lite undo --dry-run mirror", "What would come back"),
            ("fsync-lite undo mirror", "Take the last apply back"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let target = try invocation.argument(.target)
        guard let snapshot = try invocation.target().beforeNewestChange() else {
            throw SyncError(.inputMissing, path: target, "there is nothing to undo: no apply is kept")
        }
        var restoration = Restoration(target: target, snapshot: snapshot)
        restoration.name = invocation.targetOfClient
        restoration.keepsDrift = true
        try restoration.readExchange(invocation.options)
        return try SnapshotRestoreCommand.run(restoration, invocation, &console)
    }
}
