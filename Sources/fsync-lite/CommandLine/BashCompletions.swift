/// Completions for bash 4 or later, without the package bash-completion.
struct BashCompletions: Sendable {
    let program: ProgramDescription

    var text: String {
        let name = program.identifier
        return """
            # bash completions for \(program.name)

            \(name)() {
                local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= words= options= kind=text
                local values= word= skip= target= first=2 count=0
                local -a kinds=()
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
                if [[ $kind == argument ]]; then
                    # The arguments before this one, without options and their values.
                    for word in "${COMP_WORDS[@]:first:COMP_CWORD - first}"; do
                        if [[ $word == = ]]; then
                            skip=1
                        elif [[ $skip ]]; then
                            skip=
                        elif [[ $word == -* ]]; then
                            [[ " $values " == *" $word "* ]] && skip=1
                        else
                            ((count++)) || target=${word/#\\~/$HOME}
                        fi
                    done
                    ((count < ${#kinds[@]})) || count=$((${#kinds[@]} - 1))
                    kind=${kinds[count]}
                fi
                case $kind in
                words\\ *) words=${kind#words } kind=words ;;
                snapshot) words="latest $(\(program.name) \(ValueKind.snapshot.lookup ?? "") "$target" 2>/dev/null)" kind=words ;;
                job) words=$(\(program.name) \(ValueKind.job.lookup ?? "") 2>/dev/null) kind=words ;;
                esac
                case $kind in
                command)
                    case $target in
                    \(topics)
                    esac
                    COMPREPLY=($(compgen -W "$words" -- "$cur"))
                    ;;
                words) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
                directory)
                    compopt -o filenames
                    mapfile -t COMPREPLY < <(compgen -d -- "$cur")
                    ;;
                directory_or_job)
                    compopt -o filenames
                    words=$(\(program.name) \(ValueKind.job.lookup ?? "") 2>/dev/null)
                    mapfile -t COMPREPLY < <(compgen -d -- "$cur"; compgen -W "$words" -- "$cur")
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
            program.groups.map {
                "\($0.word)) ((COMP_CWORD > 2)) && command+=\" ${COMP_WORDS[2]}\" first=3 ;;"
            }, 8)
    }

    /// The words that help takes: first ones, and the second ones of a group.
    private var topics: String {
        let first = "'') words='\(program.firstWords.map(\.word).joined(separator: " "))' ;;"
        return indented(
            [first]
                + program.groups.map { word, commands in
                    "\(word)) words='\(commands.map { $0.words[1] }.joined(separator: " "))' ;;"
                }, 8)
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
                "    values='\(command.options.filter(\.takesValue).flatMap(\.spellings).joined(separator: " "))'",
                "    kinds=(\(command.argumentKinds.map(word).joined(separator: " ")))",
                "    case $prev in",
            ]
            for option in command.options {
                guard let kind = option.valueKind else { continue }
                let spellings = option.spellings.joined(separator: " | ")
                lines.append("    \(spellings)) kind=\(word(kind)) options= ;;")
            }
            lines += ["    *) kind=argument ;;", "    esac", "    ;;"]
        }
        return indented(lines, 4)
    }

    private func word(_ kind: ValueKind) -> String {
        switch kind {
        case .directory: "directory"
        case .path: "path"
        case .text: "text"
        case .choice(let words): Shell.quoted("words \(words.joined(separator: " "))")
        case .command: "command"
        case .snapshot: "snapshot"
        case .job: "job"
        case .directoryOrJob: "directory_or_job"
        }
    }

    private func indented(_ lines: [String], _ depth: Int) -> String {
        lines.joined(separator: "\n" + String(repeating: " ", count: depth))
    }
}
