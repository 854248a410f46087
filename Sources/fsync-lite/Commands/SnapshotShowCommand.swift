import FileSystem
import FsyncLite

enum SnapshotShowCommand: TargetCommand, ReadingCommand {
    private static let shown = ArgumentDescription(
        ArgumentDescription.snapshot.name, "\(ArgumentDescription.snapshot.help); latest if none is given",
        optional: true)
    private static let largest = OptionDescription.value(
        "--largest", "N", "only the N largest changes, the largest first")

    static let description = CommandDescription(
        name: "snapshot show", summary: "Show the changes of the run that made a snapshot.",
        arguments: [.target, shown], options: [largest, .all, .json] + OptionDescription.remote,
        examples: [
            ("fsync-lite snapshot show mirror", "See the changes of the last run"),
            ("fsync-lite snapshot show mirror --largest 10", "See the largest files of last night"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let given = invocation.options
        let most = try given.integer(largest, in: 1...Int.max)
        let target = try invocation.target()
        let name = try invocation.values(shown).isEmpty ? "latest" : invocation.text(shown)
        let (plan, made, found) = try target.changes(of: name)
        let actions = most.map { largest(plan.actions, $0) } ?? Array(plan.actions)
        if given.has(.json) {
            var document = DocumentWriter(format: "fsync-lite-snapshot-changes")
            document.text.field("target", "target_base64", target.path[...])
            document.text.field("id", made.id)
            document.text.field("after", found.id)
            SnapshotText.addRun(made, to: &document.text)
            try document.array("actions", of: actions, to: &console) { text, action in
                text.action(action)
                if let before = action.sizeBefore { text.field("size_before", before) }
            }
            try document.end(to: &console)
        } else {
            let took = made.seconds.map { ", \($0) s" } ?? ""
            let date = made.created.map { String($0.localText.prefix(16)) } ?? "-"
            try console.line("run of \(date)\(took), after \(found.shortID)")
            try ActionText(listsAll: given.has(.all) || most != nil, showsSizes: true).write(
                actions, to: &console)
            var summary = plan.summary
            summary.bytesToCopy = made.copied ?? summary.bytesToCopy
            try console.line(ActionText.totals(summary, .done))
        }
        return .done
    }

    private static func largest(_ actions: ActionList, _ most: Int) -> [Action] {
        func size(_ action: Action) -> ByteCount { max(action.size ?? 0, action.sizeBefore ?? 0) }
        return Array(actions.sorted { size($0) > size($1) }.prefix(most))
    }
}
