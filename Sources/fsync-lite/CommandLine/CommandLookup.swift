/// Finds the command named by the first words of a command line.
extension ProgramDescription {
    /// The longest command that the arguments begin with.
    func command(beginning arguments: some Collection<[UInt8]>) -> (any Command.Type)? {
        commands
            .filter { command in
                let words = command.description.words
                return words.count <= arguments.count
                    && zip(words, arguments).allSatisfy { $0.utf8.elementsEqual($1) }
            }
            .max { $0.description.words.count < $1.description.words.count }
    }

    /// The error for arguments that begin with no command.
    func unknownCommand(_ arguments: some Collection<[UInt8]>) -> UsageError {
        guard let first = arguments.first else {
            let commands = HelpText(program: self).commandList.joined(separator: "\n")
            return UsageError("no command given. The commands are:", hint: "\(commands)\n\(seeHelp)")
        }
        let group = self.group(first)
        if !group.isEmpty {
            return subcommandFailure(in: group, group: first, typed: arguments.dropFirst().first)
        }
        if first.count > 1, first.first == UInt8(ascii: "-") {
            return UsageError(
                "\(quoted(first)) comes before the command",
                hint: EditDistance.suggestion(for: first, among: options.map(\.name))
                    ?? self.hint(forForeign: first[...], of: nil).map {
                        "options go after the command, as in \(name) apply SOURCE TARGET\n\($0)"
                    }
                    ?? "options go after the command; \(seeHelp)")
        }
        let commands = descriptions
        let names = commands.map(\.name)
        if let hint = self.hint(forForeign: first, arguments.dropFirst()) {
            return UsageError("unknown command \(quoted(first))", hint: hint)
        }
        if arguments.count == 2, first.contains(UInt8(ascii: "/")) {
            return UsageError(
                "unknown command \(quoted(first))",
                hint:
                    "to mirror it: \(name) apply \(arguments.map(Shell.word).joined(separator: " "))")
        }
        let firstTwo = Array(arguments.prefix(2).joined(separator: [UInt8(ascii: " ")]))
        return UsageError(
            "unknown command \(quoted(first))",
            hint: EditDistance.suggestion(for: firstTwo, among: names.filter { $0.contains(" ") })
                ?? EditDistance.suggestion(for: first, among: commands.map { $0.words[0] } + ["help"])
                // Only the second word was typed.
                ?? commands.first { $0.words.count > 1 && first.spells($0.words[1]) }
                .map { "did you mean '\($0.name)'?" }
                ?? seeHelp)
    }

    private func subcommandFailure(
        in commands: [CommandDescription], group: [UInt8], typed: [UInt8]?
    ) -> UsageError {
        let list = "use one of: " + commands.map(\.name).joined(separator: ", ")
        guard let typed, typed.first != UInt8(ascii: "-") else {
            return UsageError("\(quoted(group)) needs a subcommand", hint: list)
        }
        let wholeName = group + [UInt8(ascii: " ")] + typed
        let closest = EditDistance.closest(to: typed, among: commands.map { $0.words[1] })
        let suggestion = closest.flatMap { word in commands.first { $0.words[1] == word } }
        return UsageError(
            "unknown command \(quoted(wholeName))",
            hint: suggestion.map { "did you mean '\($0.name)'?" } ?? list)
    }

    private var seeHelp: String { "see '\(name) --help' for the commands" }
}
