import FsyncLite

enum SnapshotDiffCommand: TargetCommand, ReadingCommand {
    private static let first = ArgumentDescription(
        "A", "a snapshot, as for snapshot show; latest~1 if none is given", optional: true, kind: .snapshot)
    private static let second = ArgumentDescription(
        "B", "another; latest if none is given", optional: true, kind: .snapshot)

    static let description = CommandDescription(
        name: "snapshot diff",
        summary: "Show the changes from snapshot A to B. Exits 2 if there is a difference.",
        arguments: [.target, first, second], options: [.all, .json] + OptionDescription.remote,
        examples: [
            ("fsync-lite snapshot diff mirror", "See the changes of the last run"),
            (
                "fsync-lite snapshot diff mirror 2026-11-01 latest",
                "See the changes since the first of November"
            ),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let path = try invocation.argument(.target)
        func name(_ argument: ArgumentDescription, _ usual: String) throws -> String {
            try invocation.values(argument).isEmpty ? usual : invocation.text(argument)
        }
        let changes = try invocation.target().changes(
            from: name(first, "latest~1"), to: name(second, "latest"))
        let document = PlanDocument(.directory(path), target: path)
        return try ManifestDiffCommand.write(changes, document, invocation.options, to: &console)
    }
}
