/// Help as plain text, made only from the description. It ends with a newline.
struct HelpText: Sendable {
    let program: ProgramDescription
    var width = 80
    /// Also shows rare commands and options.
    var showsAll = false

    /// A heading with rows of a label and its description.
    private typealias Table = (heading: String, rows: [(label: String, help: String)])

    /// Help for one command; nil for the program.
    func text(for command: CommandDescription?) -> String {
        let lines = command.map(commandLines) ?? programLines
        return lines.joined(separator: "\n") + "\n"
    }

    /// Help for the commands that begin with a word.
    func text(forGroup group: [CommandDescription]) -> String {
        let word = group[0].words[0]
        let lines =
            usageLines("\(program.name) \(word) COMMAND [OPTIONS] [ARGUMENTS]")
            + lines(of: [table("Commands", group)]) + [""]
            + seeHelp("\(word) COMMAND")
        return lines.joined(separator: "\n") + "\n"
    }

    /// The commands with their summaries, under the headings of their sections.
    var commandList: [String] { Array(lines(of: commandTables).dropFirst()) }

    private var commandTables: [Table] {
        program.sections.filter { showsAll || !$0.isRare }.map { section in
            table(section.heading, section.commands.map { $0.description })
        }
    }

    private func table(_ heading: String, _ commands: [CommandDescription]) -> Table {
        (heading, commands.map { (label: $0.name, help: $0.summary) })
    }

    /// - Parameter rest: a remark about the rare options, which are not shown.
    private func seeHelp(_ command: String, _ rest: String? = nil) -> [String] {
        "See '\(program.name) help \(command)' for \(rest ?? "the options of a command").".wrapped(to: width)
    }

    private var programLines: [String] {
        let exitCodes = program.exitCodes.filter { showsAll || !$0.isRare }
            .map { (label: String($0.code), help: $0.meaning) }
        let title = "\(program.name): \(program.summary)".wrapped(to: width)
        return title
            + usageLines("\(program.name) COMMAND [OPTIONS] [ARGUMENTS]")
            + lines(of: commandTables + (showsAll ? optionTables(program.options) : []))
            + lines(of: [("Exit codes", exitCodes)])
            + [""] + seeHelp("COMMAND") + (showsAll ? [] : seeHelp("--all", "all commands and exit codes"))
    }

    private func commandLines(_ command: CommandDescription) -> [String] {
        let arguments = command.arguments.map { (label: $0.name, help: $0.help) }
        let options = command.allOptions.filter { showsAll || !$0.isRare }
        let count = command.allOptions.count
        let isShort = options.count < count
        // A short list needs one heading.
        let tables = isShort ? [("Options", rows(options))] : optionTables(options)
        return command.summary.wrapped(to: width)
            + [""] + usageLines(program.usage(of: command))
            + (command.discussion.map { [""] + $0.paragraphs(wrappedTo: width) } ?? [])
            + lines(of: [("Arguments", arguments)] + tables)
            + exampleLines(command.examples)
            + (isShort ? [""] + seeHelp("\(command.name) --all", "all \(count) options") : [])
    }

    /// Command lines are meant for copying, so they are not wrapped.
    private func exampleLines(_ examples: [(line: String, purpose: String)]) -> [String] {
        guard !examples.isEmpty else { return [] }
        return ["", "Examples:"]
            + examples.flatMap { example in
                "\(example.purpose):".wrapped(to: width - 2).map { spaces(2) + $0 }
                    + [spaces(4) + example.line]
            }
    }

    private func usageLines(_ usage: String) -> [String] {
        let prefix = "Usage: "
        let wrapped = usage.wrapped(to: width - prefix.count)
        return wrapped.enumerated().map { ($0.offset == 0 ? prefix : spaces(prefix.count)) + $0.element }
    }

    /// One table per section, in the order in which the sections first appear.
    private func optionTables(_ options: [OptionDescription]) -> [Table] {
        options.sections.map { ($0.heading, rows($0.options)) }
    }

    private func rows(_ options: [OptionDescription]) -> [(label: String, help: String)] {
        options.map { option in
            ((option.short.map { "\($0), " } ?? spaces(4)) + option.usage, option.wholeHelp)
        }
    }

    /// The tables under their headings, with a common column for descriptions. Empty tables are left out.
    private func lines(of tables: [Table]) -> [String] {
        let indent = 2
        let gap = 2
        // A label too long for its column gets a separate line, so that it does not narrow every row.
        let widths = tables.flatMap(\.rows).map(\.label.count).filter { $0 <= width * 3 / 8 }
        let column = indent + (widths.max() ?? indent) + gap
        return tables.filter { !$0.rows.isEmpty }.flatMap { table in
            ["", "\(table.heading):"]
                + table.rows.flatMap { row in
                    let label = spaces(indent) + row.label
                    let help = row.help.wrapped(to: width - column)
                    guard let first = help.first else { return [label] }
                    let rest = help.dropFirst().map { spaces(column) + $0 }
                    return label.count + gap > column
                        ? [label, spaces(column) + first] + rest
                        : [label.padded(to: column) + first] + rest
                }
        }
    }
}
