import FileStorage
import FileSystem
import FsyncLite

/// Restores an earlier tree, in the same steps as `apply`.
enum SnapshotRestoreCommand: TargetCommand {
    static var remotePlaces: RemotePlaces { RemotePlaces(options: [to]) }
    static func decidesPlace(_ invocation: Invocation) -> Bool { invocation.options.has(toSource) }

    private static let path = ArgumentDescription(
        "PATH",
        "what to restore: its path in the tree, its full path in TARGET or the source, or a pattern such as '*.txt' (default: everything)",
        optional: true, repeated: true)
    static let to = OptionDescription.value(
        "--to", "DIR", "copy it to this directory, which may be host:DIR")
    private static let toSource = OptionDescription.flag(
        "--to-source", "copy it to the source of TARGET")
    private static let inPlace = OptionDescription.flag("--in-place", "change TARGET back to this snapshot")
    static let overwrite = OptionDescription.flag(
        "--overwrite", "replace files that have other content")

    static let description = CommandDescription(
        name: "snapshot restore", summary: "Restore an earlier tree, or files of it.",
        discussion: """
            With --to or --to-source, paths are copied into a directory, under their names in the tree. Other files in \
            the directory are left unchanged. If a file exists with other content, the restore is refused; --overwrite \
            replaces it. A whole tree is copied to an empty or new directory. Blocks are shared if the file system can.
            With --in-place, TARGET changes back, as one transaction that can be undone. Files that no run copied there \
            are left unchanged, and no snapshot is removed. After an interrupted commit, it stops with exit code 6, as undo does.
            """,
        arguments: [.target, .snapshot, path],
        options: [to, toSource, overwrite, inPlace, .dryRun] + Restoration.exchangeOptions
            + OptionDescription.output + OptionDescription.remote,
        examples: [
            ("fsync-lite snapshot restore mirror latest~1 notes.txt --to .", "Restore a file"),
            (
                "fsync-lite snapshot restore mirror yesterday docs --to-source --dry-run",
                "Preview the restore of a directory"
            ),
            (
                "fsync-lite snapshot restore mirror 2026-11-20 --in-place --dry-run",
                "Preview the way back to an older tree"
            ),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let given = invocation.options
        // A client that has the target sends `--to`, even beside `--to-source`.
        let places = [to, toSource, inPlace].count(where: given.has)
        guard places == 1 || places == 2 && invocation.client?.command.source != nil else {
            throw UsageError(
                "the place of the restored files is missing",
                hint:
                    "give one of --to DIR for a copy, --to-source to copy them to the source, or --in-place to change the target back"
            )
        }
        let target = try invocation.argument(.target)
        var restoration = Restoration(target: target, snapshot: try invocation.text(.snapshot))
        restoration.destination = given.value(to)
        restoration.name = invocation.targetOfClient
        restoration.isToSource = given.has(toSource)
        restoration.overwrites = given.has(overwrite)
        try restoration.readExchange(given)
        let words = invocation.values(path)
        let isCopy = !given.has(inPlace)
        guard !restoration.overwrites || isCopy && !words.isEmpty else {
            throw UsageError(
                "--overwrite is for copies of paths", hint: "name the paths, or leave it out")
        }
        guard restoration.exchanges == nil || !isCopy else {
            throw UsageError(
                "--exchange and --no-exchange are only for --in-place", hint: "leave them out for a copy")
        }
        let far = FarRestoration(restoration: restoration, words: words, invocation: invocation)
        if let code = try far.run(&console) { return code }
        let there = Target(path: target, name: invocation.targetOfClient)
        restoration.paths = try paths(words, in: restoration)
        if restoration.isToSource { restoration.destination = try there.source().path }
        do {
            return try run(SyncRun(invocation, restoration), invocation, &console)
        } catch let error as SyncError {
            throw there.explained(error, restoration)
        }
    }

    /// The paths that words name in a snapshot of a target here.
    static func paths(_ words: [[UInt8]], in restoration: Restoration) throws -> [RelativePath] {
        let target = Target(path: restoration.target)
        return try words.flatMap { word in
            try target.paths(
                named: RelativePath(argument: word, in: target.path), in: restoration.snapshot)
        }
    }

    static func run(
        _ run: SyncRun, _ invocation: Invocation, _ console: inout Console
    ) throws -> ExitCode {
        if invocation.options.has(.dryRun) {
            let plan = try run.plan(&console)
            // As in the run, files that cannot be restored are listed, and the rest is restored.
            return plan.refusals.isEmpty ? ExitCode(plan.problems) : .refused
        }
        TerminationSignal.watch()
        let report = try run.apply(&console)
        return ExitCode(report)
    }
}
