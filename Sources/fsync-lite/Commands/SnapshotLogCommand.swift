import FsyncLite

enum SnapshotLogCommand: TargetCommand, ReadingCommand {
    static let description = CommandDescription(
        name: "snapshot log", summary: "Show the changes of a path, the newest first.",
        discussion: """
            A PATTERN is as in a .gitignore: a name at any depth, or a path if it has a /. If a directory matches, its \
            content matches, too. Renames are followed. Exits 2 if no run in the history changed a file that matches.
            """,
        arguments: [.target, EntrySelection.neededPattern], options: OptionDescription.remote,
        examples: [
            ("fsync-lite snapshot log mirror 2026/a.jpg", "See all changes of a file"),
            ("fsync-lite snapshot log mirror 'thesis*'", "See those of every file with such a name"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let text = ActionText(listsAll: false)
        let (life, damage) = try invocation.target().life(of: EntrySelection(invocation))
        for (snapshot, actions) in life {
            let head = "\(snapshot.created?.localText ?? "-")  \(snapshot.shortID)"
            for action in actions { try console.line("\(head)  \(text.line(action))") }
        }
        if let damage {
            try console.flush()
            throw damage
        }
        guard life.isEmpty else { return .done }
        Console.complain(
            "no run in the history changed a file that matches \(invocation.values(EntrySelection.neededPattern).map(quoted).joined(separator: ", "))"
        )
        return .different
    }
}
