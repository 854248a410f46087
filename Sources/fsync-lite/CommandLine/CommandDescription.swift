/// A command: its words, arguments, options and help.
struct CommandDescription: Sendable {
    /// One word (`plan`) or two (`manifest create`).
    let name: String
    let summary: String
    /// Each line is a paragraph, wrapped to fit. A line that begins with a space is not changed.
    var discussion: String?
    /// In the order of the command line. At most one may be repeated. It need not be the last.
    var arguments: [ArgumentDescription] = []
    /// The command's own options. `--help` is added to every command: see `allOptions`.
    var options: [OptionDescription] = []
    /// Command lines and their purposes.
    var examples: [(line: String, purpose: String)] = []

    var words: [String] { name.split(separator: " ").map(String.init) }

    var allOptions: [OptionDescription] { options + [.helpOption] }

    /// The kinds of values that completions offer for each argument. The last one is for all further ones.
    var argumentKinds: [ValueKind] {
        arguments.map(\.valueKind) + (arguments.last?.isRepeated ?? false ? [] : [.text])
    }
}

/// One positional argument.
struct ArgumentDescription: Sendable {
    /// Upper case by convention, as it appears in the usage line.
    let name: String
    let help: String
    let isOptional: Bool
    /// Takes one value or more. If it is also optional, it may take none.
    let isRepeated: Bool
    /// The kind of its values.
    let valueKind: ValueKind

    init(
        _ name: String, _ help: String, optional: Bool = false, repeated: Bool = false,
        kind: ValueKind? = nil
    ) {
        self.name = name
        self.help = help
        valueKind = kind ?? ValueKind(placeholder: name, choices: [])
        self.isOptional = optional
        self.isRepeated = repeated
    }

    /// The argument as a usage line shows it: `NAME`, `[NAME]`, `NAME...` or `[NAME...]`.
    var usage: String {
        let shape = isRepeated ? name + "..." : name
        return isOptional ? "[\(shape)]" : shape
    }
}
