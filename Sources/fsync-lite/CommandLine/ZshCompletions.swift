/// Completions for zsh, with descriptions.
struct ZshCompletions: Sendable {
    let program: ProgramDescription

    var text: String {
        let name = program.identifier
        var lines = [
            "#compdef \(program.name)", "",
            // The command's own words begin with its last word.
            "\(name)_snapshots() {", "    local word", "    for word in \"${(@)words[2,-1]}\"; do",
            "        [[ $word == -* ]] || break", "    done",
            "    compadd -V snapshots -- latest "
                + "${(f)\"$(\(program.name) \(ValueKind.snapshot.lookup ?? "") ${${(Q)word}/#\\~/$HOME} 2>/dev/null)\"}",
            "}", "", "\(name)_jobs() {",
            "    compadd -- ${(f)\"$(\(program.name) \(ValueKind.job.lookup ?? "") 2>/dev/null)\"}", "}", "",
            "\(name)_targets() {", "    _files -/", "    \(name)_jobs", "}", "",
            "\(name)_topics() {", "    if ((CURRENT == 2)); then",
            "        compadd -- \(program.firstWords.map(\.word).joined(separator: " "))", "        return",
            "    fi",
            "    ((CURRENT == 3)) || return", "    case $words[2] in",
        ]
        lines += program.groups.map { word, commands in
            "    \(word)) compadd -- \(commands.map { $0.words[1] }.joined(separator: " ")) ;;"
        }
        lines += [
            "    esac", "}", "", "\(name)() {", "    local -a choices",
        ]
        lines += choices(
            "((CURRENT == 2))",
            program.firstWords.map { ($0.word, $0.help) } + program.options.map { ($0.name, $0.help) })
        for (word, commands) in program.groups {
            lines += choices(
                "((CURRENT == 3)) && [[ $words[2] == \(word) ]]",
                commands.map { ($0.words[1], $0.summary) })
        }
        lines += ["    case \"$words[2] $words[3]\" in"]
        // Longer names first: the pattern of a shorter one matches them too.
        for command in program.descriptions.sorted(by: { $0.words.count > $1.words.count }) {
            let count = command.words.count
            lines += [
                "    \(Shell.quoted(command.name + (count > 1 ? "" : " ")))\(count > 1 ? "" : "*"))",
                "        words=(\"${(@)words[\(count + 1),-1]}\")", "        ((CURRENT -= \(count)))",
                "        _arguments -s -S : \\",
            ]
            let specifications =
                command.allOptions.map(specification)
                + command.arguments.enumerated().map { specification($1, at: $0 + 1) }
            lines += [specifications.map { "            " + $0 }.joined(separator: " \\\n"), "        ;;"]
        }
        // When sourced, the script registers itself; in a directory of functions, it is the function.
        lines += [
            "    esac", "}", "", "if [[ $funcstack[1] == \(name) ]]; then", "    \(name) \"$@\"", "else",
            "    compdef \(name) \(program.name)", "fi",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// Words with descriptions, offered when a condition holds.
    private func choices(_ condition: String, _ words: [(word: String, help: String)]) -> [String] {
        let rows = words.map { word, help in
            "            " + Shell.quoted("\(word.replacing(":", with: "\\:")):\(help)")
        }
        return ["    if \(condition); then", "        choices=("] + rows
            + ["        )", "        _describe command choices", "        return", "    fi"]
    }

    private func specification(_ option: OptionDescription) -> String {
        let help = "[\(escaped(option.help))]"
        let value = option.placeholder.map { ":\($0):\(action(option.valueKind ?? .text))" } ?? ""
        let names = option.spellings
        let once = option.isRepeatable ? "*" : names.count > 1 ? "(\(names.joined(separator: " ")))" : ""
        return names.map { name in
            // A long name also takes its value after =.
            let shape = option.takesValue ? name + (name.hasPrefix("--") ? "=" : "+") : name
            return Shell.quoted("\(once)\(shape)\(help)\(value)")
        }.joined(separator: " ")
    }

    private func specification(_ argument: ArgumentDescription, at position: Int) -> String {
        let prefix = argument.isRepeated ? "*" : "\(position)"
        let separator = argument.isOptional && !argument.isRepeated ? "::" : ":"
        return Shell.quoted("\(prefix)\(separator)\(escaped(argument.name)):\(action(argument.valueKind))")
    }

    private func action(_ kind: ValueKind) -> String {
        switch kind {
        case .directory: "_files -/"
        case .path: "_files"
        case .choice(let words): "(\(words.joined(separator: " ")))"
        case .command: "\(program.identifier)_topics"
        case .snapshot: "\(program.identifier)_snapshots"
        case .job: "\(program.identifier)_jobs"
        case .directoryOrJob: "\(program.identifier)_targets"
        case .text: " "
        }
    }

    private func escaped(_ text: String) -> String {
        text.map { "\\[]:".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }
}
