/// A manual page in the macros of `man(7)`, made only from the description.
struct ManualPage: Sendable {
    let program: ProgramDescription
    /// The page of all commands, with their arguments, options and examples. Otherwise: the first page, with what most
    /// people need.
    var hasAllCommands = false

    var text: String {
        let program = ManualMarkup.escaped(program.name)
        let name = hasAllCommands ? "\(program)\\-commands" : program
        let sentence = hasAllCommands ? "all commands and options" : self.program.summary
        let summary = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
        let lines =
            [
                ".TH \(name.uppercased()) 1 \(self.program.released) \"\(program) \(self.program.version)\" \"User Commands\"",
                ".SH NAME", "\(name) \\- \(ManualMarkup.escaped(summary))",
                ".SH SYNOPSIS", "\\fB\(program)\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]",
                ".br",
                "\\fB\(program)\\fR \\fB\\-\\-help\\fR | \\fB\\-\\-version\\fR",
            ] + (hasAllCommands ? allCommands : overview) + [".SH SEE ALSO", others.joined(separator: ", ")]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The other pages.
    private var others: [String] {
        [ManualMarkup.bold(program.name + (hasAllCommands ? "" : "-commands")) + "(1)"]
            + program.pages.map { ManualMarkup.bold("\(program.name)-\($0.topic)") + "(5)" }
    }

    private var overview: [String] {
        let sections = program.sections.filter { !$0.isRare }
        var lines = [".SH DESCRIPTION"] + ManualMarkup.paragraphs(program.discussion) + [".SH COMMANDS"]
        for section in sections {
            lines += [".SS \(ManualMarkup.escaped(section.heading))"]
            lines += section.commands.flatMap {
                ManualMarkup.boldItem($0.description.name, $0.description.summary)
            }
        }
        if let command = program.main?.description {
            lines += [".SH OPTIONS"] + ManualMarkup.text("The usual ones of \(command.name):")
            lines += command.options.filter { !$0.isRare }.flatMap(optionLines)
        }
        lines += [".SH FILES"] + program.files.flatMap { ManualMarkup.item(ManualMarkup.italic($0), $1) }
        lines += [".SH ENVIRONMENT"] + program.environment.flatMap(ManualMarkup.boldItem)
        lines +=
            [".SH EXIT STATUS"]
            + program.exitCodes.flatMap { ManualMarkup.boldItem("\($0.code)", $0.meaning) }
        return lines + [".SH EXAMPLES"] + examples(of: sections.first?.commands.map { $0.description } ?? [])
    }

    private var allCommands: [String] {
        var lines = [".SH COMMANDS"] + program.descriptions.flatMap(commandLines) + [".SH COMMON OPTIONS"]
        for section in commonSections {
            lines += [".SS \(ManualMarkup.escaped(section.heading))"] + section.options.flatMap(optionLines)
        }
        return lines + [".SH EXAMPLES"] + examples(of: program.descriptions)
    }

    private func examples(of commands: [CommandDescription]) -> [String] {
        let examples = commands.flatMap(\.examples).map { example in
            ManualMarkup.text(example.purpose + ":") + [
                ".PP", ".nf", ".RS", ManualMarkup.escaped(example.line), ".RE", ".fi",
            ]
        }
        return Array(examples.joined(separator: [".PP"]))
    }

    private func commandLines(_ command: CommandDescription) -> [String] {
        var lines =
            [".SS \(ManualMarkup.escaped(program.usage(of: command)))"] + ManualMarkup.text(command.summary)
        if let discussion = command.discussion { lines += [".PP"] + ManualMarkup.paragraphs(discussion) }
        for argument in command.arguments {
            lines += ManualMarkup.item(ManualMarkup.italic(argument.usage), argument.help)
        }
        let sections = command.options.sections
        let common = sections.filter(isCommon)
        lines += sections.filter { !isCommon($0) }.flatMap(\.options).flatMap(optionLines)
        guard !common.isEmpty else { return lines }
        let headings = common.map { $0.heading.prefix { $0 != ":" } }.joined(separator: ", ")
        return lines + [".PP"]
            + ManualMarkup.text("And the options of COMMON OPTIONS, below, under: \(headings).")
    }

    private func optionLines(_ option: OptionDescription) -> [String] {
        let names = option.spellings.map { ManualMarkup.bold($0) }.joined(separator: ", ")
        let value = option.placeholder.map { " \\fI\(ManualMarkup.escaped($0))\\fR" } ?? ""
        return ManualMarkup.item(names + value, option.wholeHelp)
    }

    // MARK: Sections of options that several commands have

    private typealias Section = (heading: String, options: [OptionDescription])

    /// A common section has its own heading.
    private func isCommon(_ section: Section) -> Bool {
        guard section.heading != OptionDescription.helpOption.section else { return false }
        return program.descriptions.count { command in
            command.options.sections.contains { ManualPage.isSame($0, section) }
        } > 1
    }

    private static func isSame(_ left: Section, _ right: Section) -> Bool {
        left.heading == right.heading && left.options.map(\.name) == right.options.map(\.name)
    }

    private var commonSections: [Section] {
        program.descriptions.flatMap(\.options.sections).filter(isCommon).reduce(into: []) {
            known, section in
            if !known.contains(where: { ManualPage.isSame($0, section) }) { known.append(section) }
        }
    }
}
