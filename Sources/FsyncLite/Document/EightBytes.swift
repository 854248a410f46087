/// Eight bytes of text as one word, with the first byte lowest.
///
/// The highest bits of bytes mark matches. See S. E. Anderson, Bit Twiddling Hacks, "Determine if a word has a zero
/// byte". A borrow out of a matching byte can falsify only the bytes above it.
extension UInt64 {
    @inline(__always)
    init(eightBytesAt start: UnsafeRawPointer) {
        self = start.loadUnaligned(as: UInt64.self).littleEndian
    }

    /// The byte repeated eight times.
    @inline(__always)
    init(eightTimes byte: UInt8) {
        self = 0x0101_0101_0101_0101 &* UInt64(byte)
    }

    /// The highest bits of the bytes.
    static let highs = UInt64(eightTimes: 0x80)

    /// Marks the first occurrence of a byte. The bits above it are undefined.
    @inline(__always)
    func finding(_ byte: UInt8) -> UInt64 {
        let zeros = self ^ UInt64(eightTimes: byte)
        return (zeros &- UInt64(eightTimes: 1)) & ~zeros & .highs
    }

    /// The number of occurrences of a byte. No sum carries into the next byte.
    @inline(__always)
    func count(_ byte: UInt8) -> Int {
        let zeros = self ^ UInt64(eightTimes: byte)
        let others = ((zeros & ~.highs) &+ UInt64(eightTimes: 0x7F)) | zeros
        // Adds one for each different byte. The sum is in the highest byte.
        return 8 - Int(((others & .highs) >> 7 &* UInt64(eightTimes: 1)) >> 56)
    }

    /// Marks the first byte that is less than `limit`, which is ASCII. The bits above it are undefined.
    @inline(__always)
    func finding(below limit: UInt8) -> UInt64 {
        (self &- UInt64(eightTimes: limit)) & ~self & .highs
    }
}

/// The index of the first of two bytes from an index on, or the count if neither occurs.
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

/// The number of occurrences of a byte, from an index on.
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
