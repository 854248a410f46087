/// A command or an option of another tool, and its counterpart here.
struct ForeignWord: Sendable {
    let spellings: [String]
    let hint: String
    let command: String?
    /// The command takes the same arguments.
    let hasSameArguments: Bool
    /// The commands for which this option has that meaning; empty for all.
    private(set) var commands: [String] = []

    /// - Parameter hint: more about `command`; without a command, the whole hint.
    init(
        _ spellings: String..., as command: String? = nil, hasSameArguments: Bool = true, hint: String = ""
    ) {
        (self.spellings, self.command, self.hint) = (spellings, command, hint)
        self.hasSameArguments = hasSameArguments
    }

    /// Limits it to options of these commands.
    func with(_ commands: [String]) -> ForeignWord {
        var word = self
        word.commands = commands
        return word
    }
}

extension ProgramDescription {
    /// The counterpart of another tool's command, with the typed arguments; nil if there is none.
    func hint(forForeign typed: [UInt8], _ arguments: some Collection<[UInt8]>) -> String? {
        guard let word = foreignCommands.first(where: { $0.spellings.contains(where: typed.spells) }) else {
            return nil
        }
        guard let command = descriptions.first(where: { $0.name == word.command }) else { return word.hint }
        let needed = command.arguments.count { !$0.isOptional }
        let isPlain =
            word.hasSameArguments && arguments.count >= needed
            && (arguments.count <= command.arguments.count || command.arguments.contains { $0.isRepeated })
            && !arguments.isEmpty && !arguments.contains { $0.first == UInt8(ascii: "-") }
        let words = isPlain ? arguments.map(Shell.word) : command.arguments.map(\.usage)
        let typed = words.joined(separator: " ")
        let hint = word.hint.replacing("ARGUMENTS", with: typed)
        return "use: \(name) \(command.name) \(typed)" + (hint.isEmpty ? "" : ". \(hint)")
    }

    /// The counterpart of another tool's option `--name`, or of each letter of `-abc`; nil if there is none.
    func hint(forForeign typed: ArraySlice<UInt8>, of command: CommandDescription?) -> String? {
        guard !typed.starts(with: "--".utf8) else { return foreign(typed, command) }
        let known = command?.allOptions.flatMap(\.spellings) ?? []
        var hints: [(letters: [String], text: String)] = []
        for letter in typed.dropFirst() {
            let spelling = [UInt8(ascii: "-"), letter][...]
            guard !known.contains(where: spelling.spells), let hint = foreign(spelling, command) else {
                continue
            }
            if hints.last?.text != hint { hints.append(([], hint)) }
            hints[hints.count - 1].letters.append(String(decoding: spelling, as: UTF8.self))
        }
        guard !hints.isEmpty else { return nil }
        return hints.map { typed.count > 2 ? "\($0.letters.joined(separator: ", ")): \($0.text)" : $0.text }
            .joined(separator: "\n")
    }

    private func foreign(_ spelling: ArraySlice<UInt8>, _ command: CommandDescription?) -> String? {
        foreignOptions.first { word in
            word.spellings.contains(where: spelling.spells)
                && (command.map { word.commands.isEmpty || word.commands.contains($0.name) } ?? true)
        }?.hint
    }
}
