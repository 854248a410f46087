/// Eight bytes of text that should be decimal digits, looked at all at once.
///
/// See D. Lemire, "Quickly parsing eight digits" (2018).
struct DecimalWord {
    /// What the digits stand for; zero in the place of a byte that stands between digits as it should.
    private let digits: UInt64
    /// The highest bit of each byte that is not as it should be. Above the first of them it tells nothing.
    private let others: UInt64

    /// Eight digits, or fewer with something else after them.
    @inline(__always)
    init(_ start: UnsafePointer<UInt8>) {
        self.init(start, between: "00000000")
    }

    /// Digits where the pattern has a zero; elsewhere it is what has to be there.
    @inline(__always)
    init(_ start: UnsafePointer<UInt8>, between pattern: StaticString) {
        let expected = UInt64(eightBytesAt: pattern.utf8Start)
        let isSeparator =
            ((expected ^ UInt64(eightTimes: UInt8(ascii: "0"))) &+ UInt64(eightTimes: 0x7F)) & .highs
        // What is added to a byte sets its highest bit from ten on, in the place of a separator from one on.
        let bias = UInt64(eightTimes: 0x76) &+ (isSeparator >> 7) &* 9
        digits = UInt64(eightBytesAt: start) ^ expected
        others = ((digits &+ bias) | digits) & .highs
    }

    var isDecimal: Bool { others == 0 }

    /// How many digits there are before anything else.
    var leadingDigits: Int { others.trailingZeroBitCount / 8 }

    /// The number that they make.
    @inline(__always)
    var leadingNumber: Int64 { DecimalWord.number(digits << (64 - 8 * leadingDigits)) }

    /// The number that all eight make.
    var number: Int64 { DecimalWord.number(digits) }

    /// The number that the digit at a place and the one after it make.
    @inline(__always)
    func match(at index: Int) -> Int64 {
        Int64(truncatingIfNeeded: DecimalWord.matches(digits) >> (8 &* UInt64(index)) & 0xFF)
    }

    /// In each byte the number of its own digit and that of the next.
    @inline(__always)
    private static func matches(_ digits: UInt64) -> UInt64 { digits &* 10 &+ digits >> 8 }

    @inline(__always)
    private static func number(_ digits: UInt64) -> Int64 {
        let (matches, every) = (matches(digits), 0xFF_0000_00FF as UInt64)
        let first = (matches & every) &* (100 &+ 1_000_000 << 32)
        let second = (matches >> 16 & every) &* (1 &+ 10_000 << 32)
        return Int64(truncatingIfNeeded: (first &+ second) >> 32)
    }
}
