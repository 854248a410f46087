/// Breaks text into lines of at most `width` characters.
struct TextWrapping {
    let width: Int

    /// Breaks between words only; a word longer than the width gets a separate line.
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

    /// Wraps each line of the text separately, keeping empty lines and lines that begin with a space.
    func paragraphs(of text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            line.isEmpty || line.hasPrefix(" ") ? [String(line)] : lines(of: String(line))
        }
    }
}

extension String {
    /// Padded with spaces to a width.
    func padded(to width: Int) -> String { self + spaces(width - count) }

    /// Right-aligned to a width.
    func rightAligned(to width: Int) -> String { spaces(width - count) + self }
}

/// Empty for a negative number.
func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
