import FileStorage
import FileSystem

/// Writes a plan, or the report of a run, as one JSON document with one action per line.
package struct PlanDocument {
    private let source: MirrorSource
    private let target: [UInt8]
    /// The name of the job that is planned or run; nil without one.
    private let job: String?
    private let takesBack: [String]

    /// - Parameter takesBack: the IDs of the runs that an undo takes back, the newest first.
    package init(_ source: MirrorSource, target: [UInt8], job: String? = nil, takesBack: [String] = []) {
        self.source = source
        self.target = target
        self.job = job
        self.takesBack = takesBack
    }

    package func write(_ plan: Plan, to sink: inout some ByteSink & ~Copyable) throws {
        var document = begin("fsync-lite-plan", source.directories)
        try document.array("actions", of: plan.actions, to: &sink) { $0.action($1) }
        try end(
            &document, Report(.unchanged, plan),
            history: [("gives_way", plan.givingWay), ("expires", plan.expiring)], to: &sink)
    }

    /// The most actions in the report of a run that was refused.
    private static let mostRefused = 10

    package func write(
        _ report: Report, listsActions: Bool = true, to sink: inout some ByteSink & ~Copyable
    ) throws {
        var document = begin("fsync-lite-report", source.directories + report.sources)
        document.text.field("outcome", report.outcome.rawValue)
        if let transaction = report.transaction { document.text.field("transaction", transaction) }
        // The planned actions of a refused run can be many, and the summary counts them.
        let isRefused = report.outcome == .refused
        let most = !listsActions ? 0 : isRefused ? PlanDocument.mostRefused : report.actions.count
        let listed = report.actions.prefix(most)
        try document.array("actions", of: listed, to: &sink) { $0.action($1) }
        try end(
            &document, report,
            history: [
                ("gave_way", report.removedForSpace), ("expired_labels", report.removed.labels),
                ("removed_snapshots", report.removed.ids),
            ],
            leftOut: report.actions.count - listed.count, to: &sink)
    }

    /// Completes a report, also one that another machine wrote, after a failed command of its job.
    ///
    /// - Parameter failure: the command that failed, and how it ended.
    package static func add(failedCommand failure: String, exitCode: Int32, to report: inout [UInt8]) {
        guard let end = report.lastIndex(of: UInt8(ascii: "}")) else { return }
        var text = JSONText()
        text.raw(",")
        text.field("failed_command", failure)
        text.field("exit_code", exitCode)
        report.insert(contentsOf: text.bytes, at: end)
    }

    private func begin(_ format: String, _ sources: [(name: String?, path: [UInt8])]) -> DocumentWriter {
        var document = DocumentWriter(format: format)
        if let job { document.text.field("job", job) }
        document.text.sources(sources)
        document.text.field("target", "target_base64", target[...])
        if !takesBack.isEmpty { document.text.field("takes_back", takesBack) }
        return document
    }

    private func end(
        _ document: inout DocumentWriter, _ report: Report, history: [(key: StaticString, names: [String])],
        leftOut: Int = 0, to sink: inout some ByteSink & ~Copyable
    ) throws {
        try document.array("problems", of: report.problems, to: &sink) { text, problem in
            text.path(problem.path)
            text.field("code", problem.code.rawValue)
            text.field("message", problem.message)
        }
        try document.array("refusals", of: report.refusals, to: &sink) { text, refusal in
            text.field("case", refusal.kind.rawValue)
            text.field("reason", refusal.reason)
            if let option = refusal.option { text.field("option", option) }
            if let bytes = refusal.bytes {
                text.field("bytes_needed", bytes.needed)
                text.field("bytes_free", bytes.free)
            }
        }
        document.beginTrailer()
        document.text.field("notes", report.notes)
        if leftOut > 0 { document.text.field("actions_left_out", leftOut) }
        for (key, names) in history where !names.isEmpty { document.text.field(key, names) }
        if report.removed.bytes > 0 { document.text.field("bytes_freed", report.removed.bytes) }
        let probes = report.refusedProbes.counts
        if !probes.isEmpty {
            let names: [(StaticString, SettlingProbe.Refusal)] = [
                ("writer", .writer), ("owner", .owner), ("unsupported", .unsupported), ("moment", .moment),
            ]
            document.text.object("refused_probes") { text in
                for (name, reason) in names { if let count = probes[reason] { text.field(name, count) } }
            }
        }
        if let fileSystem = report.fileSystem { document.text.fileSystem(fileSystem) }
        if let error = report.error { document.text.field("error", error.description) }
        if let refusal = report.error?.refusal { document.text.field("case", refusal.kind.rawValue) }
        document.text.summary(report.summary)
        try document.end(to: &sink)
    }
}

extension Action {
    /// For reading a saved plan. `JSONText.action` writes the fields by hand: with the table, writing a plan took a
    /// third longer.
    static let fields: [Field<Action>] = [
        Field("action", .word(Verb.allCases, \.rawValue) { "\"\($0)\" is not an action" }, \.verb),
        Field("from", base64: "from_base64", .path, \.from),
        Field("path", base64: "path_base64", .path, \.path),
        Field(
            "type",
            .word(FileType.allCases.map(\.documentName), \.self) { "\"\($0)\" is not a type of object" },
            \.type),
        Field("size", .size, \.size), Field("link", base64: "link_base64", .path, \.link),
        Field("entries", .integer, \.entries), Field("causes", .causes, \.causes),
    ]

    /// An action to read the fields into.
    static let blank = Action(
        .create, path: .root, from: nil, type: "", size: nil, link: nil, entries: nil, causes: [])

    /// Whether an action of this verb can have these fields.
    var isPossible: Bool {
        (from != nil) == (verb == .move) && size ?? 0 >= 0 && entries ?? 0 >= 0
    }
}

extension FieldFormat<Causes> {
    static var causes: FieldFormat {
        .words(Causes.allNames.enumerated().map { (Causes(rawValue: 1 << $0.offset), $0.element) })
    }
}

extension JSONText {
    /// The field `source`, or `sources` with their names.
    package mutating func sources(_ sources: [(name: String?, path: [UInt8])]) {
        if let source = sources.first, source.name == nil {
            return field("source", "source_base64", source.path[...])
        }
        guard !sources.isEmpty else { return }
        array("sources", of: sources) { text, source in
            text.field("name", source.name ?? "")
            text.field("path", "path_base64", source.path[...])
        }
    }

    /// The fields of an action in their fixed order.
    package mutating func action(_ action: Action) {
        field("action", action.verb.rawValue)
        if let from = action.from { field("from", "from_base64", from.bytes[...]) }
        path(action.path)
        field("type", action.type)
        if let size = action.size { field("size", size) }
        if let link = action.link { field("link", "link_base64", link.bytes[...]) }
        if let entries = action.entries { field("entries", entries) }
        field("causes", action.causes.names)
        if action.isPurged { flag("purged") }
    }

    /// The object `file_system`, about the target's abilities.
    package mutating func fileSystem(_ capabilities: FileSystemCapabilities) {
        object("file_system") { text in
            text.field("name", capabilities.name)
            text.field("commit", capabilities.isComplete ? "complete" : "weak")
            text.field("lacks", capabilities.lacks)
            text.field(
                "does_not_hold", FileSystemCapabilities.Features.all.subtracting(capabilities.stored).words)
            text.field("nanoseconds_between_times", capabilities.timeStep)
        }
    }

    mutating func summary(_ summary: ActionSummary) {
        object("summary") { text in
            text.counts(summary)
            text.field("unchanged", summary.unchanged)
            if summary.unmirrored > 0 { text.field("not_mirrored", summary.unmirrored) }
            text.field("bytes_to_copy", summary.bytesToCopy)
        }
    }

    package mutating func counts(_ summary: ActionSummary) {
        field("create", summary.create)
        field("update", summary.update)
        field("attributes", summary.attributes)
        field("move", summary.move)
        field("delete", summary.delete)
    }
}
