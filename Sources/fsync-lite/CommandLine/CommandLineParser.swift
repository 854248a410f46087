/// Makes an invocation from raw arguments. It uses only the program's description.
///
/// Arguments are bytes everywhere, because a path need not be UTF-8.
struct CommandLineParser: Sendable {
    let program: ProgramDescription

    /// - Parameter arguments: those after the program's name.
    func parse(_ arguments: [[UInt8]]) throws(UsageError) -> Invocation {
        if let first = arguments.first {
            if first.spells(OptionDescription.versionOption.name) {
                var version = HelpCommand.invocation(program, about: [])
                version.options.append(.versionOption)
                return version
            }
            if first.spells(HelpCommand.name) || first.asksForHelp {
                return try invocation(of: HelpCommand.self, arguments.dropFirst())
            }
        }
        guard let command = program.command(beginning: arguments) else {
            if let first = arguments.first, !program.group(first).isEmpty, asksForHelp(arguments) {
                return HelpCommand.invocation(program, about: [first])
            }
            throw program.unknownCommand(arguments)
        }
        let rest = arguments.dropFirst(command.description.words.count)
        // Help comes before any error, so it can be requested on an invalid line.
        if asksForHelp(rest) {
            let words = Array(arguments.prefix(command.description.words.count))
            return HelpCommand.invocation(program, about: words, rest)
        }
        return try invocation(of: command, rest)
    }

    private func invocation(
        of command: any Command.Type, _ arguments: ArraySlice<[UInt8]>
    ) throws(UsageError) -> Invocation {
        let description = command.description
        var scanner = OptionScanner(command: description, program: program, pending: arguments)
        try scanner.scan()
        // The short flag of help may be combined with others.
        if command != HelpCommand.self, scanner.options.has(.helpOption) {
            return HelpCommand.invocation(program, about: description.words.map { Array($0.utf8) })
        }
        let replacement = description.options.first { $0.replacesArguments && scanner.options.has($0) }
        return Invocation(
            program: program, command: command,
            arguments: try bind(scanner.positionals, to: description, replaced: replacement),
            options: scanner.options)
    }

    private func asksForHelp(_ arguments: some Sequence<[UInt8]>) -> Bool {
        arguments.prefix { !$0.spells("--") }.contains { $0.asksForHelp }
    }

    /// Assigns the values. Each required argument gets one. The rest is assigned from left to right: one to
    /// each optional argument, and all remaining ones to a repeated one.
    ///
    /// - Parameter replaced: the option that replaces all arguments, if it was given.
    func bind(
        _ values: [[UInt8]], to command: CommandDescription, replaced option: OptionDescription?
    ) throws(UsageError) -> [String: [[UInt8]]] {
        if let option {
            guard let first = values.first else { return [:] }
            throw UsageError(
                "'\(command.name) \(option.name)' does not take an argument: \(quoted(first))",
                hint: "write \(option.usage) alone")
        }
        let required = command.arguments.filter { !$0.isOptional }
        if values.count < required.count {
            let missing = required[values.count...].map(\.name).joined(separator: ", ")
            let usage = "usage: \(program.usage(of: command))"
            let job = command.options.first { $0.replacesArguments && $0.placeholder == "JOB" }
            guard let job, values.count == 1 else {
                throw UsageError("'\(command.name)' is missing \(missing)", hint: usage)
            }
            throw UsageError(
                "'\(command.name)' is missing \(missing)",
                hint:
                    "for a job: \(program.name) \(command.name) \(job.name) \(Shell.word(values[0])); \(usage)"
            )
        }
        var spare = values.count - required.count
        var remaining = values[...]
        var bound: [String: [[UInt8]]] = [:]
        for argument in command.arguments {
            let extra = argument.isRepeated ? spare : argument.isOptional ? min(spare, 1) : 0
            spare -= extra
            let count = extra + (argument.isOptional ? 0 : 1)
            if count > 0 {
                for value in remaining.prefix(count) {
                    try argument.valueKind.check(value, for: argument.name)
                }
                bound[argument.name] = Array(remaining.prefix(count))
                remaining = remaining.dropFirst(count)
            }
        }
        if let unexpected = remaining.first {
            throw UsageError(
                "'\(command.name)' does not take another argument: \(quoted(unexpected))",
                hint: "usage: \(program.usage(of: command))")
        }
        return bound
    }
}

extension Collection<UInt8> {
    /// Whether these bytes are exactly those of the word. Equivalent Unicode forms differ.
    func spells(_ word: String) -> Bool {
        elementsEqual(word.utf8)
    }

    fileprivate var asksForHelp: Bool {
        OptionDescription.helpOption.spellings.contains(where: spells)
    }
}
