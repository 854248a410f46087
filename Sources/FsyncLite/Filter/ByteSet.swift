/// A set of bytes: a bracket expression of a pattern.
struct ByteSet: Hashable, Sendable {
    private var words = SIMD4<UInt64>(repeating: 0)

    func contains(_ byte: UInt8) -> Bool {
        words[Int(byte >> 6)] >> UInt64(byte & 63) & 1 != 0
    }

    mutating func insert(_ byte: UInt8) {
        words[Int(byte >> 6)] |= 1 << UInt64(byte & 63)
    }

    mutating func insert(_ range: ClosedRange<UInt8>) {
        for byte in range { insert(byte) }
    }

    private mutating func remove(_ byte: UInt8) {
        words[Int(byte >> 6)] &= ~(1 << UInt64(byte & 63))
    }

    /// Parses a bracket expression, which never matches `/`.
    ///
    ///     "[" ["!" | "^"] item+ "]"      item: byte | "\" byte | byte "-" byte | "[:" class ":]"
    ///
    /// A `]` in first position is literal. So is a `-` at either end, and after a range or class.
    ///
    /// - Parameter index: first after the opening bracket, and on return after the closing one.
    /// - Returns: nil if the bracket is not closed or names an unknown class. Such a pattern matches nothing.
    init?(_ pattern: ArraySlice<UInt8>, at index: inout Int) {
        func byte(_ index: Int) -> UInt8? { index < pattern.endIndex ? pattern[index] : nil }
        let isNegated = byte(index) == UInt8(ascii: "!") || byte(index) == UInt8(ascii: "^")
        if isNegated { index += 1 }
        let first = index
        // The start of the range, if a `-` follows.
        var low: UInt8?
        while byte(index) != UInt8(ascii: "]") || index == first {
            guard let next = byte(index) else { return nil }
            switch (next, byte(index + 1)) {
            case (UInt8(ascii: "\\"), let escaped):
                guard let escaped else { return nil }
                insert(escaped)
                low = escaped
                index += 1
            case (UInt8(ascii: "-"), var high?) where low != nil && high != UInt8(ascii: "]"):
                index += 1
                if high == UInt8(ascii: "\\") {
                    index += 1
                    guard let escaped = byte(index) else { return nil }
                    high = escaped
                }
                if let low, low <= high { insert(low...high) }
                low = nil
            case (UInt8(ascii: "["), UInt8(ascii: ":")):
                let start = index + 2
                guard let close = pattern[start...].firstIndex(of: UInt8(ascii: "]")) else { return nil }
                if close > start, pattern[close - 1] == UInt8(ascii: ":") {
                    guard let ranges = ByteSet.ranges(ofClass: pattern[start..<(close - 1)]) else {
                        return nil
                    }
                    for range in ranges { insert(range) }
                    low = nil
                    index = close
                } else {
                    insert(next)
                    low = next
                }
            default:
                insert(next)
                low = next
            }
            index += 1
        }
        index += 1
        if isNegated { words = ~words }
        remove(UInt8(ascii: "/"))
    }

    /// The ASCII characters of a POSIX class, as in git: vertical tab and form feed are not space.
    private static func ranges(ofClass name: ArraySlice<UInt8>) -> [ClosedRange<UInt8>]? {
        switch String(decoding: name, as: UTF8.self) {
        case "alnum": [0x30...0x39, 0x41...0x5A, 0x61...0x7A]
        case "alpha": [0x41...0x5A, 0x61...0x7A]
        case "blank": [0x09...0x09, 0x20...0x20]
        case "cntrl": [0x00...0x1F, 0x7F...0x7F]
        case "digit": [0x30...0x39]
        case "graph": [0x21...0x7E]
        case "lower": [0x61...0x7A]
        case "print": [0x20...0x7E]
        case "punct": [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E]
        case "space": [0x09...0x0A, 0x0D...0x0D, 0x20...0x20]
        case "upper": [0x41...0x5A]
        case "xdigit": [0x30...0x39, 0x41...0x46, 0x61...0x66]
        default: nil
        }
    }
}
