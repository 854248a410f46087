/// Prints help and version. `--help` with another command and `--version` use this command, too.
enum HelpCommand: Command {
    private static let command = ArgumentDescription("COMMAND", "the command", optional: true, repeated: true)
    private static let manual = OptionDescription.flag(
        "--man",
        "Write the manual page, for man -l or a directory of man1; of settings, that of man5; with --all, that of all commands"
    )

    private static let all = OptionDescription.flag(
        OptionDescription.all.name, "Show also the commands, options and exit codes that are rarely needed")

    static let description = CommandDescription(
        name: "help", summary: "Show help for a command.",
        arguments: [command],
        options: [all, manual],
        examples: [
            ("fsync-lite help apply --all", "See all options of a command"),
            ("fsync-lite help --man | man -l -", "Read it as a manual page"),
            ("fsync-lite help --all --man | man -l -", "All commands and options"),
            ("fsync-lite help settings --man | man -l -", "The keys of the settings"),
        ])

    /// The request for help about a command or a group, by its words.
    ///
    /// - Parameter rest: the other words of the command line. Of these, `--all` is for help.
    static func invocation(
        _ program: ProgramDescription, about words: [[UInt8]], _ rest: ArraySlice<[UInt8]> = []
    ) -> Invocation {
        var invocation = Invocation(program: program, command: self, arguments: [command.name: words])
        if rest.contains(where: { $0.spells(all.name) }) { invocation.options.append(all) }
        return invocation
    }

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let program = invocation.program
        if invocation.options.has(.versionOption) {
            try console.line("\(program.name) \(program.version)")
        } else if invocation.options.has(manual) {
            let topic = invocation.values(command).first
            let page = program.pages.first { page in topic?.spells(page.topic) ?? false }
            let own = ManualPage(program: program, hasAllCommands: invocation.options.has(all))
            try console.write(Array((page?.text(program) ?? own.text).utf8))
        } else {
            let (topic, help) = (
                try topic(of: invocation),
                HelpText(program: program, showsAll: invocation.options.has(all))
            )
            let group = invocation.values(command).first.map(program.group) ?? []
            let text = topic == nil && !group.isEmpty ? help.text(forGroup: group) : help.text(for: topic)
            try console.write(Array(text.utf8))
        }
        return .done
    }

    /// The command to print help for. It is nil for the program, and for a first word that needs a second.
    static func topic(of invocation: Invocation) throws(UsageError) -> CommandDescription? {
        let words = invocation.values(command)
        guard let first = words.first else { return nil }
        if let command = invocation.program.command(beginning: words) { return command.description }
        if words.count == 1, !invocation.program.group(first).isEmpty { return nil }
        throw invocation.program.unknownCommand(words)
    }
}
