/// Integers that are read in the order in which they were added. A small one needs one byte. No chunk is ever moved.
struct PackedNumbers: Sendable {
    /// The header of the array and malloc's own bytes fit in the last page of a chunk.
    private static let capacity = 1 << 17 - 64
    private static let longest = 10

    private var chunks: [[UInt8]] = []

    mutating func append(_ number: Int64) {
        if chunks.last.map({ $0.count > PackedNumbers.capacity - PackedNumbers.longest }) ?? true {
            // A small list must not need a large chunk.
            var chunk: [UInt8] = []
            if !chunks.isEmpty { chunk.reserveCapacity(PackedNumbers.capacity) }
            chunks.append(chunk)
        }
        let last = chunks.count - 1
        // The sign is the lowest bit.
        var rest = UInt64(bitPattern: number << 1 ^ number >> 63)
        while rest >= 0x80 {
            chunks[last].append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        chunks[last].append(UInt8(rest))
    }

    struct Cursor {
        private let chunks: [[UInt8]]
        private var (chunk, offset) = (0, 0)

        init(_ numbers: PackedNumbers) {
            chunks = numbers.chunks
        }

        mutating func next() -> Int64? {
            guard chunk < chunks.count else { return nil }
            var (value, shift): (UInt64, UInt64) = (0, 0)
            var byte: UInt8
            repeat {
                byte = chunks[chunk][offset]
                value |= UInt64(byte & 0x7f) << shift
                (offset, shift) = (offset + 1, shift + 7)
            } while byte >= 0x80
            if offset == chunks[chunk].count { (chunk, offset) = (chunk + 1, 0) }
            return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
        }
    }
}
