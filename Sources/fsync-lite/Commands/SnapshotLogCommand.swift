import FsyncLite

enum SnapshotLogCommand: TargetCommand, ReadingCommand {
    static let description = CommandDescription(
        name: "snapshot log", summary: "Show what happened to a path, the newest first.",
        discussion: """
            A PATTERN means what it means in a .gitignore: a name at any depth, or a path where it holds a /, with \
            what is in a directory that matches. What matches is followed through renames. Exits 2 when no apply \
            that is kept changed any of it.
            """,
        arguments: [.target, EntrySelection.neededPattern], options: OptionDescription.remote,
        examples: [
            ("fsync-lite snapshot log mirror 2026/a.jpg", "The life of a file"),
            ("fsync-lite snapshot log mirror 'thesis*'", "Of every file with such a name"),
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
            "no apply that is kept changed what matches \(invocation.values(EntrySelection.neededPattern).map(quoted).joined(separator: ", "))"
        )
        return .different
    }
}
