/// Blocks of a file in order, each with the hash of the source's content: one message of a delta.
///
///     blocks   = number of stretches, stretch*
///     stretch  = gap, length, hash*        gap: the hole before it; a hash for each block that it is cut into
///     answer   = differing*
///     differing = blocks skipped, hash*    a hash for each piece of the target's content of the block
///
/// Stretches are cut into blocks at multiples of 64 KiB, and blocks into pieces of 4 KiB. A hash is XXH64
/// with a secret seed. After a collision, the SHA-256 of the whole differs, and the file is sent whole.
struct BlockHashes {
    private(set) var ranges: [Range<Int64>] = []
    private(set) var hashes: [UInt64] = []

    static let blockSize: Int64 = 64 * 1024
    static let pieceSize: Int64 = 4 * 1024
    /// The most blocks in a message, and messages without an answer. With larger messages it would take
    /// longer to find that nothing matches.
    static let limit = 64
    static let ahead = 16

    init() {}

    var isEmpty: Bool { ranges.isEmpty }
    var isFull: Bool { ranges.count >= BlockHashes.limit }
    /// The end of the last block.
    var end: Int64 { ranges.last?.upperBound ?? 0 }
    var length: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

    /// The first part of a stretch of data, up to the next multiple of a size.
    static func first(of stretch: Range<Int64>, upTo size: Int64) -> Range<Int64> {
        let start = stretch.lowerBound
        return start..<start + min(size - start % size, stretch.upperBound - start)
    }

    static func pieces(of block: Range<Int64>) -> [Range<Int64>] {
        var (pieces, rest) = ([Range<Int64>](), block)
        while !rest.isEmpty {
            pieces.append(first(of: rest, upTo: pieceSize))
            rest = pieces[pieces.count - 1].upperBound..<block.upperBound
        }
        return pieces
    }

    static func hash(_ data: ArraySlice<UInt8>, _ seed: UInt64) -> UInt64 {
        var hash = Checksum(seed: seed)
        hash.update(data)
        return hash.value
    }

    mutating func append(_ range: Range<Int64>, _ hash: UInt64) {
        ranges.append(range)
        hashes.append(hash)
    }

    /// - Parameter position: the end of the blocks before these.
    func write(to frame: inout FrameWriter, after position: Int64) {
        var starts = ranges.indices.filter { index in
            let start = ranges[index].lowerBound
            return index == 0 || ranges[index - 1].upperBound < start || start % BlockHashes.blockSize > 0
        }
        frame.number(UInt(starts.count))
        starts.append(ranges.count)
        var position = position
        for (first, next) in zip(starts, starts.dropFirst()) {
            frame.size(ranges[first].lowerBound - position)
            position = ranges[next - 1].upperBound
            frame.size(position - ranges[first].lowerBound)
            for hash in hashes[first..<next] { frame.word(hash) }
        }
    }

    /// - Parameter size: the end of the file.
    init(_ reader: inout FrameReader, after position: Int64, upTo size: Int64) throws(WireError) {
        var position = position
        for _ in 0..<(try reader.number(UInt32.self, upTo: UInt32(BlockHashes.limit))) {
            let (gap, length) = (try reader.size(), try reader.size())
            guard gap <= size - position, length > 0, length <= size - position - gap else {
                throw WireError("blocks beyond the end of their file")
            }
            var rest = position + gap..<position + gap + length
            position = rest.upperBound
            while !rest.isEmpty {
                guard !isFull else { throw WireError("too many blocks at a time") }
                append(BlockHashes.first(of: rest, upTo: BlockHashes.blockSize), try reader.word())
                rest = end..<position
            }
        }
        try reader.end()
        guard !isEmpty else { throw WireError("no blocks") }
    }
}

/// Which of some blocks differ, in order.
struct DifferingBlocks {
    private var skipped: UInt32 = 0

    /// Adds an answer for the next block.
    ///
    /// - Parameter hashes: those of its pieces if the block differs; nil if it is equal.
    mutating func add(_ hashes: [UInt64]?, to frame: inout FrameWriter) {
        guard let hashes else {
            skipped += 1
            return
        }
        frame.number(skipped)
        for hash in hashes { frame.word(hash) }
        skipped = 0
    }

    /// Reads an answer.
    ///
    /// - Returns: for each block, the hashes of its pieces; nil if it is equal.
    static func read(_ answer: FrameReader, of blocks: BlockHashes) throws(WireError) -> [[UInt64]?] {
        var reader = answer
        var found: [[UInt64]?] = []
        while !reader.isAtEnd {
            let skipped = try reader.number(UInt32.self, upTo: UInt32(BlockHashes.limit))
            found += repeatElement(nil, count: Int(skipped))
            guard found.count < blocks.ranges.count else {
                throw WireError("hashes of blocks that were not sent")
            }
            var hashes: [UInt64] = []
            for _ in BlockHashes.pieces(of: blocks.ranges[found.count]) { hashes.append(try reader.word()) }
            found.append(hashes)
        }
        return found + repeatElement(nil, count: blocks.ranges.count - found.count)
    }
}
