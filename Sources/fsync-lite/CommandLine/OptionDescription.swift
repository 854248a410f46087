/// One option: a flag, or a name that takes a value.
struct OptionDescription: Sendable {
    static let helpOption = flag("--help", short: "-h", "Show this help")
    static let versionOption = flag("--version", "Show the version")

    /// With its dashes, such as `--max-delete`. Values have this name even if the short spelling was given.
    let name: String
    /// A dash and one ASCII character, such as `-o`.
    let short: String?
    /// The name of the value in help; nil for a flag.
    let placeholder: String?
    let help: String
    var isRepeatable = false
    /// The allowed values; empty for any value. A flag takes one of them after `=`, or none.
    var choices: [String] = []
    /// The heading of the option in help.
    private(set) var section = "Options"
    /// The command takes no arguments beside this option, because its value contains them.
    private(set) var replacesArguments = false
    /// Help shows it with `--all` only.
    private(set) var isRare = false

    private func with<Value>(
        _ property: WritableKeyPath<OptionDescription, Value>, _ value: Value
    ) -> OptionDescription {
        var option = self
        option[keyPath: property] = value
        return option
    }

    fileprivate func inSection(_ heading: String) -> OptionDescription { with(\.section, heading) }
    /// The same option, in place of the command's arguments.
    func replacingArguments() -> OptionDescription { with(\.replacesArguments, true) }
    /// The same option, marked as rare.
    var rare: OptionDescription { with(\.isRare, true) }

    static func flag(
        _ name: String, short: String? = nil, _ help: String, choices: [String] = []
    ) -> OptionDescription {
        OptionDescription(name: name, short: short, placeholder: nil, help: help, choices: choices)
    }

    static func value(
        _ name: String, short: String? = nil, _ placeholder: String, _ help: String,
        repeatable: Bool = false, choices: [String] = []
    ) -> OptionDescription {
        OptionDescription(
            name: name, short: short, placeholder: placeholder, help: help, isRepeatable: repeatable,
            choices: choices)
    }

    var spellings: [String] { [short, name].compactMap(\.self) }

    var takesValue: Bool { placeholder != nil }

    /// Whether an option that is given once may have these values.
    func takes(_ values: [[UInt8]]) -> Bool {
        if takesValue { return values.count == 1 }
        return values.isEmpty || values.count == 1 && choices.contains(where: values[0].spells)
    }

    /// The option as words of a command line. A flag and its optional value are one word, and so is a value that begins
    /// like an option.
    func words(_ value: [UInt8]?) -> [[UInt8]] {
        guard let value else { return [Array(name.utf8)] }
        let isAlone = takesValue && value.first != UInt8(ascii: "-")
        return isAlone ? [Array(name.utf8), value] : [Array("\(name)=".utf8) + value]
    }

    /// nil for a flag.
    var valueKind: ValueKind? { placeholder.map { ValueKind(placeholder: $0, choices: choices) } }

    /// The help text with the allowed values.
    var wholeHelp: String {
        choices.isEmpty || !takesValue ? help : "\(help): \(choices.joined(separator: ", "))"
    }

    /// The long spelling with its value, such as `--max-delete N`.
    var usage: String {
        placeholder.map { "\(name) \($0)" } ?? name + choices.map { "[=\($0)]" }.joined()
    }
}

extension [OptionDescription] {
    /// The options by heading, in the order in which the headings first appear.
    var sections: [(heading: String, options: [OptionDescription])] {
        reduce(into: []) { sections, option in
            if let index = sections.firstIndex(where: { $0.heading == option.section }) {
                sections[index].options.append(option)
            } else {
                sections.append((option.section, [option]))
            }
        }
    }

    /// The same options, under a separate heading.
    static func section(_ heading: String, _ options: OptionDescription...) -> [OptionDescription] {
        section(heading, options)
    }

    static func section(_ heading: String, _ options: [OptionDescription]) -> [OptionDescription] {
        options.map { $0.inSection(heading) }
    }
}
