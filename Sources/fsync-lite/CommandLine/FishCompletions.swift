/// Completions for fish, with descriptions.
struct FishCompletions: Sendable {
    let program: ProgramDescription

    var text: String {
        let name = program.identifier
        var lines = [
            "# fish completions for \(program.name)", "",
            // Whether the completed words on the line begin with these.
            "function \(name)_at", "    set -l typed (commandline -opc)", "    set -e typed[1]",
            "    test \"$typed\" = \"$argv\"", "end", "",
            "function \(name)_is", "    set -l typed (commandline -opc)", "    set -e typed[1]",
            "    set -l length (count $argv)", "    test (count $typed) -ge $length",
            "    and test \"$typed[1..$length]\" = \"$argv\"", "end", "",
            // The arguments after so many words, without options and their values.
            "function \(name)_arguments", "    set -l typed (commandline -opc)", "    set -l skip",
            "    for word in $typed[(math $argv[1] + 1)..-1]", "        if set -q skip[1]",
            "            set skip",
            "        else if string match -q -- '-*' $word",
            "            contains -- $word \(values); and set skip 1", "        else",
            "            echo $word",
            "        end", "    end", "end", "",
            // Whether the argument at this position, or any further one, is next.
            "function \(name)_next", "    set -l count (count (\(name)_arguments $argv[1]))",
            "    test $count $argv[2] $argv[3]", "end", "",
            "complete -c \(program.name) -f",
        ]
        lines += program.firstWords.map { word("\(name)_at", $0.word, $0.help) }
        lines += program.options.map { line("\(name)_at", option($0)) }
        for (group, commands) in program.groups {
            lines += commands.map { word("\(name)_at \(group)", $0.words[1], $0.summary) }
        }
        for command in program.descriptions {
            let condition = "\(name)_is \(command.name)"
            lines += command.allOptions.map { line(condition, option($0)) }
            for (position, kind) in command.argumentKinds.enumerated() where kind != .text {
                let isLast = position == command.argumentKinds.count - 1
                let comparison = isLast && kind != .command ? "-ge" : "-eq"
                let next = "\(name)_next \(command.words.count + 1) \(comparison) \(position)"
                lines.append(line("\(condition); and \(next)", values(kind, command)))
                guard kind == .command else { continue }
                for (group, commands) in program.groups {
                    lines += commands.map {
                        word("\(name)_at \(command.name) \(group)", $0.words[1], $0.summary)
                    }
                }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The options that take a value, of all commands.
    private var values: String {
        var names: [String] = []
        for name in program.descriptions.flatMap(\.options).filter(\.takesValue).flatMap(\.spellings)
        where !names.contains(name) {
            names.append(name)
        }
        return names.joined(separator: " ")
    }

    private func line(_ condition: String, _ rest: String) -> String {
        "complete -c \(program.name) -n \(quoted(condition)) \(rest)"
    }

    private func word(_ condition: String, _ word: String, _ help: String) -> String {
        line(condition, "-a \(quoted(word)) -d \(quoted(help))")
    }

    private func option(_ option: OptionDescription) -> String {
        let short = option.short.map { " -s \($0.dropFirst())" } ?? ""
        let value = option.valueKind.map { " -r " + values($0) } ?? ""
        return "-l \(option.name.dropFirst(2))\(short)\(value) -d \(quoted(option.help))"
    }

    private func values(_ kind: ValueKind, _ command: CommandDescription? = nil) -> String {
        switch kind {
        case .directory: "-f -a '(__fish_complete_directories)'"
        case .path: "-F"
        case .choice(let words): "-f -a \(quoted(words.joined(separator: " ")))"
        case .command: "-f -a \(quoted(program.firstWords.map(\.word).joined(separator: " ")))"
        case .snapshot:
            "-f -k -a '(echo latest; \(program.name) \(ValueKind.snapshot.lookup ?? "") "
                + "(\(program.identifier)_arguments \((command?.words.count ?? 0) + 1))[1] 2>/dev/null)'"
        case .job: "-f -a '(\(jobs))'"
        case .directoryOrJob: "-f -a '(__fish_complete_directories; \(jobs))'"
        case .text: "-f"
        }
    }

    private var jobs: String { "\(program.name) \(ValueKind.job.lookup ?? "") 2>/dev/null" }

    private func quoted(_ text: String) -> String {
        "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }
}
