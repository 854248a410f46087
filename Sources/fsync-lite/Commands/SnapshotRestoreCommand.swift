import FileStorage
import FileSystem
import FsyncLite

/// Restores an earlier tree, by the steps of an apply.
enum SnapshotRestoreCommand: Command {
    static var remoteTarget: ArgumentDescription? { .target }
    static var remotePlaces: RemotePlaces { RemotePlaces(options: [to]) }

    private static let path = ArgumentDescription(
        "PATH",
        "what to restore, with all below it: a path in the tree, in TARGET or in its source, or a pattern such as '*.txt'; "
            + "everything by default", optional: true, repeated: true)
    private static let to = OptionDescription.value(
        "--to", "DIR", "copy it to this directory; of another machine, to one there: host:DIR")
    private static let toSource = OptionDescription.flag(
        "--to-source", "copy it to where TARGET was mirrored from")
    private static let inPlace = OptionDescription.flag("--in-place", "take the target back")
    static let overwrite = OptionDescription.flag(
        "--overwrite", "replace files that are there with other content")
    private static let link = OptionDescription.flag(
        "--link", "link files instead of copying them, to look at and not to write to")

    static let description = CommandDescription(
        "snapshot restore", summary: "Bring an earlier tree back, or paths of it.",
        discussion: """
            With --to or --to-source, paths are copied into a directory, under their names in the tree. What that \
            has besides stays; a file that it has with other content is refused, and listed, without --overwrite. \
            A whole tree is copied to a directory that is empty or not there. Blocks are shared where the file system \
            can. With --link files are not copied but get one more name: what is written to them later changes the \
            target or its history as well. With --in-place the target goes back, as one transaction that can be \
            undone, and by an exchange where the last apply was one; what no apply brought there stays. The history \
            stays whole.
            """,
        arguments: [.target, .snapshot, path],
        options: [to, toSource, overwrite, link, inPlace, .dryRun] + Restoration.exchangeOptions
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
        guard [to, toSource, inPlace].count(where: given.has) == 1 else {
            throw UsageError(
                "where to?",
                hint:
                    "give one of --to DIR for a copy, --to-source to put it back where it came from, or --in-place "
                    + "to take the target back")
        }
        let target = try invocation.argument(.target)
        let snapshot = try invocation.text(.snapshot)
        var restoration = Restoration(
            target: target, snapshot: snapshot,
            paths: try invocation.values(path).flatMap {
                try paths($0, in: snapshot, of: invocation.target())
            },
            destination: given.has(toSource) ? try source(of: target, invocation.client) : given.value(to))
        restoration.name = invocation.targetOfClient
        restoration.isToSource = given.has(toSource)
        restoration.linksFiles = given.has(link)
        restoration.overwrites = given.has(overwrite)
        try restoration.readExchange(given)
        let isCopy = restoration.destination != nil
        guard isCopy || !restoration.linksFiles else {
            throw UsageError("--link is for a copy", hint: "give --to DIR, or leave it out")
        }
        guard !restoration.overwrites || isCopy && !restoration.paths.isEmpty else {
            throw UsageError("--overwrite is for a copy of paths", hint: "name the paths, or leave it out")
        }
        guard restoration.exchanges == nil || !isCopy else {
            throw UsageError(
                "--exchange and --no-exchange are for --in-place", hint: "leave them out for a copy")
        }
        do {
            return try run(restoration, invocation, &console)
        } catch let error as SyncError where error.code == .inputMissing {
            // The search may fail for the same reason.
            guard let path = restoration.paths.first(where: { $0.bytes == error.path }),
                let refusal = try? invocation.target().refusal(of: path, lackedBy: snapshot)
            else { throw error }
            throw SyncError(refusal)
        }
    }

    /// The paths that an argument names: those of the snapshot that match it, if it is a pattern.
    private static func paths(
        _ argument: [UInt8], in snapshot: String, of target: Target
    ) throws -> [RelativePath] {
        let path = try RelativePath(argument: argument, in: target.path)
        guard path.bytes.contains(where: "*?[".utf8.contains) else { return [path] }
        let matching = try target.paths(matching: path.bytes, in: snapshot)
        // A name may have these characters.
        return matching.isEmpty ? [path] : matching
    }

    /// Where a target was mirrored from.
    private static func source(of target: [UInt8], _ client: Client?) throws -> [UInt8] {
        guard let named = client?.command.arguments.first, let endpoint = try Endpoint(argument: named)
        else { return try Target(path: target).source().path }
        let copy = escapedText(endpoint.location(of: Array("DIR".utf8)))
        return try Target(path: target).source(
            orElse:
                "--to \(copy) copies to a directory beside the target, and fsync-lite apply \(copy) DIR brings that here"
        ).path
    }

    static func run(
        _ restoration: Restoration, _ invocation: Invocation, _ console: inout Console
    ) throws -> ExitCode {
        let run = try SyncRun(invocation, restoration)
        if invocation.options.has(.dryRun) {
            let plan = try run.plan(&console)
            // What cannot be restored is listed, as by the run, and the rest goes ahead.
            return plan.refusals.isEmpty ? ExitCode(plan.problems) : .refused
        }
        TerminationSignal.watch()
        let report = try run.apply(&console)
        return ExitCode(report)
    }
}
