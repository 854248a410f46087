import Glibc

/// The address of the first occurrence of a byte, by `memchr`; nil if there is none.
public func firstByte(
    _ byte: UInt8, _ start: UnsafeRawPointer, _ count: Int
) -> UnsafeRawPointer? {
    memchr(start, Int32(byte), count).map { UnsafeRawPointer($0) }
}

/// Whether two buffers of the same length are equal, by `memcmp`.
public func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard let start = left.baseAddress, let other = right.baseAddress else { return true }
    return memcmp(start, other, left.count) == 0
}

/// The offset of the first difference between two buffers, or `count` if there is none. Neither buffer may be shorter
/// than `count`. Compares eight bytes at a time.
public func firstDifference(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ count: Int
) -> Int {
    var index = 0
    while index + 8 <= count {
        let difference =
            left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            ^ right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        if difference != 0 { return index + difference.littleEndian.trailingZeroBitCount / 8 }
        index += 8
    }
    while index < count, left[index] == right[index] { index += 1 }
    return index
}
