import Glibc

/// Where a byte stands first, as `memchr` finds it.
package func firstByte(
    _ byte: UInt8, _ start: UnsafeRawPointer, _ count: Int
) -> UnsafeRawPointer? {
    memchr(start, Int32(byte), count).map { UnsafeRawPointer($0) }
}

/// Whether two stretches of one length hold the same, as `memcmp` finds it.
package func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard let start = left.baseAddress, let other = right.baseAddress else { return true }
    return memcmp(start, other, left.count) == 0
}
