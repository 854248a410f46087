/// Prints help and version. `--help` with another command and `--version` use this command too.
enum HelpCommand: Command {
    private static let command = ArgumentDescription("COMMAND", "the command", optional: true, repeated: true)
    private static let manual = OptionDescription.flag(
        "--man", "Write the manual page, for man -l or a directory of man1; of settings, that of man5")

    static let description = CommandDescription(
        "help", summary: "Show help for a command.",
        arguments: [command],
        options: [manual],
        examples: [
            ("fsync-lite help manifest list", "What a command takes"),
            ("fsync-lite help --man | man -l -", "Read it as a manual page"),
            ("fsync-lite help settings --man | man -l -", "The keys of the settings"),
        ])

    /// The request for help about a command, or about the program when nil.
    static func invocation(_ program: ProgramDescription, about topic: CommandDescription?) -> Invocation {
        invocation(program, about: topic?.words.map { Array($0.utf8) } ?? [])
    }

    /// The request for help about a command or a group, by its words.
    static func invocation(_ program: ProgramDescription, about words: [[UInt8]]) -> Invocation {
        Invocation(program: program, command: self, arguments: [command.name: words])
    }

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let program = invocation.program
        if invocation.options.has(.versionOption) {
            try console.line("\(program.name) \(program.version)")
        } else if invocation.options.has(manual) {
            let topic = invocation.values(command).first
            let page = program.pages.first { page in topic?.spells(page.topic) ?? false }
            try console.write(Array((page?.text(program) ?? ManualPage(program: program).text).utf8))
        } else {
            let (topic, help) = (try topic(of: invocation), HelpText(program: program))
            let group = invocation.values(command).first.map(program.group) ?? []
            let text = topic == nil && !group.isEmpty ? help.text(forGroup: group) : help.text(for: topic)
            try console.write(Array(text.utf8))
        }
        return .done
    }

    /// The command to print help for; nil for the program, or a first word that needs a second.
    static func topic(of invocation: Invocation) throws(UsageError) -> CommandDescription? {
        let words = invocation.values(command)
        let lookup = CommandLookup(program: invocation.program)
        guard let first = words.first else { return nil }
        if let command = lookup.match(words) { return command.description }
        if words.count == 1, !invocation.program.group(first).isEmpty { return nil }
        throw lookup.failure(words)
    }
}
