import FileStorage
import FileSystem
import FsyncLite

/// Restores an earlier tree, in the same steps as `apply`.
enum SnapshotRestoreCommand: TargetCommand {
    static var remotePlaces: RemotePlaces { RemotePlaces(options: [to], areReadFromHere: true) }
    static func decidesPlace(_ invocation: Invocation) -> Bool { invocation.options.has(toSource) }

    private static let path = ArgumentDescription(
        "PATH",
        "what to restore, with all below it: a path in the tree, in TARGET or in its source, or a pattern such as '*.txt'; "
            + "everything by default", optional: true, repeated: true)
    static let to = OptionDescription.value(
        "--to", "DIR", "copy it to this directory; to one of another machine: host:DIR")
    private static let toSource = OptionDescription.flag(
        "--to-source", "copy it to where TARGET was mirrored from")
    private static let inPlace = OptionDescription.flag("--in-place", "take the target back")
    static let overwrite = OptionDescription.flag(
        "--overwrite", "replace files that are there with other content")

    static let description = CommandDescription(
        name: "snapshot restore", summary: "Bring an earlier tree back, or paths of it.",
        discussion: """
            With --to or --to-source, paths are copied into a directory, under their names in the tree. What that \
            has besides stays; a file that it has with other content is refused, and listed, without --overwrite. \
            A whole tree is copied to a directory that is empty or not there. Blocks are shared where the file system \
            can. With --in-place the target goes back, as one transaction that can be \
            undone, and by an exchange where the last apply was one; what no apply brought there stays. The history \
            stays whole. After a commit that was cut short, --in-place stops with 6, as undo does.
            """,
        arguments: [.target, .snapshot, path],
        options: [to, toSource, overwrite, inPlace, .dryRun] + Restoration.exchangeOptions
            + OptionDescription.output + OptionDescription.remote,
        examples: [
            ("fsync-lite snapshot restore mirror latest~1 notes.txt --to .", "Get a file back as it was"),
            (
                "fsync-lite snapshot restore mirror yesterday docs --to-source --dry-run",
                "See what putting a directory back would do"
            ),
            (
                "fsync-lite snapshot restore mirror 2026-11-20 --in-place --dry-run",
                "Look at what going back would do"
            ),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let given = invocation.options
        // A client that has the target sends `--to`, even beside `--to-source`.
        let places = [to, toSource, inPlace].count(where: given.has)
        guard places == 1 || places == 2 && invocation.client?.command.source != nil else {
            throw UsageError(
                "where to?",
                hint:
                    "give one of --to DIR for a copy, --to-source to put it back where it came from, or --in-place "
                    + "to take the target back")
        }
        let target = try invocation.argument(.target)
        var restoration = Restoration(target: target, snapshot: try invocation.text(.snapshot))
        restoration.destination = given.value(to)
        restoration.name = invocation.targetOfClient
        restoration.isToSource = given.has(toSource)
        restoration.overwrites = given.has(overwrite)
        try restoration.readExchange(given)
        let words = invocation.values(path)
        try check(restoration, hasPaths: !words.isEmpty, isCopy: !given.has(inPlace))
        if let code = try FarRestoration(restoration, words, invocation).run(&console) { return code }
        let there = Target(path: target, name: invocation.targetOfClient)
        restoration.paths = try paths(words, in: restoration)
        if restoration.isToSource { restoration.destination = try there.source().path }
        do {
            return try run(SyncRun(invocation, restoration), invocation, &console)
        } catch let error as SyncError {
            throw there.explained(error, restoration)
        }
    }

    /// The destination of a client's copy as `host:path`; nil if there is none.
    static func copyOfClient(_ invocation: Invocation) -> [UInt8]? {
        invocation.client?.command.options.first { $0.name == to.name }?.values?.first
    }

    /// The paths that words name in a snapshot of a target here.
    static func paths(_ words: [[UInt8]], in restoration: Restoration) throws -> [RelativePath] {
        let target = Target(path: restoration.target)
        return try words.flatMap { word in
            try target.paths(
                named: RelativePath(argument: word, in: target.path), in: restoration.snapshot)
        }
    }

    private static func check(
        _ restoration: Restoration, hasPaths: Bool, isCopy: Bool
    ) throws(UsageError) {
        guard !restoration.overwrites || isCopy && hasPaths else {
            throw UsageError("--overwrite is for a copy of paths", hint: "name the paths, or leave it out")
        }
        guard restoration.exchanges == nil || !isCopy else {
            throw UsageError(
                "--exchange and --no-exchange are for --in-place", hint: "leave them out for a copy")
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
