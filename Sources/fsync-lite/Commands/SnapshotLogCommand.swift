import FileSystem
import FsyncLite

enum SnapshotLogCommand: Command {
    private static let path = ArgumentDescription("PATH", "a path in the target as it is now")

    static let description = CommandDescription(
        "snapshot log", summary: "Show what happened to a path, the newest first.",
        arguments: [.target, path],
        examples: [("fsync-lite snapshot log mirror 2026/a.jpg", "The life of a file")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let path = try RelativePath(argument: invocation.argument(path))
        let text = ActionText(listsAll: false)
        for (snapshot, actions) in try Target(path: invocation.argument(.target)).life(of: path) {
            let head = "\(snapshot.created.map(\.description) ?? "-")  \(escapedText(snapshot.id.utf8))"
            for action in actions { try console.line("\(head)  \(text.line(action))") }
        }
        return .done
    }
}
