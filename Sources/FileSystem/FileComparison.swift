import Glibc

/// Compares the bytes of two open files.
public enum FileComparison {
    /// A file that could not be read.
    public struct Failure: Error, Sendable {
        public enum Side: Sendable { case first, second }

        public let side: Side
        public let errno: Errno

        public init(side: Side, errno: Errno) {
            (self.side, self.errno) = (side, errno)
        }
    }

    private static let half = 256 * 1024

    /// Compares two files. Holes are not read, and are treated as zeros.
    ///
    /// - Parameters:
    ///   - limit: the number of bytes to compare from the start.
    ///   - isCancelled: asked between reads; true ends the comparison with `cancelled`.
    public static func haveSameContent(
        _ first: borrowing FileDescriptor, _ second: borrowing FileDescriptor,
        upTo limit: Int64 = .max, isCancelled: () -> Bool = { false }
    ) throws(Failure) -> Bool {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * half, alignment: 4096)
        defer { buffer.deallocate() }
        let ours = try on(.first) { () throws(Errno) in try first.status() }
        let other = try on(.second) { () throws(Errno) in try second.status() }
        let (size, otherSize) = (ours.size.rawCount, other.size.rawCount)
        guard min(size, limit) == min(otherSize, limit) else { return false }
        let (isSparse, otherIsSparse) = (ours.allocated < ours.size, other.allocated < other.size)
        let end = isSparse || otherIsSparse ? min(size, limit) : limit
        /// The next stretch of data of each file.
        var (data, otherData) = (0..<(isSparse ? 0 : end), 0..<(otherIsSparse ? 0 : end))
        var offset: Int64 = 0
        while true {
            if isCancelled() { throw Failure(side: .first, errno: .cancelled) }
            if data.upperBound <= offset {
                data =
                    try on(.first) { () throws(Errno) in try first.data(after: offset, upTo: end) }
                    ?? end..<end
            }
            if otherData.upperBound <= offset {
                otherData =
                    try on(.second) { () throws(Errno) in try second.data(after: offset, upTo: end) }
                    ?? end..<end
            }
            offset = max(offset, min(data.lowerBound, otherData.lowerBound))
            if offset >= end { return true }
            // Reads up to the offset at which one of the files begins or ends a hole.
            let stop =
                [data, otherData].map { $0.lowerBound > offset ? $0.lowerBound : $0.upperBound }.min() ?? end
            let space = Int(min(Int64(half), stop - offset))
            let left = UnsafeMutableRawBufferPointer(rebasing: buffer[..<space])
            let right = UnsafeMutableRawBufferPointer(rebasing: buffer[half..<half + space])
            let count = try on(.first) { () throws(Errno) in
                try data.contains(offset) ? fill(left, first, offset) : zero(left)
            }
            let otherCount = try on(.second) { () throws(Errno) in
                try otherData.contains(offset) ? fill(right, second, offset) : zero(right)
            }
            guard count == otherCount,
                memcmp(left.baseAddress.unsafelyUnwrapped, right.baseAddress.unsafelyUnwrapped, count) == 0
            else {
                return false
            }
            if count == 0 { return true }
            offset += Int64(count)
        }
    }

    private static func zero(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        memset(buffer.baseAddress.unsafelyUnwrapped, 0, buffer.count)
        return buffer.count
    }

    /// Runs `body`, and adds the side to its error.
    public static func on<Value: ~Copyable>(
        _ side: Failure.Side, _ body: () throws(Errno) -> Value
    ) throws(Failure) -> Value {
        do {
            return try body()
        } catch {
            throw Failure(side: side, errno: error)
        }
    }

    /// Fills the buffer from an offset up to the end of the file, even if single reads return less.
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
