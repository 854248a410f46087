import FileSystem

/// A shell with completions.
enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish

    /// The completion script for the program's commands, options and values.
    func completions(of program: ProgramDescription) -> String {
        switch self {
        case .bash: program.bashCompletions
        case .zsh: program.zshCompletions
        case .fish: program.fishCompletions
        }
    }

    /// A word in single quotes, valid in all three shells.
    static func quoted(_ text: String) -> String {
        "'\(text.replacing("'", with: "'\\''"))'"
    }

    /// The words of a command, divided like those of `rsync -e`: not within quotes; nil if a quote is open.
    static func words(_ text: String) -> [String]? {
        var (words, word, quote): ([String], String?, Character?) = ([], nil, nil)
        for character in text {
            if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                (quote, word) = (character, word ?? "")
            } else if quote == nil, character == " " {
                words += [word].compactMap(\.self)
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return quote == nil ? words + [word].compactMap(\.self) : nil
    }

    /// An argument, quoted if necessary. Unprintable bytes are escaped in a way that bash and zsh read.
    static func word(_ bytes: [UInt8]) -> String {
        let text = escapedText(bytes)
        guard text.utf8.elementsEqual(bytes) else { return "$'\(text.replacing("'", with: "\\'"))'" }
        let isPlain = text.unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || "0123456789/._-+,@%=".unicodeScalars.contains($0))
        }
        return isPlain && !text.isEmpty ? text : quoted(text)
    }

    /// A path as an argument of a command, which does not treat it as an option.
    static func path(_ bytes: [UInt8]) -> String {
        word(bytes.first == UInt8(ascii: "-") ? Array("./".utf8) + bytes : bytes)
    }
}

/// The data from which the completions of all shells are made.
extension ProgramDescription {
    /// The command line that prints the ids of a target's snapshots. The target follows it.
    var snapshotLookup: String { "\(name) snapshot list --ids --" }
    /// The command line that prints the names of the jobs.
    var jobLookup: String { "\(name) settings show --jobs 2>/dev/null" }

    /// Each first word once, in order, with its summary.
    var firstWords: [(word: String, help: String)] {
        var words: [(word: String, help: String)] = []
        for command in descriptions where !words.contains(where: { $0.word == command.words[0] }) {
            let group = group(command.words[0].utf8)
            let seconds = group.map { $0.words[1] }.joined(separator: ", ")
            words.append((command.words[0], group.isEmpty ? command.summary : seconds))
        }
        return words
    }

    var firstWordList: String { firstWords.map(\.word).joined(separator: " ") }

    /// The first words that need a second one, with their commands and a list of the second words.
    var groups: [(word: String, commands: [CommandDescription], seconds: String)] {
        firstWords.map { first in
            let commands = group(first.word.utf8)
            return (first.word, commands, commands.map { $0.words[1] }.joined(separator: " "))
        }.filter { !$0.commands.isEmpty }
    }

    /// The prefix of all functions in a script.
    var identifier: String { "_" + name.replacing("-", with: "_") }
}
