import FsyncLite

enum SnapshotShowCommand: Command {
    static var remoteTarget: ArgumentDescription? { .target }
    static var isReading: Bool { true }

    static let description = CommandDescription(
        "snapshot show", summary: "Show what the apply that made a snapshot changed.",
        arguments: [.target, .snapshot], options: [.all, .json] + OptionDescription.remote,
        examples: [("fsync-lite snapshot show mirror latest", "What the last apply changed")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let given = invocation.options
        let target = try invocation.target()
        let actions = try target.changes(of: invocation.text(.snapshot))
        if given.has(.json) {
            var document = DocumentWriter(format: "fsync-lite-snapshot-changes")
            document.text.field("target", "target_base64", target.path[...])
            try document.array("actions", of: actions, to: &console) { $0.action($1) }
            try document.end(to: &console)
        } else {
            try ActionText(listsAll: given.has(.all)).write(actions, to: &console)
        }
        return .done
    }
}
