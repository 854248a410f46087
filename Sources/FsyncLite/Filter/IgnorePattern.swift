/// One pattern with the exact semantics of gitignore, as in `git check-ignore`:
///
/// - A leading `!` means that matches are included.
/// - A trailing `/` means that only directories match.
/// - A `/` anywhere else means that the pattern is relative to the directory of its file. Without one, it matches a
///   name at any depth.
///
/// Patterns without wildcards, and `*.ext`, are compared without tokens.
struct IgnorePattern: Hashable, Sendable {
    private enum Shape: Hashable, Sendable {
        case literal
        case suffix
        case wildcard
        case unmatchable
    }

    let isNegated: Bool
    private let isDirectoryOnly: Bool
    private let isAnchored: Bool
    private let shape: Shape
    /// The text before the first wildcard.
    private let prefix: [UInt8]
    /// The text after the star, if the rest is a single star and text.
    private let suffix: [UInt8]
    private let wildcard: Wildcard

    /// - Parameter text: the pattern without comment, line end and trailing spaces.
    init(_ text: [UInt8]) {
        let slash = UInt8(ascii: "/")
        var pattern = text[...]
        isNegated = pattern.first == UInt8(ascii: "!")
        if isNegated { pattern.removeFirst() }
        isDirectoryOnly = pattern.last == slash
        if isDirectoryOnly { pattern.removeLast() }
        let hasSlash = pattern.contains(slash)
        if pattern.first == slash { pattern.removeFirst() }
        // `**/name` is a name at any depth, and is faster to match as such.
        let below = pattern.starts(with: "**/".utf8) ? pattern.dropFirst(3) : []
        isAnchored = hasSlash && (below.isEmpty || below.contains(slash))
        if hasSlash, !isAnchored { pattern = below }

        // A path never has such a component. A bracket may contain a slash.
        let isPath =
            pattern.contains(UInt8(ascii: "["))
            || pattern.split(separator: slash, omittingEmptySubsequences: false).allSatisfy {
                !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8)
            }
        let literal = pattern.prefix { !IgnorePattern.isSpecial($0) }
        let rest = pattern[literal.endIndex...]
        prefix = Array(literal)
        if rest.isEmpty || !isPath {
            (shape, suffix, wildcard) = (isPath ? .literal : .unmatchable, [], Wildcard())
        } else if rest.first == UInt8(ascii: "*"),
            rest.dropFirst().allSatisfy({ $0 != slash && !IgnorePattern.isSpecial($0) })
        {
            (shape, suffix, wildcard) = (.suffix, Array(rest.dropFirst()), Wildcard())
        } else if let parsed = Wildcard(rest, after: literal.last) {
            (shape, suffix, wildcard) = (.wildcard, [], parsed)
        } else {
            (shape, suffix, wildcard) = (.unmatchable, [], Wildcard())
        }
    }

    /// False for a pattern that matches nothing. It is empty, has an open bracket or a trailing backslash, or has a
    /// component that no path has, as in `./name`.
    var canMatch: Bool { shape != .unmatchable }

    /// - Parameters:
    ///   - path: from the root of the tree.
    ///   - base: the offset of the part that is relative to the pattern's directory.
    ///   - name: the offset of the last component.
    func matches(_ path: Span<UInt8>, base: Int, name: Int, isDirectory: Bool) -> Bool {
        if shape == .unmatchable || isDirectoryOnly && !isDirectory { return false }
        let start = isAnchored ? base : name
        let rest = start + prefix.count
        guard rest <= path.count, IgnorePattern.has(prefix.span, path, at: start) else { return false }
        switch shape {
        case .literal:
            return rest == path.count
        case .suffix:
            let end = path.count - suffix.count
            guard end >= rest, IgnorePattern.has(suffix.span, path, at: end) else { return false }
            // A star matches no slash, and the last slash is directly before the name.
            return rest >= name
        case .wildcard:
            return wildcard.matches(path, from: rest)
        case .unmatchable:
            return false
        }
    }

    private static func has(_ part: Span<UInt8>, _ path: Span<UInt8>, at start: Int) -> Bool {
        for index in 0..<part.count where part[index] != path[start + index] { return false }
        return true
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "*"), UInt8(ascii: "?"), UInt8(ascii: "["), UInt8(ascii: "\\"): true
        default: false
        }
    }
}
