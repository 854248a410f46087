import FsyncLite

/// A plan or a report as text for people.
struct ActionText {
    /// More actions than this are summed up, unless all are asked for.
    static let usualLimit = 1000

    /// One line per action, such as `+ photos/a.jpg  4.2 MB  (new)`.
    static func line(_ action: Action) -> String {
        var text = symbol(action.verb) + " "
        if let from = action.from { text += "\(from) -> " }
        text += "\(action.path)"
        if action.type == "directory" { text += "/" }
        if let link = action.link { text += "  = \(link)" }
        if let entries = action.entries { text += "  \(entries) entries" }
        if let size = action.size, action.link == nil, action.verb == .create || action.verb == .update {
            text += "  \(byteCount(size))"
        }
        return text + "  (\(action.causes.names.joined(separator: ", ")))"
    }

    private static func symbol(_ verb: Action.Verb) -> String {
        switch verb {
        case .create: "+"
        case .update: "~"
        case .attributes: "="
        case .move: ">"
        case .delete: "-"
        }
    }

    /// The closing line, such as `1 create, 2 update; 7 unchanged; 4.2 MB to copy`.
    static func totals(_ summary: ActionSummary, past: Bool) -> String {
        let counts = [
            (summary.create, past ? "created" : "to create"),
            (summary.update, past ? "updated" : "to update"),
            (summary.attributes, past ? "with new attributes" : "to set attributes of"),
            (summary.move, past ? "moved" : "to move"), (summary.delete, past ? "deleted" : "to delete"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let changes = counts.isEmpty ? "nothing to do" : counts.joined(separator: ", ")
        let copied =
            summary.bytesToCopy > 0
            ? "; \(byteCount(summary.bytesToCopy)) \(past ? "copied" : "to copy")" : ""
        return "\(changes); \(summary.unchanged) unchanged\(copied)"
    }

    /// Decimal units, as disks are sold: `999 B`, `4.2 MB`.
    static func byteCount(_ bytes: Int64) -> String {
        guard bytes >= 1000 else { return "\(bytes) B" }
        var value = Double(bytes) / 1000
        var unit = 0
        let units = ["kB", "MB", "GB", "TB", "PB"]
        while value >= 999.95, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}
