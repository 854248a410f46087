/// A compiled wildcard pattern, matched against the bytes of paths with git's semantics:
///
///     ?       one byte but `/`            *       any bytes but `/`
///     [...]   one of a set, never `/`     \x      the byte x itself
///     **/     at the start or after `/`: any number of directories, none included
///     **      after `/` or alone, at the end: everything
///     **      anywhere else: `*`
///
/// Matching takes at most pattern × text × directories steps. Only the last star within a directory's name and the last
/// `**/` are ever tried again. That is enough, because the first match of a part leaves the most text to later parts.
struct Wildcard: Hashable, Sendable {
    private enum Token: Hashable, Sendable {
        case byte(UInt8)
        case anyByte
        /// An index into `sets`.
        case set(Int)
        case star
        case directories
        case everything
    }

    private var tokens: [Token] = []
    private var sets: [ByteSet] = []

    /// Matches only the empty text.
    init() {}

    /// nil if it cannot match, because of an open bracket, an unknown class or a trailing backslash.
    ///
    /// - Parameter previous: the byte before the pattern, if this is the rest of a longer one.
    init?(_ pattern: ArraySlice<UInt8>, after previous: UInt8? = nil) {
        var index = pattern.startIndex
        func byte(_ index: Int) -> UInt8? { index < pattern.endIndex ? pattern[index] : nil }
        while let next = byte(index) {
            index += 1
            switch next {
            case UInt8(ascii: "?"):
                tokens.append(.anyByte)
            case UInt8(ascii: "["):
                guard let set = ByteSet(pattern, at: &index) else { return nil }
                tokens.append(.set(sets.count))
                sets.append(set)
            case UInt8(ascii: "\\"):
                guard let escaped = byte(index) else { return nil }
                tokens.append(.byte(escaped))
                index += 1
            case UInt8(ascii: "*"):
                let start = index - 1
                while byte(index) == UInt8(ascii: "*") { index += 1 }
                let before = start == pattern.startIndex ? previous : pattern[start - 1]
                let isDouble = index - start > 1 && (before == nil || before == UInt8(ascii: "/"))
                switch (isDouble, byte(index)) {
                case (true, nil):
                    tokens.append(.everything)
                case (true, UInt8(ascii: "/")):
                    tokens.append(.directories)
                    index += 1
                case (true, UInt8(ascii: "\\")) where byte(index + 1) == UInt8(ascii: "/"):
                    // Git requires this slash, so there is at least one directory.
                    tokens += [.star, .byte(UInt8(ascii: "/")), .directories]
                    index += 2
                default:
                    tokens.append(.star)
                }
            default:
                tokens.append(.byte(next))
            }
        }
    }

    /// Whether the pattern matches all of the text from an offset on.
    func matches(_ text: Span<UInt8>, from start: Int) -> Bool {
        var steps = 0
        return matches(text, from: start, steps: &steps)
    }

    /// The same, and counts the steps.
    func matches(_ text: Span<UInt8>, from start: Int, steps: inout Int) -> Bool {
        let slash = UInt8(ascii: "/")
        let tokens = tokens.span
        // Fast path: most texts end in another byte than the pattern.
        if tokens.count > 0, case .byte(let last) = tokens[tokens.count - 1],
            start == text.count || text[text.count - 1] != last
        {
            return false
        }
        var token = 0
        var position = start
        // The places to retry the last star and the last `**/`: the token after it, and the end of its match.
        var star = (token: -1, end: 0)
        var directories = (token: -1, end: 0)
        while true {
            steps += 1
            let byte = position < text.count ? text[position] : nil
            let fits: Bool
            if token == tokens.count {
                if byte == nil { return true }
                fits = false
            } else {
                switch tokens[token] {
                case .everything:
                    return true
                case .directories:
                    token += 1
                    directories = (token, position)
                    star.token = -1
                    continue
                case .star:
                    token += 1
                    star = (token, position)
                    continue
                case .byte(slash):
                    fits = byte == slash
                    // After a slash, no other end of the star before it could help.
                    if fits { star.token = -1 }
                case .byte(let wanted):
                    fits = byte == wanted
                case .anyByte:
                    fits = byte != nil && byte != slash
                case .set(let index):
                    fits = if let byte { sets.span[index].contains(byte) } else { false }
                }
            }
            if fits {
                token += 1
                position += 1
            } else if star.token >= 0, star.end < text.count, text[star.end] != slash {
                star.end += 1
                if star.token < tokens.count, case .byte(let wanted) = tokens[star.token] {
                    while star.end < text.count, text[star.end] != wanted, text[star.end] != slash {
                        star.end += 1
                        steps += 1
                    }
                }
                (token, position) = star
            } else {
                guard directories.token >= 0 else { return false }
                while directories.end < text.count, text[directories.end] != slash {
                    directories.end += 1
                    steps += 1
                }
                guard directories.end < text.count else { return false }
                directories.end += 1
                star.token = -1
                (token, position) = directories
            }
        }
    }
}
