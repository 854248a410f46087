/// The kind of a value, for completions.
enum ValueKind: Equatable, Sendable {
    case directory
    /// A file or a directory.
    case path
    case choice([String])
    /// A command of the program.
    case command
    /// Without completions.
    case text

    /// By the placeholder in help, unless the value is one of a few words.
    init(placeholder: String, choices: [String]) {
        self =
            switch placeholder {
            case _ where !choices.isEmpty: .choice(choices)
            case "SOURCE", "TARGET", "TREE", "DIR": .directory
            case "FILE", "MANIFEST", "A", "B": .path
            case "COMMAND": .command
            default: .text
            }
    }

    /// Throws unless the value is one of the allowed words.
    func check(_ value: [UInt8], for name: String) throws(UsageError) {
        guard case .choice(let words) = self, !words.contains(where: value.spells) else { return }
        throw UsageError(
            "\(quoted(value)) is not a value for \(name)",
            hint: EditDistance.suggestion(for: value, among: words)
                ?? "use one of: \(words.joined(separator: ", "))")
    }
}
