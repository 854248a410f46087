/// Writes a plan, or the report of an apply, as one JSON document with one action per line.
package struct PlanDocument {
    private let source: [UInt8]
    private let target: [UInt8]

    package init(source: [UInt8], target: [UInt8]) {
        self.source = source
        self.target = target
    }

    package func write(_ plan: Plan, to sink: inout some ByteSink & ~Copyable) throws {
        var document = begin("fsync-lite-plan", outcome: nil)
        try write(plan.actions, &document, to: &sink)
        end(&document, plan.summary, plan.notes, plan.problems, plan.refusals, error: nil)
        try document.drain(to: &sink, all: true)
    }

    package func write(_ report: Report, to sink: inout some ByteSink & ~Copyable) throws {
        var document = begin("fsync-lite-report", outcome: report.outcome)
        try write(report.actions, &document, to: &sink)
        end(&document, report.summary, report.notes, report.problems, report.refusals, error: report.error)
        try document.drain(to: &sink, all: true)
    }

    private func begin(_ format: String, outcome: Report.Outcome?) -> DocumentWriter {
        var document = DocumentWriter(format: format)
        document.text.field("source", "source_base64", source[...])
        document.text.field("target", "target_base64", target[...])
        if let outcome { document.text.field("outcome", outcome.rawValue) }
        return document
    }

    private func write(
        _ actions: [Action], _ document: inout DocumentWriter, to sink: inout some ByteSink & ~Copyable
    ) throws {
        document.beginArray("actions")
        for action in actions {
            document.beginElement()
            document.text.action(action)
            document.endElement()
            try document.drain(to: &sink)
        }
        document.endArray()
    }

    private func end(
        _ document: inout DocumentWriter, _ summary: ActionSummary, _ notes: [String], _ problems: [Problem],
        _ refusals: [Refusal], error: SyncError?
    ) {
        document.beginArray("problems")
        for problem in problems {
            document.beginElement()
            document.text.path(problem.path)
            document.text.field("code", problem.code.rawValue)
            document.text.field("message", problem.message)
            document.endElement()
        }
        document.endArray()
        document.beginArray("refusals")
        for refusal in refusals {
            document.beginElement()
            document.text.field("reason", refusal.reason)
            if let option = refusal.option { document.text.field("option", option) }
            document.endElement()
        }
        document.endArray()
        document.beginTrailer()
        document.text.key("notes")
        document.text.beginArray()
        for note in notes { document.text.value(note) }
        document.text.endArray()
        if let error { document.text.field("error", error.description) }
        document.text.key("summary")
        document.text.summary(summary)
        document.end(withChecksum: false)
    }
}

extension JSONText {
    /// The fields of an action in their one order.
    package mutating func action(_ action: Action) {
        field("action", action.verb.rawValue)
        if let from = action.from { field("from", "from_base64", from.bytes[...]) }
        path(action.path)
        field("type", action.type)
        if let size = action.size { field("size", size) }
        if let link = action.link { field("link", "link_base64", link.bytes[...]) }
        if let entries = action.entries { field("entries", entries) }
        key("causes")
        beginArray()
        for cause in action.causes.names { value(cause) }
        endArray()
    }

    mutating func summary(_ summary: ActionSummary) {
        beginObject()
        field("create", summary.create)
        field("update", summary.update)
        field("attributes", summary.attributes)
        field("move", summary.move)
        field("delete", summary.delete)
        field("unchanged", summary.unchanged)
        field("bytes_to_copy", summary.bytesToCopy)
        endObject()
    }
}
