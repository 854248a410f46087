/// Completions for fish, with descriptions.
extension ProgramDescription {
    var fishCompletions: String {
        var lines = [
            "# fish completions for \(name)", "",
            // Whether the complete words on the line begin with these.
            "function \(identifier)_at", "    set -l typed (commandline -opc)", "    set -e typed[1]",
            "    test \"$typed\" = \"$argv\"", "end", "",
            "function \(identifier)_is", "    set -l typed (commandline -opc)", "    set -e typed[1]",
            "    set -l length (count $argv)", "    test (count $typed) -ge $length",
            "    and test \"$typed[1..$length]\" = \"$argv\"", "end", "",
            // The arguments after a number of words, without options and their values.
            "function \(identifier)_arguments", "    set -l typed (commandline -opc)", "    set -l skip",
            "    for word in $typed[(math $argv[1] + 1)..-1]", "        if set -q skip[1]",
            "            set skip",
            "        else if string match -q -- '-*' $word",
            "            contains -- $word \(values); and set skip 1", "        else",
            "            echo $word",
            "        end", "    end", "end", "",
            // Whether the next argument is at this position, or after it.
            "function \(identifier)_next", "    set -l count (count (\(identifier)_arguments $argv[1]))",
            "    test $count $argv[2] $argv[3]", "end", "",
            "complete -c \(name) -f",
        ]
        lines += firstWords.map { word("\(identifier)_at", $0.word, $0.help) }
        lines += options.map { line("\(identifier)_at", option($0)) }
        for (group, commands, _) in groups {
            lines += commands.map { word("\(identifier)_at \(group)", $0.words[1], $0.summary) }
        }
        for command in descriptions {
            let condition = "\(identifier)_is \(command.name)"
            lines += command.allOptions.map { line(condition, option($0)) }
            for (position, kind) in command.argumentKinds.enumerated() where kind != .text {
                let isLast = position == command.argumentKinds.count - 1
                let comparison = isLast && kind != .command ? "-ge" : "-eq"
                let next = "\(identifier)_next \(command.words.count + 1) \(comparison) \(position)"
                lines.append(line("\(condition); and \(next)", values(kind, command)))
                guard kind == .command else { continue }
                for (group, commands, _) in groups {
                    lines += commands.map {
                        word("\(identifier)_at \(command.name) \(group)", $0.words[1], $0.summary)
                    }
                }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The options that take a value, of all commands.
    private var values: String {
        descriptions.flatMap(\.options).filter(\.takesValue).flatMap(\.spellings)
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }.joined(separator: " ")
    }

    private func line(_ condition: String, _ rest: String) -> String {
        "complete -c \(name) -n \(quoted(condition)) \(rest)"
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
        case .command: "-f -a \(quoted(firstWordList))"
        case .snapshot:
            "-f -k -a '(echo latest; \(snapshotLookup) "
                + "(\(identifier)_arguments \((command?.words.count ?? 0) + 1))[1] 2>/dev/null)'"
        case .job: "-f -a '(\(jobLookup))'"
        case .directoryOrJob: "-f -a '(__fish_complete_directories; \(jobLookup))'"
        case .pattern, .text: "-f"
        }
    }

    private func quoted(_ text: String) -> String {
        "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }
}
