import FileSystem
import FsyncLite

enum ManifestListCommand: Command {
    private static let pattern = ArgumentDescription(
        "PATTERN", "only what matches one of these", optional: true, repeated: true)
    private static let type = OptionDescription.value(
        "--type", "TYPE", "only entries of this type", repeatable: true,
        choices: FileType.allCases.map(\.documentName).filter { $0 != "socket" })
    private static let long = OptionDescription.flag(
        "--long", short: "-l", "with type, mode, owner, size and time")
    private static let json = OptionDescription.flag(OptionDescription.json.name, "one JSON object per line")
    private static let null = OptionDescription.flag(
        "--null", short: "-0", "end each path with NUL, as it is")

    private static let conditions: [OptionField<EntrySelection>] = [
        OptionField(option: type) { given, selection in
            selection.types.formUnion(given.values(type).compactMap { FileType(documentName: $0) })
        },
        .size("--min-size", "only files of this size or larger") { $0.sizes.minimum = $1 },
        .size("--max-size", "only files of this size or smaller; SIZE is such as 10M") {
            $0.sizes.maximum = $1
        },
        time("--newer", "only what was modified at this time or later") { $0.earliest = $1 },
        time(
            "--older", "only what was modified before this time, such as 2026-11-20 or, seven days ago, 7d"
        ) { $0.end = $1 },
    ]

    private static func time(
        _ name: String, _ help: String, set: @escaping @Sendable (inout EntrySelection, Timestamp) -> Void
    ) -> OptionField<EntrySelection> {
        .value(
            name, "TIME", help,
            "give a day such as 2026-11-20, a time such as 2026-11-20T10:00:00Z, in UTC, or an age such as 7d",
            { Timestamp(condition: $0) }, set: set)
    }

    static let description = CommandDescription(
        "manifest list", summary: "List the entries of a manifest.",
        discussion: """
            A PATTERN means what it means in a .gitignore: a name at any depth, or a path where it holds a /. \
            What is in a directory that matches is listed with it, and ! before a pattern leaves out what \
            matches. An entry has to meet all conditions. Days and times are in UTC; ages are such as 12h, 7d, 2w \
            or 1y6mo, mo being a month of 30 days and m a minute.
            """,
        arguments: [.manifest, pattern],
        options: .section("Conditions", conditions) + .section("Output", long, json, null),
        examples: [
            ("fsync-lite manifest list mirror '*.jpg' --min-size 10M --long", "Large pictures"),
            (
                "fsync-lite manifest list src --older 2020-01-01 --type file -0 | xargs -0 ls -d",
                "Hand old files to another command"
            ),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let given = invocation.options
        let tree = try Tree(path: try invocation.argument(.manifest))
        var selection = EntrySelection()
        for pattern in invocation.values(pattern) { selection.add(pattern: pattern) }
        for condition in conditions { try condition.read(given, &selection) }
        let (isLong, isJSON, endsWithNUL) = (given.has(long), given.has(json), given.has(null))
        var (text, json) = (EntryText(), JSONText())
        try tree.forEach(in: selection) { entry in
            guard !isJSON else {
                json.clear()
                json.object(entry.file)
                json.raw("\n")
                return try console.write(json.bytes)
            }
            text.bytes.removeAll(keepingCapacity: true)
            if endsWithNUL {
                text.bytes += entry.path.bytes
            } else if isLong {
                text.appendLong(entry)
            } else {
                text.appendEscaped(entry.path.bytes)
            }
            text.bytes.append(endsWithNUL ? 0 : UInt8(ascii: "\n"))
            try console.write(text.bytes)
        }
        return .done
    }
}
