/// Separates a command's options from its positional arguments, in any order, up to `--`.
struct OptionScanner {
    let command: CommandDescription
    let program: ProgramDescription
    /// The arguments not scanned yet.
    private(set) var pending: ArraySlice<[UInt8]>
    private(set) var options = GivenOptions()
    private(set) var positionals: [[UInt8]] = []

    mutating func scan() throws(UsageError) {
        while let argument = pending.popFirst() {
            if argument.spells("--") {
                positionals += pending
                return
            } else if argument.starts(with: "--".utf8) {
                try scanLong(argument)
            } else if argument.count > 1, argument.first == UInt8(ascii: "-") {
                try scanShort(argument)
            } else {
                positionals.append(argument)
            }
        }
    }

    /// `--name`, `--name value` or `--name=value`.
    private mutating func scanLong(_ argument: [UInt8]) throws(UsageError) {
        let name = argument.prefix { $0 != UInt8(ascii: "=") }
        guard let option = option(spelled: name) else { throw unknown(name) }
        let attached = name.count < argument.count ? Array(argument[(name.endIndex + 1)...]) : nil
        if let attached, !option.takesValue, !option.takes([attached]) {
            throw UsageError(
                "\(option.name) does not take a value, but was given \(quoted(attached))",
                hint: "write \(option.name) alone")
        }
        try record(option, attached: attached, spelling: option.name)
    }

    /// `-o value` or `-ovalue`; flags may share one dash, as in `-nq`, with a valued option last.
    private mutating func scanShort(_ argument: [UInt8]) throws(UsageError) {
        var letters = argument.dropFirst()
        while let letter = letters.popFirst() {
            let spelling = [UInt8(ascii: "-"), letter]
            guard let option = option(spelled: spelling[...]) else { throw unknown(argument[...]) }
            let attached = option.takesValue && !letters.isEmpty ? Array(letters) : nil
            try record(option, attached: attached, spelling: option.short ?? option.name)
            if attached != nil {
                return
            }
        }
    }

    private mutating func record(
        _ option: OptionDescription, attached: [UInt8]?, spelling: String
    ) throws(UsageError) {
        if !option.isRepeatable, options.has(option) {
            throw UsageError("\(option.name) is given more than once", hint: "give \(option.name) once")
        }
        guard let placeholder = option.placeholder else {
            options.append(option, attached)
            return
        }
        let value: [UInt8]
        if let attached {
            value = attached
        } else if let next = pending.first, !next.starts(with: "--".utf8),
            self.option(spelled: next[...]) == nil
        {
            // An option in the place of the value means that the value was forgotten.
            value = next
            pending.removeFirst()
        } else {
            let attachedForm = option.name == spelling ? "\(spelling)=" : spelling
            throw UsageError(
                "\(spelling) is missing its value \(placeholder)",
                hint: "write \(spelling) \(placeholder), or \(attachedForm)\(placeholder) "
                    + "for a value that begins with '-'")
        }
        try option.valueKind?.check(value, for: option.name)
        options.append(option, value)
    }

    private func option(spelled spelling: ArraySlice<UInt8>) -> OptionDescription? {
        command.allOptions.first { $0.spellings.contains(where: spelling.spells) }
    }

    private func unknown(_ typed: ArraySlice<UInt8>) -> UsageError {
        UsageError("unknown option \(quoted(typed)) for '\(command.name)'", hint: hint(for: typed))
    }

    private func hint(for typed: ArraySlice<UInt8>) -> String {
        let names = command.allOptions.map(\.name)
        if let option = names.first(where: { typed.spells(String($0.dropFirst())) }) {
            return "did you mean '\(option)'?"
        }
        if let hint = program.hint(forForeign: typed, of: command) { return hint }
        let owners = program.descriptions.filter { other in
            other.allOptions.contains { $0.spellings.contains(where: typed.spells) }
        }
        guard owners.isEmpty else {
            return "it is an option of \(owners.map { "'\($0.name)'" }.joined(separator: ", "))"
        }
        // Do not suggest the opposite of the typed word.
        func isNegative(_ name: some Collection<UInt8>) -> Bool { name.starts(with: "--no".utf8) }
        return EditDistance.suggestion(
            for: typed, among: names.filter { isNegative($0.utf8) == isNegative(typed) })
            ?? "see '\(program.name) \(command.name) --help'; write -- before a name that begins with '-'"
    }
}
