import FileSystem
import FsyncLite

/// The options that select the entries to list.
extension EntrySelection {
    static let pattern = ArgumentDescription(
        "PATTERN", "only files and directories that match one of these", optional: true, repeated: true)
    static let neededPattern = ArgumentDescription(
        pattern.name, "a name or a path, as in a .gitignore", repeated: true)
    private static let type = OptionDescription.value(
        "--type", "TYPE", "only this type", repeatable: true,
        choices: FileType.allCases.map(\.documentName).filter { $0 != "socket" })

    private static let fields: [OptionField<EntrySelection>] = [
        OptionField(option: type) { given, selection in
            selection.types.formUnion(given.values(type).compactMap { FileType(documentName: $0) })
        },
        .size("--min-size", "only files of this size or larger") { $0.sizes.minimum = $1 },
        .size("--max-size", "only files of this size or smaller; SIZE is such as 10M") {
            $0.sizes.maximum = $1
        },
        .time("--newer", "only those modified at this time or later") { $0.earliest = $1.start },
        .time(
            "--older", "only those modified before this time, such as 2026-11-20 or, seven days ago, 7d"
        ) { $0.end = $1.start },
    ]

    static let options: [OptionDescription] = .section("Conditions", fields)

    static let discussion = """
        A PATTERN is as in a .gitignore: a name at any depth, or a path if it has a /. If a directory matches, \
        its content matches, too. With ! before it, a pattern leaves out files that match. All conditions must \
        be met. A TIME is \(TimeSpan.forms).
        """

    init(_ invocation: Invocation) throws {
        self.init()
        let target = [ArgumentDescription.target, .manifest].lazy.flatMap(invocation.values).first ?? []
        for pattern in invocation.values(EntrySelection.pattern) {
            let typed = TypedPath(pattern, in: target)
            guard add(pattern: typed.isFromTop ? [UInt8(ascii: "/")] + typed.bytes : typed.bytes) else {
                throw UsageError("\(quoted(pattern)) can match nothing", hint: "give a name or a path")
            }
        }
        for field in EntrySelection.fields { try field.read(invocation.options, &self) }
    }
}
