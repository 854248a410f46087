import FsyncLite

enum ManifestDiffCommand: ReadingCommand {
    static var remoteTarget: ArgumentDescription? { first }
    static var remotePlaces: RemotePlaces { RemotePlaces(arguments: [.second], areReadFromHere: true) }

    private static let first = ArgumentDescription("A", ArgumentDescription.manifest.help)
    private static let summary = OptionDescription.flag("--summary", "write only the totals")

    static let description = CommandDescription(
        name: "manifest diff", summary: "Show what would make A into B. Exits 2 when there is a difference.",
        discussion: """
            Size, time, type, attributes and links are compared. What was renamed is found where both tell of \
            the same directory; between a tree and a copy of it, it is gone from one path and new at another. \
            Each may be of another machine, host:path: its manifest is fetched, or made there of a directory.
            """,
        arguments: [first, .second],
        options: [.all, summary, .json] + OptionDescription.remote,
        examples: [
            ("fsync-lite manifest diff before.json src", "What changed since a manifest was made"),
            ("fsync-lite manifest diff nas:mirror src", "The same, with a mirror on another machine"),
            ("fsync-lite manifest diff --summary mirror src", "How far a mirror is behind"),
            ("fsync-lite manifest diff mirror@2026-11-20 src", "What happened since a day in November"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let (first, second) = (try invocation.argument(first), try invocation.argument(.second))
        let changes = try Tree(first, for: invocation).changes(to: Tree(second, for: invocation))
        let document = PlanDocument(.directory(second), target: first)
        return try write(
            changes, document, invocation.options, listing: !invocation.options.has(summary), to: &console)
    }

    /// Prints the result of a comparison of two trees.
    ///
    /// - Parameter listing: list the actions instead of only counting them.
    static func write(
        _ changes: Plan, _ document: PlanDocument, _ given: GivenOptions, listing: Bool = true,
        to console: inout Console
    ) throws -> ExitCode {
        if given.has(.json) {
            try document.write(changes, to: &console)
        } else {
            if listing { try ActionText(listsAll: given.has(.all)).write(changes.actions, to: &console) }
            try console.line(ActionText.totals(changes.summary, .compared))
        }
        return changes.summary.actions > 0 ? .different : .done
    }
}
