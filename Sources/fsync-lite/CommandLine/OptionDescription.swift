/// One option: a flag, or a name that takes a value.
struct OptionDescription: Sendable {
    static let helpOption = flag("--help", short: "-h", "Show this help")
    static let versionOption = flag("--version", "Show the version")

    /// With its dashes, such as `--max-delete`; values are looked up by this name however they were spelled.
    let name: String
    /// A dash and one ASCII character, such as `-o`.
    let short: String?
    /// What the value is called in help; nil for a flag.
    let placeholder: String?
    let help: String
    var isRepeatable = false
    /// The words that a value can be; empty where it can be anything.
    var choices: [String] = []
    /// The heading that help lists the option under.
    private(set) var section = "Options"
    /// Given this, the command takes no arguments: what they would say is in the option's value.
    private(set) var replacesArguments = false

    fileprivate func inSection(_ heading: String) -> OptionDescription {
        var option = self
        option.section = heading
        return option
    }

    /// The same option, in place of the command's arguments.
    func replacingArguments() -> OptionDescription {
        var option = self
        option.replacesArguments = true
        return option
    }

    static func flag(_ name: String, short: String? = nil, _ help: String) -> OptionDescription {
        OptionDescription(name: name, short: short, placeholder: nil, help: help)
    }

    static func value(
        _ name: String, short: String? = nil, _ placeholder: String, _ help: String,
        repeatable: Bool = false, choices: [String] = []
    ) -> OptionDescription {
        OptionDescription(
            name: name, short: short, placeholder: placeholder, help: help, isRepeatable: repeatable,
            choices: choices)
    }

    /// Every way to write its name.
    var spellings: [String] { [short, name].compactMap(\.self) }

    var takesValue: Bool { placeholder != nil }

    /// nil for a flag.
    var valueKind: ValueKind? { placeholder.map { ValueKind(placeholder: $0, choices: choices) } }

    /// What it does, with the words that its value can be.
    var wholeHelp: String { choices.isEmpty ? help : "\(help): \(choices.joined(separator: ", "))" }

    /// The long spelling with its value, such as `--max-delete N`.
    var usage: String { placeholder.map { "\(name) \($0)" } ?? name }
}

extension [OptionDescription] {
    /// The same options, under a heading of their own.
    static func section(_ heading: String, _ options: OptionDescription...) -> [OptionDescription] {
        section(heading, options)
    }

    static func section(_ heading: String, _ options: [OptionDescription]) -> [OptionDescription] {
        options.map { $0.inSection(heading) }
    }
}
