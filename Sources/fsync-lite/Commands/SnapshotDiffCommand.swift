import FsyncLite

enum SnapshotDiffCommand: Command {
    static var remoteTarget: ArgumentDescription? { .target }
    static var isReading: Bool { true }

    private static let first = ArgumentDescription("A", "a snapshot, as for snapshot show", kind: .snapshot)
    private static let second = ArgumentDescription("B", "another", kind: .snapshot)

    static let description = CommandDescription(
        "snapshot diff",
        summary: "Show what would make snapshot A into B. Exits 2 when there is a difference.",
        arguments: [.target, first, second], options: [.all, .json] + OptionDescription.remote,
        examples: [
            ("fsync-lite snapshot diff mirror 2026-11-01 latest", "What happened since the first of November")
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let path = try invocation.argument(.target)
        let changes = try invocation.target().changes(
            from: invocation.text(first), to: invocation.text(second))
        let document = PlanDocument(source: path, target: path)
        return try ManifestDiffCommand.write(changes, document, invocation.options, to: &console)
    }
}
