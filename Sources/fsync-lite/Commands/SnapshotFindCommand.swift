import FsyncLite

enum SnapshotFindCommand: TargetCommand, ReadingCommand {
    static let description = CommandDescription(
        name: "snapshot find", summary: "Find the snapshots that have a file, with its size and time.",
        discussion: """
            Each version of a file is one line, with the snapshots that have it. Exits 2 if there is none. \
            \(EntrySelection.discussion)
            """,
        arguments: [.target, EntrySelection.neededPattern],
        options: EntrySelection.options + .section("Output", .json) + OptionDescription.remote,
        examples: [
            ("fsync-lite snapshot find mirror 'thesis*' --newer 7d", "Find every version of the last week"),
            ("fsync-lite snapshot find mirror docs/plan.txt --json", "The same for a script, of one path"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let target = try invocation.target()
        let (found, damage) = try target.find(EntrySelection(invocation))
        if invocation.options.has(.json) {
            var document = DocumentWriter(format: "fsync-lite-snapshot-findings")
            document.text.field("target", "target_base64", target.path[...])
            try document.array("found", of: found, to: &console) { text, finding in
                text.fields(of: finding.file)
                text.field("snapshots", finding.snapshots.map(\.id))
            }
            try document.end(to: &console)
        } else {
            for finding in found { try console.line(line(finding)) }
        }
        if let damage {
            try console.flush()
            throw damage
        }
        guard found.isEmpty else { return .done }
        Console.complain(
            "no snapshot has such a file; to see all snapshots: fsync-lite snapshot list \(Shell.path(target.name))"
        )
        return .different
    }

    /// Such as `2026-11-20 11:00:00      4.2 MB  docs/a.odt  in 3f2a9c01, 8b1c22d0`.
    private static func line(_ finding: Target.Finding) -> String {
        let file = finding.file
        let size = file.isFile ? Amount.bytes(file.size) : "-"
        var path = "\(file.path)"
        if file.isDirectory { path += "/" }
        if file.omitted.contains(.purged) { path += "  (purged)" }
        let names = SnapshotText.names(finding.snapshots)
        return "\(file.modified.localText)  \(size.rightAligned(to: 10))  \(path)  in \(names)"
    }
}
