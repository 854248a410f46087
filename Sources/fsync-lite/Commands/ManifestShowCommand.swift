import FileStorage
import FileSystem
import FsyncLite

enum ManifestShowCommand: ReadingCommand {
    static var remoteTarget: ArgumentDescription? { .manifest }

    /// The default of `--top`: files in each list.
    private static let usualLimit = 5
    private static let top = OptionDescription.value(
        "--top", "N", "list N files of each kind (default: \(usualLimit))")

    static let description = CommandDescription(
        name: "manifest show",
        summary:
            "Show the totals of a manifest: by type and depth, and the largest, newest and oldest files.",
        arguments: [.manifest],
        options: [top, .json] + OptionDescription.remote,
        examples: [("fsync-lite manifest show --top 20 mirror", "See which files use the space")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let tree = try Tree(path: try invocation.argument(.manifest))
        let limit = try invocation.options.integer(top, in: 0...1000) ?? usualLimit
        let statistics = try tree.statistics(limit: limit)
        if invocation.options.has(.json) {
            try writeDocument(statistics, to: &console)
        } else {
            try write(statistics, to: &console)
        }
        return .done
    }

    private static func write(_ statistics: TreeStatistics, to console: inout Console) throws {
        if let header = statistics.header {
            try console.line("manifest            \(escapedText(header.id.utf8))")
            try console.line("root                \(LocalFile(bytes: header.root))")
            try console.line("created             \(header.created.localText)")
            for source in header.sources where source.path != header.root {
                try console.line("source              \(source.text)")
            }
        }
        try row("entries", statistics.summary.entries, to: &console)
        for type in FileType.allCases {
            guard let count = statistics.types[type] else { continue }
            let name = type.documentName.replacing("_", with: " ")
            try row("  \(name)", count, to: &console)
        }
        let bytes = statistics.summary.bytes
        try console.line(
            "bytes               \(bytes)\(bytes < 1000 ? "" : " (\(Amount.bytes(bytes)))")")
        for (depth, count) in statistics.levels.enumerated().prefix(usualLevels) {
            try row("at depth \(depth + 1)", count, to: &console)
        }
        let deeper = statistics.levels.dropFirst(usualLevels).reduce(0, +)
        if deeper > 0 { try row("deeper, to \(statistics.levels.count)", deeper, to: &console) }
        for (title, ranking) in [
            ("largest files", statistics.largest), ("newest files", statistics.newest),
            ("oldest files", statistics.oldest),
        ] where !ranking.files.isEmpty {
            try console.line("\(title)")
            for file in ranking.files {
                let size = Amount.bytes(file.size).rightAligned(to: 10)
                try console.line("  \(size)  \(file.modified.localText)  \(file.path)")
            }
        }
    }

    /// The maximum number of levels listed; most trees have no more.
    private static let usualLevels = 12

    private static func row(_ label: String, _ count: Int, to console: inout Console) throws {
        try console.line("\(label)  ".padded(to: 20) + "\(count)")
    }

    private static func writeDocument(_ statistics: TreeStatistics, to console: inout Console) throws {
        var document = DocumentWriter(format: "fsync-lite-manifest-totals")
        if let header = statistics.header {
            document.text.field("id", header.id)
            document.text.field("root", "root_base64", header.root[...])
            document.text.field("created", header.created)
            document.text.sources(header.sources.map { ($0.name, $0.path) })
        }
        document.text.summary(statistics.summary)
        document.text.key("depths")
        document.text.beginArray()
        for count in statistics.levels { document.text.value(count) }
        document.text.endArray()
        let types = FileType.allCases.compactMap { type in statistics.types[type].map { (type, $0) } }
        try document.array("types", of: types, to: &console) { text, entry in
            text.field("type", entry.0.documentName)
            text.field("entries", entry.1)
        }
        for (name, ranking) in [
            ("largest", statistics.largest), ("newest", statistics.newest), ("oldest", statistics.oldest),
        ] as [(StaticString, TreeStatistics.Ranking)] {
            try document.array(name, of: ranking.files, to: &console) { $0.fields(of: $1) }
        }
        try document.end(to: &console)
    }
}
