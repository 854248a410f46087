import Glibc

/// Where a byte stands first, as `memchr` finds it.
package func firstByte(
    _ byte: UInt8, _ start: UnsafeRawPointer, _ count: Int
) -> UnsafeRawPointer? {
    memchr(start, Int32(byte), count).map { UnsafeRawPointer($0) }
}
