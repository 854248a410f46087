import FsyncLite

enum ManifestDiffCommand: ReadingCommand {
    static var remoteTarget: ArgumentDescription? { first }
    static var remotePlaces: RemotePlaces { RemotePlaces(arguments: [.second]) }

    private static let first = ArgumentDescription("A", ArgumentDescription.manifest.help)
    private static let summary = OptionDescription.flag("--summary", "write only the totals")

    static let description = CommandDescription(
        name: "manifest diff", summary: "Show the changes from A to B. Exits 2 if there is a difference.",
        discussion: """
            Size, time, type, attributes and links are compared. A renamed file is found if A and B are of the same \
            directory. Between a tree and its copy, it is shown as deleted and created. A and B may be on another \
            machine, host:path: the manifest is fetched, or made there for a directory.
            """,
        arguments: [first, .second],
        options: [.all, summary, .json] + OptionDescription.remote,
        examples: [
            ("fsync-lite manifest diff before.json src", "See the changes since a manifest was made"),
            ("fsync-lite manifest diff nas:mirror src", "The same, with a mirror on another machine"),
            ("fsync-lite manifest diff --summary mirror src", "See how far a mirror is behind"),
            ("fsync-lite manifest diff mirror@2026-11-20 src", "See the changes since a day in November"),
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
