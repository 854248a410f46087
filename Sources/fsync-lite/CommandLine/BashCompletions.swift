/// Completions for bash 4 or later, without the package bash-completion.
struct BashCompletions: Sendable {
    let program: ProgramDescription

    var text: String {
        let name = program.identifier
        return """
            # bash completions for \(program.name)

            \(name)() {
                local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= words= options= kind=text
                COMPREPLY=()
                # bash splits --name=value in three.
                if [[ $cur == = ]]; then
                    cur=
                elif [[ $prev == = ]]; then
                    prev=${COMP_WORDS[COMP_CWORD - 2]}
                fi
                if ((COMP_CWORD > 1)); then
                    command=${COMP_WORDS[1]}
                    case $command in
                    \(groups)
                    esac
                fi
                case $command in
                \(commands)
                esac
                if [[ $cur == -* ]]; then
                    words=$options kind=words
                fi
                case $kind in
                words) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
                directory)
                    compopt -o filenames
                    mapfile -t COMPREPLY < <(compgen -d -- "$cur")
                    ;;
                path)
                    compopt -o filenames
                    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
                    ;;
                esac
            }

            complete -F \(name) \(program.name)

            """
    }

    /// Appends the second word to the command, if there is one.
    private var groups: String {
        indented(
            program.groups.map { "\($0.word)) ((COMP_CWORD > 2)) && command+=\" ${COMP_WORDS[2]}\" ;;" }, 8)
    }

    private var commands: String {
        let first = program.firstWords.map(\.word) + program.options.map(\.name)
        var lines = ["'') words='\(first.joined(separator: " "))' kind=words options=$words ;;"]
        for (word, commands) in program.groups {
            let second = commands.map { $0.words[1] }.joined(separator: " ")
            lines.append("\(word)) words='\(second)' kind=words options=--help ;;")
        }
        for command in program.descriptions {
            let names = command.allOptions.flatMap(\.spellings)
            lines += [
                "\(Shell.quoted(command.name)))", "    options='\(names.joined(separator: " "))'",
                "    case $prev in",
            ]
            for option in command.options {
                guard let kind = option.valueKind else { continue }
                let spellings = option.spellings.joined(separator: " | ")
                lines.append("    \(spellings)) \(assignment(kind)) options= ;;")
            }
            lines += ["    *) \(assignment(command.argumentKind ?? .text)) ;;", "    esac", "    ;;"]
        }
        return indented(lines, 4)
    }

    private func assignment(_ kind: ValueKind) -> String {
        switch kind {
        case .directory: "kind=directory"
        case .path: "kind=path"
        case .text: "kind=text"
        case .choice(let words): "words='\(words.joined(separator: " "))' kind=words"
        case .command: "words='\(program.firstWords.map(\.word).joined(separator: " "))' kind=words"
        }
    }

    private func indented(_ lines: [String], _ depth: Int) -> String {
        lines.joined(separator: "\n" + String(repeating: " ", count: depth))
    }
}
