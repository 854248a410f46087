import Glibc

/// Tells whether two open files hold the same bytes.
package enum FileComparison {
    package static func haveSameContent(
        _ first: borrowing FileDescriptor, _ second: borrowing FileDescriptor
    ) throws(Errno) -> Bool {
        let half = 256 * 1024
        var failure: Errno?
        var same = false
        withUnsafeTemporaryAllocation(byteCount: 2 * half, alignment: 4096) { buffer in
            let (left, right) = (
                UnsafeMutableRawBufferPointer(rebasing: buffer[..<half]),
                UnsafeMutableRawBufferPointer(rebasing: buffer[half...])
            )
            do throws(Errno) {
                var offset: Int64 = 0
                while true {
                    let count = try fill(left, first, offset)
                    guard try fill(right, second, offset) == count else { return }
                    if count == 0 {
                        same = true
                        return
                    }
                    guard
                        memcmp(left.baseAddress.unsafelyUnwrapped, right.baseAddress.unsafelyUnwrapped, count)
                            == 0
                    else { return }
                    offset += Int64(count)
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return same
    }

    /// Fills the buffer from an offset as far as the file goes: a short read in the middle is no difference.
    private static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, _ file: borrowing FileDescriptor, _ offset: Int64
    ) throws(Errno) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = try file.read(into: rest, at: offset + Int64(filled))
            if count == 0 { break }
            filled += count
        }
        return filled
    }
}
