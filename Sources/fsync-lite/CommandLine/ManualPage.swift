/// The manual page in the macros of `man(7)`, made only from the description.
struct ManualPage: Sendable {
    let program: ProgramDescription

    var text: String {
        let name = ManualMarkup.escaped(program.name)
        var lines = [
            ".TH \(name.uppercased()) 1 \(program.released) \"\(name) \(program.version)\" \"User Commands\"",
            ".SH NAME", "\(name) \\- \(ManualMarkup.escaped(ManualMarkup.withoutFullStop(program.summary)))",
            ".SH SYNOPSIS", "\\fB\(name)\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]", ".br",
            "\\fB\(name)\\fR \\fB\\-\\-help\\fR | \\fB\\-\\-version\\fR",
        ]
        lines += [".SH DESCRIPTION"] + ManualMarkup.paragraphs(program.discussion)
        lines += [".SH COMMANDS"] + program.descriptions.flatMap(commandLines)
        lines += [".SH COMMON OPTIONS"]
        for section in commonSections {
            lines += [".SS \(ManualMarkup.escaped(section.heading))"] + section.options.flatMap(optionLines)
        }
        lines += [".SH FILES"] + program.files.flatMap { ManualMarkup.item(ManualMarkup.italic($0), $1) }
        lines += [".SH ENVIRONMENT"] + program.environment.flatMap(ManualMarkup.boldItem)
        lines +=
            [".SH EXIT STATUS"]
            + program.exitCodes.flatMap { ManualMarkup.boldItem("\($0.code)", $0.meaning) }
        lines += [".SH EXAMPLES"]
        let examples = program.descriptions.flatMap(\.examples).map { example in
            ManualMarkup.text(example.purpose + ":") + [
                ".PP", ".nf", ".RS", ManualMarkup.escaped(example.line), ".RE", ".fi",
            ]
        }
        lines += examples.joined(separator: [".PP"])
        let pages = program.pages.map { ManualMarkup.bold("\(program.name)-\($0.topic)") + "(5)" }
        lines += [".SH SEE ALSO", pages.joined(separator: ", ")]
        return lines.joined(separator: "\n") + "\n"
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
