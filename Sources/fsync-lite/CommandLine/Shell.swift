import FileSystem
import FsyncLite

/// A shell with completions.
enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish

    /// The completion script for the program's commands, options and values.
    func completions(of program: ProgramDescription) -> String {
        switch self {
        case .bash: BashCompletions(program: program).text
        case .zsh: ZshCompletions(program: program).text
        case .fish: FishCompletions(program: program).text
        }
    }

    /// A word in single quotes, valid in all three shells.
    static func quoted(_ text: String) -> String {
        "'\(text.replacing("'", with: "'\\''"))'"
    }

    /// The words of a command, as `rsync -e` reads them: within quotes, blanks do not divide; nil if a quote has no end.
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

    /// An argument, quoted if necessary; unprintable bytes are escaped as bash and zsh read them.
    static func word(_ bytes: [UInt8]) -> String {
        let text = escapedText(bytes)
        guard text.utf8.elementsEqual(bytes) else { return "$'\(text.replacing("'", with: "\\'"))'" }
        let isPlain = text.unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || "0123456789/._-+,@%=".unicodeScalars.contains($0))
        }
        return isPlain && !text.isEmpty ? text : quoted(text)
    }
}

extension ProgramDescription {
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

    /// First words that need a second one, with their commands.
    var groups: [(word: String, commands: [CommandDescription])] {
        firstWords.map { ($0.word, group($0.word.utf8)) }.filter { !$0.commands.isEmpty }
    }

    /// The function names of a script.
    var identifier: String { "_" + name.replacing("-", with: "_") }
}
