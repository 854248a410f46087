import FsyncLite

enum ManifestListCommand: ReadingCommand {
    static var remoteTarget: ArgumentDescription? { .manifest }

    private static let long = OptionDescription.flag(
        "--long", short: "-l", "with type, mode, owner, size and time")
    private static let json = OptionDescription.flag(OptionDescription.json.name, "one JSON object per line")
    static let null = OptionDescription.flag(
        "--null", short: "-0", "end each path with NUL, as it is")

    static let description = CommandDescription(
        name: "manifest list", summary: "List the files and directories of a manifest.",
        discussion: EntrySelection.discussion,
        arguments: [.manifest, EntrySelection.pattern],
        options: EntrySelection.options + .section("Output", long, json, null) + OptionDescription.remote,
        examples: [
            ("fsync-lite manifest list mirror '*.jpg' --min-size 10M --long", "List large pictures"),
            (
                "fsync-lite manifest list src --older 2020-01-01 --type file -0 | xargs -0 ls -d",
                "Hand old files to another command"
            ),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let given = invocation.options
        let tree = try Tree(path: try invocation.argument(.manifest))
        let selection = try EntrySelection(invocation)
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
