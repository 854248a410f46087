/// Eight bytes of text, expected to be decimal digits, parsed together.
///
/// See D. Lemire, "Quickly parsing eight digits" (2018).
struct DecimalWord {
    /// The values of the digits. For a separator in its expected position, the value is zero.
    private let digits: UInt64
    /// The highest bit of each unexpected byte. Bits above the first such byte are undefined.
    private let others: UInt64

    /// Eight digits, or fewer followed by other bytes.
    @inline(__always)
    init(_ start: UnsafePointer<UInt8>) {
        self.init(start, between: "00000000")
    }

    /// Expects a digit at each zero of the pattern, and the pattern's own byte everywhere else.
    @inline(__always)
    init(_ start: UnsafePointer<UInt8>, between pattern: StaticString) {
        let expected = UInt64(eightBytesAt: pattern.utf8Start)
        let isSeparator =
            ((expected ^ UInt64(eightTimes: UInt8(ascii: "0"))) &+ UInt64(eightTimes: 0x7F)) & .highs
        // The bias sets the highest bit of a byte if the digit is ten or more, or if the separator differs.
        let bias = UInt64(eightTimes: 0x76) &+ (isSeparator >> 7) &* 9
        digits = UInt64(eightBytesAt: start) ^ expected
        others = ((digits &+ bias) | digits) & .highs
    }

    var isDecimal: Bool { others == 0 }

    /// The number of digits before any other byte.
    var leadingDigits: Int { others.trailingZeroBitCount / 8 }

    @inline(__always)
    var leadingNumber: Int64 { DecimalWord.number(digits << (64 - 8 * leadingDigits)) }

    /// The number formed by all eight digits.
    var number: Int64 { DecimalWord.number(digits) }

    /// The number formed by the digit at an index and the next one.
    @inline(__always)
    func pair(at index: Int) -> Int64 {
        Int64(truncatingIfNeeded: DecimalWord.pairs(digits) >> (8 &* UInt64(index)) & 0xFF)
    }

    /// Each byte is the number formed by its own digit and the next one.
    @inline(__always)
    private static func pairs(_ digits: UInt64) -> UInt64 { digits &* 10 &+ digits >> 8 }

    @inline(__always)
    private static func number(_ digits: UInt64) -> Int64 {
        let (pairs, every) = (pairs(digits), 0xFF_0000_00FF as UInt64)
        let first = (pairs & every) &* (100 &+ 1_000_000 << 32)
        let second = (pairs >> 16 & every) &* (1 &+ 10_000 << 32)
        return Int64(truncatingIfNeeded: (first &+ second) >> 32)
    }
}
