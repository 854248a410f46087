import FileSystem
import FsyncLite

enum ManifestCreateCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let path = try invocation.argument("TREE")
        let file = LocalFile(bytes: path)
        guard try file.exists else {
            throw SyncError(.inputMissing, path: path, "there is no such directory")
        }
        let tree = try Tree(path: path)
        let withDigests = invocation.has("--digest")
        let problems: [Problem]
        if let output = invocation.value("--output") {
            var file = try LocalFile(bytes: output).pendingReplacement()
            problems = try tree.writeManifest(to: &file, withDigests: withDigests)
            try file.commit()
        } else {
            problems = try tree.writeManifest(to: &console, withDigests: withDigests)
        }
        for problem in problems {
            Console.complain("\(problem.path): \(problem.message) (\(problem.code.rawValue))")
        }
        return problems.isEmpty ? .done : .committedWithOmissions
    }
}

enum ManifestShowCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let tree = try Tree(path: try invocation.argument("MANIFEST"))
        let (header, summary) = try tree.totals()
        if invocation.has("--json") {
            var text = JSONText()
            text.beginObject()
            text.field("format", "fsync-lite-manifest-totals")
            text.field("version", 1)
            if let header {
                text.field("id", header.id)
                text.field("root", "root_base64", header.root[...])
                text.field("created", header.created)
                if let source = header.source { text.field("source", "source_base64", source.path[...]) }
            }
            text.key("summary")
            text.summary(summary)
            text.endObject()
            try console.write(text.bytes + [UInt8(ascii: "\n")])
            return .done
        }
        if let header {
            try console.line("manifest     \(escapedText(header.id.utf8))")
            try console.line("root         \(LocalFile(bytes: header.root))")
            try console.line("created      \(header.created)")
            if let source = header.source {
                try console.line("source       \(LocalFile(bytes: source.path))")
            }
        }
        try console.line("files        \(summary.files)")
        try console.line("directories  \(summary.directories)")
        try console.line("symlinks     \(summary.symlinks)")
        try console.line("others       \(summary.others)")
        try console.line("bytes        \(summary.bytes)")
        return .done
    }
}

enum ManifestListCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let tree = try Tree(path: try invocation.argument("MANIFEST"))
        let (isLong, isJSON) = (invocation.has("--long"), invocation.has("--json"))
        let endsWithNUL = invocation.has("--null")
        try tree.forEach { file in
            if isJSON {
                var text = JSONText()
                text.object(file)
                try console.write(text.bytes + [UInt8(ascii: "\n")])
            } else if endsWithNUL {
                try console.write(file.path.bytes + [0])
            } else if isLong {
                try console.line(long(file))
            } else {
                try console.line("\(file.path)")
            }
        }
        return .done
    }

    /// Such as `-rw-r--r-- 1000:1000  4194304 2026-11-20T10:00:00Z a.jpg`.
    private static func long(_ file: File) -> String {
        let (letter, rest): (Character, String) =
            switch file.kind {
            case .file: ("-", "")
            case .directory: ("d", "")
            case .symlink(let destination): ("l", " -> \(LocalFile(bytes: destination))")
            case .fifo: ("p", "")
            case .characterDevice(let major, let minor): ("c", " \(major):\(minor)")
            case .blockDevice(let major, let minor): ("b", " \(major):\(minor)")
            case .socket: ("s", "")
            }
        let size = String(file.size)
        let padding = String(repeating: " ", count: max(0, 12 - size.count))
        return
            "\(letter)\(permissions(file.mode)) \(file.owner):\(file.group) \(padding)\(size) \(file.modified) \(file.path)\(rest)"
    }

    private static func permissions(_ mode: UInt16) -> String {
        var text = ""
        for (shift, special, letter) in [(6, 0o4000, "s"), (3, 0o2000, "s"), (0, 0o1000, "t")] {
            let bits = Int(mode) >> shift
            text += bits & 4 != 0 ? "r" : "-"
            text += bits & 2 != 0 ? "w" : "-"
            let isExecutable = bits & 1 != 0
            text +=
                Int(mode) & special != 0
                ? (isExecutable ? letter : letter.uppercased()) : isExecutable ? "x" : "-"
        }
        return text
    }
}

enum ManifestDiffCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let (first, second) = (try invocation.argument("A"), try invocation.argument("B"))
        let changes = try Tree(path: first).changes(to: Tree(path: second))
        if invocation.has("--json") {
            try PlanDocument(source: second, target: first).write(changes, to: &console)
        } else {
            for action in changes.actions { try console.line(ActionText.line(action)) }
        }
        return changes.summary.actions > 0 ? .different : .done
    }
}
