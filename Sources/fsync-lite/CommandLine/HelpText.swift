/// Help as plain text, made from the description only. Ends with a newline.
struct HelpText: Sendable {
    let program: ProgramDescription
    var width = 80

    /// A heading with rows of a label and its description.
    private typealias Table = (heading: String, rows: [(label: String, help: String)])

    /// Help for one command, or for the program when nil.
    func text(for command: CommandDescription?) -> String {
        let lines = command.map(commandLines) ?? programLines
        return lines.joined(separator: "\n") + "\n"
    }

    /// Help for the commands that begin with a word.
    func text(forGroup group: [CommandDescription]) -> String {
        let word = group[0].words[0]
        let lines =
            usageLines("\(program.name) \(word) COMMAND [OPTIONS] [ARGUMENTS]") + table(of: group) + [""]
            + seeHelp("\(word) COMMAND")
        return lines.joined(separator: "\n") + "\n"
    }

    /// Each command with its summary.
    var commandList: [String] { Array(table(of: program.descriptions).dropFirst(2)) }

    private func table(of commands: [CommandDescription]) -> [String] {
        lines(of: [("Commands", commands.map { (label: $0.name, help: $0.summary) })])
    }

    private func seeHelp(_ command: String) -> [String] {
        TextWrapping(width: width).lines(
            of: "See '\(program.name) help \(command)' for what a command takes.")
    }

    private var programLines: [String] {
        let commands = program.descriptions.map { (label: $0.name, help: $0.summary) }
        let exitCodes = program.exitCodes.map { (label: String($0.code), help: $0.meaning) }
        return TextWrapping(width: width).lines(of: "\(program.name): \(program.summary)")
            + [""] + usageLines("\(program.name) COMMAND [OPTIONS] [ARGUMENTS]")
            + lines(of: [("Commands", commands)] + optionTables(program.options))
            + lines(of: [("Exit codes", exitCodes)])
            + [""] + seeHelp("COMMAND")
    }

    private func commandLines(_ command: CommandDescription) -> [String] {
        let wrapping = TextWrapping(width: width)
        let arguments = command.arguments.map { (label: $0.name, help: $0.help) }
        return wrapping.lines(of: command.summary)
            + [""] + usageLines(program.usage(of: command))
            + (command.discussion.map { [""] + wrapping.paragraphs(of: $0) } ?? [])
            + lines(of: [("Arguments", arguments)] + optionTables(command.allOptions))
            + exampleLines(command.examples)
    }

    /// Command lines are meant for copying, so they are not wrapped.
    private func exampleLines(_ examples: [(line: String, purpose: String)]) -> [String] {
        guard !examples.isEmpty else { return [] }
        return ["", "Examples:"]
            + examples.flatMap { example in
                TextWrapping(width: width - 2).lines(of: example.purpose + ":").map { spaces(2) + $0 }
                    + [spaces(4) + example.line]
            }
    }

    private func usageLines(_ usage: String) -> [String] {
        let prefix = "Usage: "
        let wrapped = TextWrapping(width: width - prefix.count).lines(of: usage)
        return wrapped.enumerated().map { ($0.offset == 0 ? prefix : spaces(prefix.count)) + $0.element }
    }

    /// One table per section, in the order in which the sections first appear.
    private func optionTables(_ options: [OptionDescription]) -> [Table] {
        options.sections.map { section in
            let rows = section.options.map { option in
                (
                    label: (option.short.map { "\($0), " } ?? spaces(4)) + option.usage,
                    help: option.wholeHelp
                )
            }
            return (section.heading, rows)
        }
    }

    /// The tables under their headings, with a common column for descriptions. Empty tables are left out.
    private func lines(of tables: [Table]) -> [String] {
        let indent = 2
        let gap = 2
        // A label too long for its column gets a separate line, so that it does not narrow every row.
        let widths = tables.flatMap(\.rows).map(\.label.count).filter { $0 <= width * 3 / 8 }
        let column = indent + (widths.max() ?? indent) + gap
        let wrapping = TextWrapping(width: width - column)
        return tables.filter { !$0.rows.isEmpty }.flatMap { table in
            ["", "\(table.heading):"]
                + table.rows.flatMap { row in
                    let label = spaces(indent) + row.label
                    let help = wrapping.lines(of: row.help)
                    guard let first = help.first else { return [label] }
                    let rest = help.dropFirst().map { spaces(column) + $0 }
                    return label.count + gap > column
                        ? [label, spaces(column) + first] + rest
                        : [label.padded(to: column) + first] + rest
                }
        }
    }
}
