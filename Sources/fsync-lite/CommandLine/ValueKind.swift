import FileSystem

/// The kind of a value, for completions.
enum ValueKind: Equatable, Sendable {
    case directory
    /// A file or a directory.
    case path
    case choice([String])
    /// A command of the program.
    case command
    /// A snapshot of the target that the first argument names.
    case snapshot
    /// A job of the settings.
    case job
    /// A directory, or a job of the settings.
    case directoryOrJob
    /// A pattern of a filter or of a search. No completions.
    case pattern
    /// No completions.
    case text

    /// The kind that belongs to a placeholder in help, or one of a few words.
    init(placeholder: String, choices: [String]) {
        self =
            switch placeholder {
            case _ where !choices.isEmpty: .choice(choices)
            case "SOURCE", "TARGET", "TREE", "DIR": .directory
            case "FILE", "MANIFEST", "A", "B": .path
            case "COMMAND": .command
            case "ID": .snapshot
            case "JOB": .job
            case "PATTERN": .pattern
            default: .text
            }
    }

    /// The wanted value, for a hint; nil if an empty one is possible.
    private var wanted: String? {
        switch self {
        case .directory, .directoryOrJob: "the path of a directory"
        case .path: "the path of a file"
        case .snapshot: "an id, a label, latest or a time"
        case .job: "the name of a job"
        case .pattern: "a pattern, as in a .gitignore"
        case .choice, .command, .text: nil
        }
    }

    /// Throws if the value is empty, or is not one of the allowed words. Throws also for a path in which a shell
    /// has left a `~`: it would name another directory than the typed one.
    func check(_ value: [UInt8], for name: String) throws(UsageError) {
        if value.isEmpty, let wanted { throw UsageError("\(name) is empty", hint: "give \(wanted)") }
        if self == .directory || self == .path, value.first == UInt8(ascii: "~") {
            throw UsageError(
                "\(quoted(value)): the shell did not replace the ~ in \(name)",
                hint: "write the path from /, or ./\(escapedText(value)) for that name")
        }
        guard case .choice(let words) = self, !words.contains(where: value.spells) else { return }
        throw UsageError(
            "\(quoted(value)) is not a value for \(name)",
            hint: EditDistance.suggestion(for: value, among: words)
                ?? "use one of: \(words.joined(separator: ", "))")
    }
}
