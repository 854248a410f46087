import FsyncLite
import TestSupport

/// Damages a document like somebody who knows its format.
struct Mutation {
    private var bytes: [UInt8]
    /// Words that are valuable in this place, such as the inode of a file that must not change.
    private let words: [String]

    /// A document with one to three mutations.
    ///
    /// - Parameter kind: a sealed one usually gets a new checksum, because the old one would show the damage.
    static func of(
        _ document: [UInt8], _ kind: DocumentKind, words: [String] = [], _ random: inout SplitMix64
    ) -> [UInt8] {
        let isSealed = kind.isSealed && !random.oneIn(12)
        var mutation = Mutation(bytes: isSealed ? opened(document) : document, words: words)
        for _ in 0..<random.pick([1, 1, 1, 2, 3]) { mutation.apply(&random) }
        return isSealed ? sealed(mutation.bytes) : mutation.bytes
    }

    /// The first bytes of a document.
    static func cut(_ document: [UInt8], to length: Int, _ kind: DocumentKind, sealing: Bool) -> [UInt8] {
        guard kind.isSealed, sealing else { return Array(document.prefix(length)) }
        return sealed(Array(opened(document).prefix(length)))
    }

    // MARK: The checksum

    private static let end = "\"xxh64:0123456789abcdef\"}\n".utf8.count

    /// The document without the checksum and the text after it.
    private static func opened(_ document: [UInt8]) -> [UInt8] { Array(document.dropLast(end)) }

    private static func sealed(_ start: [UInt8]) -> [UInt8] { ManifestText.sealed(start) }

    // MARK: One mutation

    private mutating func apply(_ random: inout SplitMix64) {
        guard !bytes.isEmpty else {
            bytes = Array(random.pick(Mutation.hostileValues).utf8)
            return
        }
        switch random.number(0...22) {
        case 0: bytes[index(&random)] ^= 1 << UInt8(random.number(0...7))
        case 1: bytes[index(&random)] = UInt8(truncatingIfNeeded: random.next())
        case 2: bytes.insert(contentsOf: random.pick(Mutation.hostileBytes), at: index(&random))
        case 3: bytes.removeSubrange(range(&random, upTo: random.pick([1, 4, 40, 400])))
        case 4:
            let part = bytes[range(&random, upTo: 60)]
            bytes.insert(contentsOf: part, at: random.oneIn(2) ? part.endIndex : index(&random))
        case 5: bytes.removeSubrange(random.number(0...bytes.count - 1)...)
        case 6, 7: changeLines(&random)
        case 8, 9, 10:
            let numbers = words.filter { !$0.hasPrefix("\"") } + Mutation.hostileNumbers
            replaceToken(\.isNumber, with: numbers, &random)
        case 11, 12, 13:
            let strings = words.filter { $0.hasPrefix("\"") }
            let all = strings.isEmpty || random.oneIn(2) ? Mutation.hostileStrings : strings
            replaceToken(\.isString, with: all, &random)
        case 14: replaceToken(\.isValue, with: Mutation.hostileValues, &random)
        case 15, 16, 17: changeMember(&random)
        case 18: spliceTokens(&random)
        case 19, 20, 21: changeNumbers(&random)
        default:
            if random.oneIn(20) {
                nest(&random)
            } else {
                let extra = random.pick(Mutation.unknownMembers)
                insert(extra, &random)
            }
        }
    }

    private func index(_ random: inout SplitMix64) -> Int { random.number(0...bytes.count - 1) }

    private func range(_ random: inout SplitMix64, upTo length: Int) -> Range<Int> {
        let start = index(&random)
        return start..<min(bytes.count, start + random.number(1...length))
    }

    private mutating func changeLines(_ random: inout SplitMix64) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let (first, second) = (
            random.number(0...lines.count - 1), random.number(0...lines.count - 1)
        )
        switch random.number(0...3) {
        case 0: lines.swapAt(first, second)
        case 1: lines.insert(lines[first], at: second)
        case 2: lines.remove(at: first)
        default: lines.insert(lines[first], at: first)
        }
        bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }

    /// 100,000 levels, of one kind or mixed, closed or not.
    private mutating func nest(_ random: inout SplitMix64) {
        let (opening, closing) = random.pick([("[", "]"), ("{\"path\":", "}"), ("[{\"files\":", "}]")])
        var text = String(repeating: opening, count: 100_000)
        if random.oneIn(2) { text += "0" + String(repeating: closing, count: 100_000) }
        replaceToken(\.isValue, with: [text], &random)
    }

    // MARK: Tokens

    private struct Token {
        var range: Range<Int>
        var first: UInt8

        var isString: Bool { first == UInt8(ascii: "\"") }
        var isNumber: Bool { first == UInt8(ascii: "-") || (0x30...0x39).contains(first) }
        var isValue: Bool { !"{}[],:".utf8.contains(first) }
    }

    private func tokens() -> [Token] {
        var tokens: [Token] = []
        var start = 0
        while start < bytes.count {
            let first = bytes[start]
            var end = start + 1
            if first == UInt8(ascii: "\"") {
                while end < bytes.count, bytes[end] != first {
                    end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
                }
                end = min(end + 1, bytes.count)
            } else if !"{}[],: \n".utf8.contains(first) {
                while end < bytes.count, !"{}[],: \n\"".utf8.contains(bytes[end]) { end += 1 }
            }
            if first != UInt8(ascii: " "), first != UInt8(ascii: "\n") {
                tokens.append(Token(range: start..<end, first: first))
            }
            start = end
        }
        return tokens
    }

    /// Puts numbers and times at the ends of their ranges: one in four of the document, or all.
    private mutating func changeNumbers(_ random: inout SplitMix64) {
        let isEach = random.oneIn(3)
        for field in Extremes.fields(of: bytes).reversed() where isEach || random.oneIn(4) {
            let value = random.pick(field.isTime ? Extremes.times : Extremes.numbers)
            bytes.replaceSubrange(field.range, with: Array(value.utf8))
        }
    }

    private mutating func replaceToken(
        _ isWanted: (Token) -> Bool, with texts: [String], _ random: inout SplitMix64
    ) {
        let wanted = tokens().filter(isWanted)
        guard !wanted.isEmpty else { return }
        let (token, replacement) = (random.pick(wanted), random.pick(texts))
        // In one of three cases, the new text is inserted into the old string.
        if token.isString, token.range.count > 1, replacement.hasPrefix("\""), replacement.utf8.count > 2,
            random.oneIn(3)
        {
            let inner = replacement.utf8.dropFirst().dropLast()
            bytes.insert(
                contentsOf: inner, at: random.number(token.range.lowerBound + 1...token.range.upperBound - 1))
        } else {
            bytes.replaceSubrange(token.range, with: Mutation.encoded(replacement))
        }
    }

    /// A key with its value is repeated, left out, moved, renamed, or gets another value.
    private mutating func changeMember(_ random: inout SplitMix64) {
        let tokens = tokens()
        let keys = tokens.indices.filter {
            tokens[$0].isString && $0 + 2 < tokens.count && tokens[$0 + 1].first == UInt8(ascii: ":")
        }
        guard !keys.isEmpty else { return }
        func member(_ key: Int) -> Range<Int> {
            var depth = 0
            var end = key + 2
            while end < tokens.count {
                switch tokens[end].first {
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
                default: break
                }
                end += 1
                guard depth > 0 else { break }
            }
            return tokens[key].range.lowerBound..<tokens[min(end, tokens.count) - 1].range.upperBound
        }
        let (first, second) = (random.pick(keys), random.pick(keys))
        let (range, other) = (member(first), member(second))
        let text = Array(bytes[range])
        let comma = [UInt8(ascii: ",")]
        switch random.number(0...5) {
        case 0: bytes.insert(contentsOf: comma + text, at: range.upperBound)
        case 1:
            // With its comma, so that the rest is complete.
            let hasComma = range.upperBound < bytes.count && bytes[range.upperBound] == comma[0]
            bytes.removeSubrange(range.lowerBound..<range.upperBound + (hasComma ? 1 : 0))
        case 2: bytes.insert(contentsOf: text + comma, at: other.lowerBound)
        case 3: bytes.replaceSubrange(tokens[first].range, with: bytes[tokens[second].range])
        case 4:
            let value = bytes[tokens[second + 2].range.lowerBound..<other.upperBound]
            bytes.replaceSubrange(tokens[first + 2].range.lowerBound..<range.upperBound, with: value)
        default:
            guard
                let version = keys.first(where: { bytes[tokens[$0].range].elementsEqual("\"version\"".utf8) })
            else { return }
            bytes.replaceSubrange(
                tokens[version + 2].range,
                with: Array(random.pick(["2", "0", "3", "1.0", "\"1\"", "99999999999999999999"]).utf8))
        }
    }

    private mutating func spliceTokens(_ random: inout SplitMix64) {
        let tokens = tokens()
        guard tokens.count > 1 else { return }
        let start = random.number(0...tokens.count - 1)
        let end = min(tokens.count - 1, start + random.number(0...12))
        let part = Array(bytes[tokens[start].range.lowerBound..<tokens[end].range.upperBound])
        bytes.insert(contentsOf: part, at: random.pick(tokens).range.lowerBound)
    }

    private mutating func insert(_ member: String, _ random: inout SplitMix64) {
        let openings = tokens().filter { $0.first == UInt8(ascii: "{") }
        guard !openings.isEmpty else { return }
        bytes.insert(contentsOf: Mutation.encoded(member + ","), at: random.pick(openings).range.upperBound)
    }

    // MARK: Words

    /// `‹FF›` represents the byte.
    private static func encoded(_ text: String) -> [UInt8] {
        guard text.contains("‹") else { return Array(text.utf8) }
        return Array(text.replacing("‹FF›", with: "\0").utf8).map { $0 == 0 ? 0xFF : $0 }
    }

    private static let hostileBytes: [[UInt8]] = [
        [0], [0xEF, 0xBB, 0xBF], [0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0x0A], [0x0D, 0x0A], [0x20],
        [0x09],
        [0x22], [0x5C], [0x2C], [0x3A], [0x7B], [0x7D], [0x5B], [0x5D], [0x2E, 0x2E], [0x2F], [0x1B, 0x5B],
        Array("\\u0000".utf8), Array("\\ud800".utf8), Array("/*".utf8), Array(repeating: 0x20, count: 3000),
    ]

    private static let hostileNumbers =
        Extremes.numbers + [
            "1E2", "-0", "2", "3", "4", "5", "6", "7", "00", "01", "+1", "1.5", "1.0", ".5", "5.", "-",
            "65536", "NaN", "Infinity", "-Infinity", "0x10", "1e-400", "1_000", "true",
            String(repeating: "9", count: 400), "0." + String(repeating: "0", count: 400) + "1",
        ]

    private static let hostileStrings = [
        "..", ".", "", "/", "/etc/passwd", "../x", "a/..", "a/../../b", "a//b", "a/", "./a", ".fsync-lite",
        ".fsync-lite/journal", ".fsync-lite/manifest.json", "a\\u0000b", "\\u0000", "\\u002e\\u002e",
        "\\u002e\\u002e/x",
        "\\ud800", "\\udc00", "\\ud800\\ud800", "\\ud83d\\ude00", "\\ud83d\\u0041", "\\u12", "\\U0041",
        "\\x41", "\\", "\\/",
        "\\u001b[2J", "\\u009b2J", "\\u202e", "\\n", "‹FF›", "é", "e\u{301}", "\u{FEFF}", "/w==", "Li4=",
        "Lg==", "Lw==", "AA==",
        "YS8uLi9i", "////", "+999999999999-12-31T23:59:59.999999999Z", "-999999999999-01-01T00:00:00Z",
        "+292277026596-12-04T15:30:07Z", "+292277026596-12-04T15:30:08Z", "-292277022657-01-27T08:29:52Z",
        "-292277022657-01-27T08:29:51Z", "0000-01-01T00:00:00Z", "0000-00-00T00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-11-20T10:00:00.000000000Z", "9999", "7777", "0000", "-001", "1:2", "4294967296:0", "directory",
        "symlink", "file",
        "socket", "block_device", "stage", "history", "manifest.json", "0", "xxh64:0000000000000000",
        "format", "version",
        "Li4= MC8x 1 1.1 1.1 1.1 1 1", "YQ== Li4vYg== 1 - 1.1 1.1 1 1", "YQ== MC8x 1 - 1.-5 1.1 1 1",
        "YQ== MC8x 1 - 1.1 1.1 -1 1", "YQ==", "       ", "Lw== Lw== 1 1.1 1.1 1.1 1 1",
        "99999999999999999999999999999999999999999", String(repeating: "long/", count: 2000),
        String(repeating: "d/", count: 3000) + "..",
    ].map { "\"\($0)\"" }

    private static let hostileValues =
        hostileNumbers + hostileStrings + [
            "null", "true", "false", "{}", "[]", "[[]]", "{\"a\":1}", "[1]", "nul", "\"", "'a'", "undefined",
        ]

    private static let unknownMembers = [
        "\"unknown\":1", "\"\":0", "\"path\":\"a\"", "\"Path\":\"a\"", "\"__proto__\":{}", "\"keepLast\":1",
        "\"keep_last\":1",
        "\"version\":2", "\"links\":0", "\"links\":5", "\"old_parent\":0", "\"old_name\":\"..\"",
        "\"inode\":1", "\"created\":null",
        "\"target_inode\":0", "\"path_base64\":\"Li4=\"", "\"destination\":\"a\\u0000b\"",
    ]
}
