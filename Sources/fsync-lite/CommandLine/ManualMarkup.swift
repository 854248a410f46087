/// Text in the macros of `man(7)`.
enum ManualMarkup {
    static func item(_ label: String, _ meaning: String) -> [String] {
        [".TP", label] + text(meaning)
    }

    static func boldItem(_ label: String, _ meaning: String) -> [String] { item(bold(label), meaning) }

    /// Text in which each line is a paragraph. A line that begins with a space remains as written.
    static func paragraphs(_ text: String) -> [String] {
        Array(
            text.split(separator: "\n").map { line in
                line.hasPrefix(" ")
                    ? [".nf", escaped(String(line)), ".fi"] : ManualMarkup.text(String(line))
            }.joined(separator: [".PP"]))
    }

    /// A paragraph. Each sentence begins a line, and no line looks like a request.
    static func text(_ text: String) -> [String] {
        text.split(separator: ". ").flatMap { sentence in
            let isLast = sentence.endIndex == text.endIndex
            return (String(sentence) + (isLast ? "" : ".")).wrapped(to: 72)
        }.map { line in
            (line.first.map { ".'".contains($0) } ?? false ? "\\&" : "") + escaped(line)
        }
    }

    static func bold(_ text: String) -> String { "\\fB\(escaped(text))\\fR" }
    static func italic(_ text: String) -> String { "\\fI\(escaped(text))\\fR" }

    /// Escapes hyphens and backslashes, so that they are printed as typed.
    static func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "\\": "\\e"
            case "-": "\\-"
            case "'": "\\(aq"
            case "^": "\\(ha"
            case "~": "\\(ti"
            case "`": "\\(ga"
            default: String(character)
            }
        }.joined()
    }
}
