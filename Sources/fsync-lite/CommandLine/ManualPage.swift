/// The manual page in the macros of `man(7)`, made from the description only.
struct ManualPage: Sendable {
    let program: ProgramDescription

    var text: String {
        let name = ManualPage.escaped(program.name)
        var lines = [
            ".TH \(name.uppercased()) 1 \(program.released) \"\(name) \(program.version)\" \"User Commands\"",
            ".SH NAME", "\(name) \\- \(ManualPage.escaped(withoutFullStop(program.summary)))",
            ".SH SYNOPSIS", "\\fB\(name)\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]", ".br",
            "\\fB\(name)\\fR \\fB\\-\\-help\\fR | \\fB\\-\\-version\\fR",
        ]
        lines += [".SH DESCRIPTION"] + paragraphs(program.discussion)
        lines += [".SH COMMANDS"] + program.descriptions.flatMap(commandLines)
        if !commonSections.isEmpty { lines.append(".SH COMMON OPTIONS") }
        for section in commonSections {
            lines += [".SS \(ManualPage.escaped(section.heading))"] + section.options.flatMap(optionLines)
        }
        if !program.files.isEmpty { lines.append(".SH FILES") }
        for file in program.files { lines += item("\\fI\(ManualPage.escaped(file.path))\\fR", file.meaning) }
        lines += [".SH EXIT STATUS"]
        for code in program.exitCodes { lines += item("\\fB\(code.code)\\fR", code.meaning) }
        lines += [".SH EXAMPLES"]
        let examples = program.descriptions.flatMap(\.examples).map { example in
            text(example.purpose + ":") + [
                ".PP", ".nf", ".RS", ManualPage.escaped(example.line), ".RE", ".fi",
            ]
        }
        lines += examples.joined(separator: [".PP"])
        return lines.joined(separator: "\n") + "\n"
    }

    private func commandLines(_ command: CommandDescription) -> [String] {
        var lines = [".SS \(ManualPage.escaped(program.usage(of: command)))"] + text(command.summary)
        if let discussion = command.discussion { lines += [".PP"] + paragraphs(discussion) }
        for argument in command.arguments {
            lines += item("\\fI\(ManualPage.escaped(argument.usage))\\fR", argument.help)
        }
        let sections = ManualPage.sections(command)
        let common = sections.filter(isCommon)
        lines += sections.filter { !isCommon($0) }.flatMap(\.options).flatMap(optionLines)
        guard !common.isEmpty else { return lines }
        let headings = common.map { $0.heading.prefix { $0 != ":" } }.joined(separator: ", ")
        return lines + [".PP"] + text("And the options of COMMON OPTIONS, below, under: \(headings).")
    }

    private func optionLines(_ option: OptionDescription) -> [String] {
        let names = option.spellings.map { "\\fB\(ManualPage.escaped($0))\\fR" }.joined(separator: ", ")
        let value = option.placeholder.map { " \\fI\(ManualPage.escaped($0))\\fR" } ?? ""
        return item(names + value, option.wholeHelp)
    }

    // MARK: Sections of options that several commands have

    private typealias Section = (heading: String, options: [OptionDescription])

    private static func sections(_ command: CommandDescription) -> [Section] {
        var sections: [Section] = []
        for option in command.options {
            if let index = sections.firstIndex(where: { $0.heading == option.section }) {
                sections[index].options.append(option)
            } else {
                sections.append((option.section, [option]))
            }
        }
        return sections
    }

    /// Such sections have a heading of their own.
    private func isCommon(_ section: Section) -> Bool {
        guard section.heading != OptionDescription.helpOption.section else { return false }
        return program.descriptions.count { command in
            ManualPage.sections(command).contains { ManualPage.isSame($0, section) }
        } > 1
    }

    private static func isSame(_ left: Section, _ right: Section) -> Bool {
        left.heading == right.heading && left.options.map(\.name) == right.options.map(\.name)
    }

    private var commonSections: [Section] {
        program.descriptions.flatMap(ManualPage.sections).filter(isCommon).reduce(into: []) {
            known, section in
            if !known.contains(where: { ManualPage.isSame($0, section) }) { known.append(section) }
        }
    }

    private func item(_ label: String, _ meaning: String) -> [String] {
        [".TP", label] + text(meaning)
    }

    /// Text whose lines are paragraphs, except those that begin with a space, which are kept as written.
    private func paragraphs(_ text: String) -> [String] {
        Array(
            text.split(separator: "\n").map { line in
                line.hasPrefix(" ")
                    ? [".nf", ManualPage.escaped(String(line)), ".fi"] : self.text(String(line))
            }.joined(separator: [".PP"]))
    }

    /// A paragraph: each sentence begins a line, and no line looks like a request.
    private func text(_ text: String) -> [String] {
        text.split(separator: ". ").flatMap { sentence in
            let isLast = sentence.endIndex == text.endIndex
            return TextWrapping(width: 72).lines(of: sentence + (isLast ? "" : "."))
        }.map { line in
            (line.first.map { ".'".contains($0) } ?? false ? "\\&" : "") + ManualPage.escaped(line)
        }
    }

    private func withoutFullStop(_ text: String) -> String {
        text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    /// Escapes hyphens and backslashes, so that they are printed as typed.
    private static func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "\\": "\\e"
            case "-": "\\-"
            case "'": "\\(aq"
            case "^": "\\(ha"
            case "~": "\\(ti"
            case "`": "\\(ga"
            default: String(character)
            }
        }.joined()
    }
}
