import FileSystem
import FsyncLite

enum ManifestListCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let tree = try Tree(path: try invocation.argument("MANIFEST"))
        let selection = try EntrySelection(invocation)
        let (isLong, isJSON) = (invocation.has("--long"), invocation.has("--json"))
        let endsWithNUL = invocation.has("--null")
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

extension EntrySelection {
    /// What a command line asks for.
    init(_ invocation: Invocation) throws {
        self.init()
        for pattern in invocation.arguments("PATTERN") { add(pattern: pattern) }
        for name in invocation.values("--type") {
            if let type = FileType(documentName: name) { types.insert(type) }
        }
        sizes = try SizeLimits(invocation)
        let hint =
            "give a day such as 2026-11-20, a time such as 2026-11-20T10:00:00Z, in UTC, or an age such as 7d"
        earliest = try invocation.value("--newer", hint) { Timestamp(condition: $0) }
        end = try invocation.value("--older", hint) { Timestamp(condition: $0) }
    }
}
