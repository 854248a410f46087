import FileSystem
import FsyncLite

/// An earlier tree, by the steps of an apply.
enum SnapshotRestoreCommand: Command {
    private static let path = ArgumentDescription(
        "PATH", "what to restore, with all below it; everything by default", optional: true, repeated: true)
    private static let to = OptionDescription.value("--to", "DIR", "copy it to this directory")
    private static let link = OptionDescription.flag(
        "--link", "link files instead of copying them, to look at and not to write to")
    private static let inPlace = OptionDescription.flag("--in-place", "take the target back")

    static let description = CommandDescription(
        "snapshot restore", summary: "Bring an earlier tree back, or paths of it.",
        discussion: """
            With --to it is copied to a directory that is empty or not there, by sharing blocks where the file system \
            can. With --link files are not copied but get one more name: what is written to them later changes the \
            target or its history as well. With --in-place the target goes back, as one transaction that can be \
            undone; what no apply brought there stays.
            """,
        arguments: [.target, .snapshot, path],
        options: [to, link, inPlace, .dryRun] + OptionDescription.output,
        examples: [
            ("fsync-lite snapshot restore mirror latest~1 notes.txt --to old", "Get a file back as it was"),
            (
                "fsync-lite snapshot restore mirror 2026-11-20 --in-place --dry-run",
                "Look at what going back would do"
            ),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let directory = invocation.options.value(to)
        guard (directory == nil) == invocation.options.has(inPlace) else {
            throw UsageError(
                "where to?", hint: "give --to DIR for a copy, or --in-place to take the target back")
        }
        var restoration = Restoration(
            target: try invocation.argument(.target), snapshot: try invocation.text(.snapshot),
            paths: try invocation.values(path).map { try RelativePath(argument: $0) }, destination: directory)
        restoration.linksFiles = invocation.options.has(link)
        guard directory != nil || !restoration.linksFiles else {
            throw UsageError("--link is for a copy", hint: "give --to DIR, or leave it away")
        }
        return try run(restoration, invocation, &console)
    }

    /// Brings it back, or only says what that would do.
    static func run(
        _ restoration: Restoration, _ invocation: Invocation, _ console: inout Console
    ) throws -> ExitCode {
        let run = SyncRun(invocation, restoration)
        if invocation.options.has(.dryRun) {
            return ExitCode(try run.plan(&console), keepGoing: run.options.keepGoing)
        }
        TerminationSignal.watch()
        return ExitCode(try run.apply(&console))
    }
}
