import FileSystem
import FsyncLite

/// The actions of a plan, a report or a comparison as lines for people.
struct ActionText {
    /// The maximum number of lines, unless all are requested.
    private static let usualLines = 1000
    /// If a new or deleted directory has more entries than this, it is one line with totals.
    private static let usualEntries = 20

    private let listsAll: Bool
    /// Also shows the sizes of deleted files and of replaced content.
    private let showsSizes: Bool
    private let isColoured: Bool

    /// - Parameter isPlain: without colours, even on a terminal.
    init(listsAll: Bool, showsSizes: Bool = false, isPlain: Bool = false) {
        (self.listsAll, self.showsSizes) = (listsAll, showsSizes)
        // NO_COLOR is valid if it is not empty: https://no-color.org.
        isColoured =
            !isPlain && StandardStream.output.understandsEscapes
            && HostProcess.environment("NO_COLOR")?.isEmpty ?? true
    }

    private struct Line {
        var action: Action
        /// The number of actions below it that are part of the line, and the bytes of all their files.
        var below = 0
        var bytes: ByteCount = 0
    }

    func write<Actions: RandomAccessCollection<Action>>(
        _ actions: Actions, to console: inout Console
    ) throws where Actions.Index == Int {
        if listsAll { return try actions.forEach { try console.line(line($0)) } }
        var count = 0
        try ActionText.group(actions) { line in
            count += 1
            if count <= ActionText.usualLines { try console.line(text(line)) }
        }
        if count > ActionText.usualLines {
            let more = count - ActionText.usualLines
            try console.line("... and \(more) more \(more == 1 ? "line" : "lines"); --all lists them")
        } else if count < actions.count {
            try console.line("--all lists what is in the directories, too")
        }
    }

    /// Makes one line of a new or deleted directory and its content if it has many entries. Other actions
    /// below it have their own lines.
    private static func group<Actions: RandomAccessCollection<Action>>(
        _ actions: Actions, _ take: (Line) throws -> Void
    ) rethrows where Actions.Index == Int {
        var index = 0
        while index < actions.count {
            let action = actions[index]
            index += 1
            guard action.type == "directory", action.verb == .create || action.verb == .delete else {
                try take(Line(action: action))
                continue
            }
            var group = Line(action: action)
            var others: [Int] = []
            var end = index
            while end < actions.count {
                let next = actions[end]
                guard next.path.isBelow(action.path) else { break }
                if next.verb == action.verb {
                    group.below += 1
                    if next.link == nil { group.bytes += next.size ?? 0 }
                } else {
                    others.append(end)
                }
                end += 1
            }
            guard group.below > usualEntries else {
                try take(Line(action: action))
                continue
            }
            try take(group)
            for other in others { try take(Line(action: actions[other])) }
            index = end
        }
    }

    func line(_ action: Action) -> String { text(Line(action: action)) }

    /// Such as `+ photos/a.jpg  4.2 MB  (new)`.
    private func text(_ line: Line) -> String {
        let action = line.action
        let (sign, colour) = ActionText.style(action.verb)
        var text = sign + " "
        if let from = action.from { text += "\(from) -> " }
        text += "\(action.path)"
        if action.type == "directory" { text += "/" }
        if let link = action.link { text += "  = \(link)" }
        if let entries = action.entries ?? (line.below > 0 ? line.below : nil) {
            text += "  \(Amount.entries(entries))"
        }
        if line.below > 0 {
            text += ", \(Amount.bytes(line.bytes))"
        } else if let size = action.size, action.link == nil,
            action.verb == .create || action.verb == .update || action.verb == .delete && showsSizes
        {
            let before = showsSizes ? action.sizeBefore.map { "\(Amount.bytes($0)) -> " } ?? "" : ""
            text += "  \(before)\(Amount.bytes(size))"
        }
        text += "  (\(action.causes.names.joined(separator: ", ")))"
        if action.isPurged { text += "  (purged)" }
        return isColoured ? "\u{1B}[\(colour)m\(text)\u{1B}[0m" : text
    }

    /// All colours that this program prints.
    static let colours = Action.Verb.allCases.map { style($0).colour }

    /// The sign of a verb, and its terminal colour.
    private static func style(_ verb: Action.Verb) -> (sign: String, colour: Int) {
        switch verb {
        case .create: ("+", 32)
        case .update: ("~", 33)
        case .attributes: ("=", 36)
        case .move: (">", 34)
        case .delete: ("-", 31)
        }
    }

    enum Tense {
        case planned, done
        /// A comparison of two trees; nothing is written.
        case compared
    }

    /// The closing line, such as `1 to create, 2 to update; 7 unchanged; 4.2 MB to copy`.
    static func totals(_ summary: ActionSummary, _ tense: Tense) -> String {
        let words =
            switch tense {
            case .planned: ["to create", "to update", "to set attributes of", "to move", "to delete"]
            case .done: ["created", "updated", "with new attributes", "moved", "deleted"]
            case .compared: ["new", "changed", "with other attributes", "moved", "gone"]
            }
        let numbers = [summary.create, summary.update, summary.attributes, summary.move, summary.delete]
        let counts = zip(numbers, words).filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let nothing = tense == .compared ? "no difference" : "nothing to do"
        let changes = counts.isEmpty ? nothing : counts.joined(separator: ", ")
        let bytes = Amount.bytes(summary.bytesToCopy)
        let copied =
            switch tense {
            case _ where summary.bytesToCopy == 0: ""
            case .planned: "; \(bytes) to copy"
            case .done: "; \(bytes) copied"
            case .compared: "; \(bytes) in new and changed files"
            }
        let unmirrored = summary.unmirrored > 0 ? ", \(summary.unmirrored) not mirrored" : ""
        return "\(changes); \(summary.unchanged) unchanged\(unmirrored)\(copied)"
    }
}
