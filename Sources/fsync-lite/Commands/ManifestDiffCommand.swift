import FsyncLite

enum ManifestDiffCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let (first, second) = (try invocation.argument("A"), try invocation.argument("B"))
        let changes = try Tree(path: first).changes(to: Tree(path: second))
        if invocation.has("--json") {
            try PlanDocument(source: second, target: first).write(changes, to: &console)
        } else {
            if !invocation.has("--summary") {
                try ActionText(invocation).write(changes.actions, to: &console)
            }
            try console.line(ActionText.totals(changes.summary, .compared))
        }
        return changes.summary.actions > 0 ? .different : .done
    }
}
