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
        lines += [".SH OPTIONS", "These are taken by several commands; each command lists which."]
        for section in sharedOptions {
            lines +=
                [".SS \(section.name == ManualPage.common ? "General" : section.name)"]
                + section.options.flatMap(optionLines)
        }
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
        lines += command.options.filter { !isShared($0) }.flatMap(optionLines)
        return lines + sharedLines(command)
    }

    private func optionLines(_ option: OptionDescription) -> [String] {
        let names = option.spellings.map(ManualPage.bold).joined(separator: ", ")
        return item(
            names + (option.placeholder.map { " \\fI\(ManualPage.escaped($0))\\fR" } ?? ""), option.wholeHelp)
    }

    private static func bold(_ text: String) -> String { "\\fB\(escaped(text))\\fR" }

    // MARK: Options of several commands

    private func isShared(_ option: OptionDescription) -> Bool {
        program.descriptions.count {
            $0.options.contains { $0.name == option.name && $0.help == option.help }
        } > 1
    }

    /// Under the headings of help, of which options without one come first.
    private var sharedOptions: [(name: String, options: [OptionDescription])] {
        var sections: [(name: String, options: [OptionDescription])] = [(ManualPage.common, [])]
        var seen: Set<String> = []
        let options = program.descriptions.flatMap(\.options).filter(isShared)
        let named = options.filter { $0.section != ManualPage.common }
        for option in named + options where seen.insert(option.name).inserted {
            let heading = String(option.section.prefix { $0 != ":" })
            if let index = sections.firstIndex(where: { $0.name == heading }) {
                sections[index].options.append(option)
            } else {
                sections.append((heading, [option]))
            }
        }
        return sections
    }

    private static let common = "Options"

    /// The headings of which a command takes all options, and its other shared options.
    private func sharedLines(_ command: CommandDescription) -> [String] {
        let taken = Set(command.options.filter(isShared).map(\.name))
        var names: [String] = []
        for section in sharedOptions {
            let options = section.options.map(\.name).filter(taken.contains)
            let hasAll = options.count == section.options.count && section.name != ManualPage.common
            names += hasAll ? ["all of \(section.name)"] : options
        }
        return names.isEmpty ? [] : [".PP"] + text("Options below: \(names.joined(separator: ", "))")
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
