extension String {
    /// Lines of at most `width` characters. It breaks only between words. A word longer than that gets its own line.
    func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " \(word)"
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// Wraps each line of the text separately. Empty lines and lines that begin with a space are not changed.
    func paragraphs(wrappedTo width: Int) -> [String] {
        split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            line.isEmpty || line.hasPrefix(" ") ? [String(line)] : String(line).wrapped(to: width)
        }
    }

    func padded(to width: Int) -> String { self + spaces(width - count) }

    func rightAligned(to width: Int) -> String { spaces(width - count) + self }
}

/// Empty for a negative number.
func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
