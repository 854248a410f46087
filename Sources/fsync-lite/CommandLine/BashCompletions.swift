/// Completions for bash 4 or later, without the package bash-completion.
extension ProgramDescription {
    var bashCompletions: String {
        """
        # bash completions for \(name)

        \(identifier)() {
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
                \(secondWordCases)
                esac
            fi
            case $command in
            \(commandCases)
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
            snapshot) words="latest $(\(snapshotLookup) "$target" 2>/dev/null)" kind=words ;;
            job) words=$(\(jobLookup)) kind=words ;;
            esac
            case $kind in
            command)
                case $target in
                \(topicCases)
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
                words=$(\(jobLookup))
                mapfile -t COMPREPLY < <(compgen -d -- "$cur"; compgen -W "$words" -- "$cur")
                ;;
            path)
                compopt -o filenames
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
                ;;
            esac
        }

        complete -F \(identifier) \(name)

        """
    }

    /// Appends the second word to the command, if there is one.
    private var secondWordCases: String {
        indented(
            groups.map { "\($0.word)) ((COMP_CWORD > 2)) && command+=\" ${COMP_WORDS[2]}\" first=3 ;;" }, 8)
    }

    /// The words that `help` accepts: the first words, and the second words of a group.
    private var topicCases: String {
        indented(
            ["'') words='\(firstWordList)' ;;"] + groups.map { "\($0.word)) words='\($0.seconds)' ;;" }, 8)
    }

    private var commandCases: String {
        let first = ([firstWordList] + options.map(\.name)).joined(separator: " ")
        var lines = ["'') words='\(first)' kind=words options=$words ;;"]
        lines += groups.map { "\($0.word)) words='\($0.seconds)' kind=words options=--help ;;" }
        for command in descriptions {
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
        case .pattern, .text: "text"
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
