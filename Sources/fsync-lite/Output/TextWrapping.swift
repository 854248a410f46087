/// Breaks text into lines of at most `width` characters.
struct TextWrapping {
    let width: Int

    /// Breaks between words only; a word wider than the line gets a line to itself.
    func lines(of text: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// Wraps each line of the text by itself, keeping empty lines and lines that begin with a space.
    func paragraphs(of text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            line.isEmpty || line.hasPrefix(" ") ? [String(line)] : lines(of: String(line))
        }
    }
}

extension String {
    /// Followed by spaces up to a width.
    func padded(to width: Int) -> String { self + spaces(width - count) }

    /// After spaces that fill a width.
    func rightAligned(to width: Int) -> String { spaces(width - count) + self }
}

/// None for a negative number.
func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
