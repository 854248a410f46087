/// The whole command line as data. The parser and the help use nothing else.
struct ProgramDescription: Sendable {
    let name: String
    let summary: String
    /// The text of the manual page before the commands; each line is a paragraph.
    let discussion: String
    let version: String
    /// The day of this version, in ISO 8601.
    let released: String
    /// In the order of help.
    let sections: [CommandSection]
    /// Help shows the rare ones with `--all` only.
    let exitCodes: [(code: Int32, meaning: String, isRare: Bool)]
    /// The command whose usual options are on the first manual page.
    var main: (any Command.Type)?
    /// For the manual page.
    var files: [(path: String, meaning: String)] = []
    /// The environment variables that it reads.
    var environment: [(name: String, meaning: String)] = []
    /// Further manual pages, in section 5, by their topic in `help`.
    var pages: [(topic: String, text: @Sendable (ProgramDescription) -> String)] = []
    /// Words of other tools, with the hint for each.
    var foreignCommands: [ForeignWord] = []
    var foreignOptions: [ForeignWord] = []

    var commands: [any Command.Type] { sections.flatMap(\.commands) }

    var descriptions: [CommandDescription] { commands.map { $0.description } }

    /// The two-word commands that begin with this word.
    func group(_ word: some Collection<UInt8>) -> [CommandDescription] {
        descriptions.filter { $0.words.count > 1 && $0.words[0].utf8.elementsEqual(word) }
    }

    /// The options accepted before any command.
    var options: [OptionDescription] { [.helpOption, .versionOption] }

    /// The usage line of a command, such as `fsync-lite plan [OPTIONS] SOURCE TARGET`.
    func usage(of command: CommandDescription) -> String {
        ([name, command.name, "[OPTIONS]"] + command.arguments.map(\.usage)).joined(separator: " ")
    }
}

/// Commands that people need for one purpose.
struct CommandSection: Sendable {
    let heading: String
    let commands: [any Command.Type]
    /// Help shows it with `--all` only.
    let isRare: Bool

    init(_ heading: String, _ commands: [any Command.Type], isRare: Bool = false) {
        (self.heading, self.commands, self.isRare) = (heading, commands, isRare)
    }
}
