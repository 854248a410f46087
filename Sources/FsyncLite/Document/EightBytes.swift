/// Eight bytes of text as one word, the first of them the lowest.
///
/// What is found in a word are the highest bits of its bytes. See S. E. Anderson, Bit Twiddling Hacks, "Determine if a
/// word has a zero byte": a borrow from a byte that is found can only be wrong about those above it.
extension UInt64 {
    @inline(__always)
    init(eightBytesAt start: UnsafeRawPointer) {
        self = start.loadUnaligned(as: UInt64.self).littleEndian
    }

    /// The byte in all eight places.
    @inline(__always)
    init(eightTimes byte: UInt8) {
        self = 0x0101_0101_0101_0101 &* UInt64(byte)
    }

    /// The highest bits of the bytes.
    static let highs = UInt64(eightTimes: 0x80)

    /// Where a byte is found for the first time; above that nothing is told.
    @inline(__always)
    func finding(_ byte: UInt8) -> UInt64 {
        let zeros = self ^ UInt64(eightTimes: byte)
        return (zeros &- UInt64(eightTimes: 1)) & ~zeros & .highs
    }

    /// How often a byte is there. No sum carries from one byte into the next.
    @inline(__always)
    func count(_ byte: UInt8) -> Int {
        let zeros = self ^ UInt64(eightTimes: byte)
        let others = ((zeros & ~.highs) &+ UInt64(eightTimes: 0x7F)) | zeros
        // One in each byte that is another, summed up in the highest one.
        return 8 - Int(((others & .highs) >> 7 &* UInt64(eightTimes: 1)) >> 56)
    }

    /// Where a byte below another, which is one of ASCII, is found for the first time; above that nothing is told.
    @inline(__always)
    func finding(below limit: UInt8) -> UInt64 {
        (self &- UInt64(eightTimes: limit)) & ~self & .highs
    }
}

/// Where one of two bytes first stands, from an index on; the count where neither does.
func firstByte(_ byte: UInt8, or other: UInt8, in text: UnsafeRawBufferPointer, from start: Int) -> Int {
    guard let base = text.baseAddress else { return text.count }
    var index = start
    while index + 8 <= text.count {
        let word = UInt64(eightBytesAt: base + index)
        let found = word.finding(byte) | word.finding(other)
        index += found.trailingZeroBitCount / 8
        if found != 0 { return index }
    }
    while index < text.count, text[index] != byte, text[index] != other { index += 1 }
    return index
}

/// How often a byte is in a text, from an index on.
func count(_ byte: UInt8, in text: UnsafeRawBufferPointer, from start: Int) -> Int {
    guard let base = text.baseAddress else { return 0 }
    var (index, count) = (start, 0)
    while index + 8 <= text.count {
        count += UInt64(eightBytesAt: base + index).count(byte)
        index += 8
    }
    while index < text.count {
        count += text[index] == byte ? 1 : 0
        index += 1
    }
    return count
}
