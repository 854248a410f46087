import FsyncLite

enum SnapshotCreateCommand: TargetCommand {
    private static let label = OptionDescription.value("--label", "L", "the name of the snapshot")

    static let description = CommandDescription(
        name: "snapshot create", summary: "Give the present tree a label, which keeps its snapshot.",
        arguments: [.target], options: [label, .settingsFile] + OptionDescription.remote,
        examples: [("fsync-lite snapshot create mirror --label before-upgrade", "Keep the present tree")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        guard let label = try invocation.options.text(label), !label.isEmpty else {
            throw UsageError(
                "each run makes a snapshot; a name keeps this one",
                hint: "give --label L")
        }
        let target = try invocation.target()
        let previous = try target.names().first?.label
        let snapshot = try target.label(label, RetentionOptions(settingsFor: invocation))
        try console.line(SnapshotText.line(snapshot))
        if let previous, previous != label {
            Console.complain("note: it had the label \(quoted(previous.utf8)) before")
        }
        return .done
    }
}
