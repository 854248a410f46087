/// Completions for zsh, with descriptions.
extension ProgramDescription {
    var zshCompletions: String {
        var lines = [
            "#compdef \(name)", "",
            // The command's own words begin with its last word.
            "\(identifier)_snapshots() {", "    local word", "    for word in \"${(@)words[2,-1]}\"; do",
            "        [[ $word == -* ]] || break", "    done",
            "    compadd -V snapshots -- latest "
                + "${(f)\"$(\(snapshotLookup) ${${(Q)word}/#\\~/$HOME} 2>/dev/null)\"}",
            "}", "", "\(identifier)_jobs() {",
            "    compadd -- ${(f)\"$(\(jobLookup))\"}", "}", "",
            "\(identifier)_targets() {", "    _files -/", "    \(identifier)_jobs", "}", "",
            "\(identifier)_topics() {", "    if ((CURRENT == 2)); then",
            "        compadd -- \(firstWordList)", "        return",
            "    fi",
            "    ((CURRENT == 3)) || return", "    case $words[2] in",
        ]
        lines += groups.map { "    \($0.word)) compadd -- \($0.seconds) ;;" }
        lines += [
            "    esac", "}", "", "\(identifier)() {", "    local -a choices",
        ]
        lines += choices(
            "((CURRENT == 2))",
            firstWords.map { ($0.word, $0.help) } + options.map { ($0.name, $0.help) })
        for (word, commands, _) in groups {
            lines += choices(
                "((CURRENT == 3)) && [[ $words[2] == \(word) ]]",
                commands.map { ($0.words[1], $0.summary) })
        }
        lines += ["    case \"$words[2] $words[3]\" in"]
        // Longer names come first, because the pattern of a shorter name matches them, too.
        for command in descriptions.sorted(by: { $0.words.count > $1.words.count }) {
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
        // A sourced script registers itself. In a directory of functions, the script is the function.
        lines += [
            "    esac", "}", "", "if [[ $funcstack[1] == \(identifier) ]]; then", "    \(identifier) \"$@\"",
            "else",
            "    compdef \(identifier) \(name)", "fi",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// Words with descriptions, offered if a condition is true.
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
            // A long name may have its value after =.
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
        case .command: "\(identifier)_topics"
        case .snapshot: "\(identifier)_snapshots"
        case .job: "\(identifier)_jobs"
        case .directoryOrJob: "\(identifier)_targets"
        case .pattern, .text: " "
        }
    }

    private func escaped(_ text: String) -> String {
        text.map { "\\[]:".contains($0) ? "\\\($0)" : "\($0)" }.joined()
    }
}
