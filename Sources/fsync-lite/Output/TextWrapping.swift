/// Breaks text into lines of at most `width` characters.
struct TextWrapping {
    let width: Int

    /// Breaks only between words. A word longer than the width gets its own line.
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

    /// Wraps each line of the text separately. Empty lines and lines that begin with a space are not changed.
    func paragraphs(of text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            line.isEmpty || line.hasPrefix(" ") ? [String(line)] : lines(of: String(line))
        }
    }
}

extension String {
    func padded(to width: Int) -> String { self + spaces(width - count) }

    func rightAligned(to width: Int) -> String { spaces(width - count) + self }
}

/// Empty for a negative number.
func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
