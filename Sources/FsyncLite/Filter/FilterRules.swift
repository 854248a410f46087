/// Rules in order. The last match decides.
package struct FilterRules: Hashable, Sendable {
    private(set) var rules: [FilterRule] = []

    /// The maximum size of a file of patterns, in bytes.
    package static let sizeLimit = 16 << 20

    mutating func append(_ rule: FilterRule) {
        rules.append(rule)
    }

    /// Adds the rules of a file, parsed as in git. Ignored are a leading byte order mark, carriage returns before line
    /// feeds, and trailing spaces without a backslash. So are empty lines and lines that begin with `#`. A line ends at
    /// its first NUL.
    mutating func append(contentsOf file: [UInt8], path: [UInt8]) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = file.starts(with: mark) ? file[mark.count...] : file[...]
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty && line.first != UInt8(ascii: "#") {
            var line = line
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            line = FilterRules.withoutTrailingSpaces(line.prefix { $0 != 0 })
            if !line.isEmpty {
                rules.append(FilterRule(Array(line), from: .file(path: path, line: index + 1)))
            }
        }
    }

    private static func withoutTrailingSpaces(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var end = line.startIndex
        var index = line.startIndex
        while index < line.endIndex {
            let isSpace = line[index] == UInt8(ascii: " ")
            index += line[index] == UInt8(ascii: "\\") ? 2 : 1
            if !isSpace { end = min(index, line.endIndex) }
        }
        return line[..<end]
    }

    /// The index of the last matching rule. See `IgnorePattern` for the parameters.
    func lastMatch(_ path: Span<UInt8>, base: Int, name: Int, isDirectory: Bool) -> Int? {
        let rules = rules.span
        var index = rules.count
        while index > 0 {
            index -= 1
            if rules[index].pattern.matches(path, base: base, name: name, isDirectory: isDirectory) {
                return index
            }
        }
        return nil
    }
}
