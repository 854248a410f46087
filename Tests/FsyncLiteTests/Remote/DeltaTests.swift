import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

/// Hashes of blocks, and their answers, between two machines.
struct DeltaTests {
    /// Stretches of data with holes between them, divided as the sender does.
    private func blocks(after position: Int64, _ random: inout SplitMix64) -> BlockHashes {
        var (blocks, position) = (BlockHashes(), position)
        while !blocks.isFull {
            position += random.oneIn(3) ? 0 : Int64.random(in: 1..<200_000, using: &random)
            var rest = position..<position + Int64.random(in: 1..<300_000, using: &random)
            position = rest.upperBound
            while !rest.isEmpty, !blocks.isFull {
                let block = BlockHashes.first(of: rest, upTo: BlockHashes.blockSize)
                blocks.append(block, random.next())
                rest = block.upperBound..<rest.upperBound
            }
            if random.oneIn(9) { break }
        }
        return blocks
    }

    @Test(arguments: 1...40) func blocksComeBack(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let position = Int64.random(in: 0..<1_000_000, using: &random)
        let blocks = blocks(after: position, &random)
        func read(upTo size: Int64) throws -> BlockHashes {
            var reader = Payload.reader(.blocks) { blocks.write(to: &$0, after: position) }
            return try BlockHashes(&reader, after: position, upTo: size)
        }
        let found = try read(upTo: blocks.end)
        #expect(found.ranges == blocks.ranges && found.hashes == blocks.hashes)
        #expect(throws: WireError.self) { _ = try read(upTo: blocks.end - 1) }
        // An answer says for each block whether it differs.
        let differing = blocks.ranges.map { block in
            random.oneIn(2) ? nil : BlockHashes.pieces(of: block).map { _ in random.next() }
        }
        let answer = Payload.of(.blocks) { frame in
            var writer = DifferingBlocks()
            for hashes in differing { writer.add(hashes, to: &frame) }
        }
        #expect(try DifferingBlocks.read(FrameReader(answer), of: blocks) == differing)
    }

    @Test func piecesCoverABlock() {
        for block: Range<Int64> in [0..<1, 0..<4096, 4095..<4097, 100..<65_536, 65_536..<131_072, 5..<70_000]
        {
            let pieces = BlockHashes.pieces(of: block)
            #expect(
                pieces.first?.lowerBound == block.lowerBound && pieces.last?.upperBound == block.upperBound)
            for (piece, next) in zip(pieces, pieces.dropFirst()) {
                #expect(piece.upperBound == next.lowerBound && next.lowerBound % 4096 == 0)
            }
        }
    }

    @Test(
        arguments: [
            [],  // nothing
            [0], [65, 0, 1], [1, 0, 0], [1, 5, 1, 1, 2, 3, 4, 5, 6, 7, 8], [1, 0, 5],
            [1, 0, 4, 1, 2, 3, 4, 5, 6, 7], [1, 0, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9],
            [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 1, 1, 2, 3, 4, 5, 6, 7, 8],
        ] as [[UInt8]])
    func blocksOutOfBoundsAreRefused(bytes: [UInt8]) {
        #expect(throws: WireError.self) {
            var reader = FrameReader(bytes)
            _ = try BlockHashes(&reader, after: 0, upTo: 4)
        }
    }

    @Test func moreBlocksThanAMessageHoldsAreRefused() {
        var blocks = BlockHashes()
        for index in 0...Int64(BlockHashes.limit) { blocks.append(index * 65_536..<(index + 1) * 65_536, 1) }
        #expect(throws: WireError.self) {
            var reader = Payload.reader(.blocks) { blocks.write(to: &$0, after: 0) }
            _ = try BlockHashes(&reader, after: 0, upTo: .max)
        }
    }

    @Test func hostileAnswersAreRefused() throws {
        var blocks = BlockHashes()
        for index in 0..<2 as Range<Int64> { blocks.append(index * 65_536..<(index + 1) * 65_536, 1) }
        let hashes = [UInt8](repeating: 7, count: 16 * 8)
        let sound = try DifferingBlocks.read(FrameReader([1] + hashes), of: blocks)
        #expect(sound.map { $0?.count ?? 0 } == [0, 16])
        func of(_ block: UInt8) -> [UInt8] { [block] + hashes }
        let wrong: [[UInt8]] = [
            [0], [2], of(2), of(0) + of(1), of(0) + of(0) + [0], [0xFF, 0x7F], of(0).dropLast(), of(1) + [9],
        ]
        for answer in wrong {
            #expect(throws: WireError.self, "\(answer)") {
                _ = try DifferingBlocks.read(FrameReader(answer), of: blocks)
            }
        }
    }

    // MARK: What is made of it

    private let size = 200_000
    private func content(isDelta: Bool = true) throws -> ReceivedContent {
        var content = ReceivedContent(isDelta: isDelta, mostHoles: 1 << 30)
        try content.begin(Payload.file(Int64(size)))
        return content
    }

    private func hashes(_ ranges: [Range<Int64>], after position: Int64) -> FrameReader {
        var blocks = BlockHashes()
        for range in ranges { blocks.append(range, 1) }
        return Payload.reader(.blocks) { blocks.write(to: &$0, after: position) }
    }

    private func data(_ range: Range<Int64>) -> FrameReader {
        Payload.data([UInt8](repeating: 1, count: range.count), at: range.lowerBound)
    }

    @Test func dataGoesIntoItsBlocksInOrder() throws {
        let first: [Range<Int64>] = [0..<65_536, 65_536..<70_000, 80_000..<131_072]
        let second: [Range<Int64>] = [131_072..<196_608]
        func receive(_ pieces: [Range<Int64>]) throws -> Int64 {
            var content = try content()
            _ = try content.take(blocks: hashes(first, after: 0))
            _ = try content.take(blocks: hashes(second, after: 131_072))
            for piece in pieces { _ = try content.take(data(piece)) { false } }
            return content.position
        }
        let (end, last): (Range<Int64>, Range<Int64>) = (131_072..<131_072, 196_608..<196_608)
        #expect(try receive([4096..<8192, 69_000..<70_000, end, 131_072..<131_073, last]) == 196_608)
        #expect(try receive([end, last, 196_608..<200_000]) == 200_000)
        for pieces in [
            [0..<0], [last], [70_000..<70_001], [65_535..<65_537], [79_999..<80_001],
            [8192..<8193, 4096..<4097],
            [0..<100, 99..<101], [131_072..<131_073], [end, 0..<1], [end, end], [end, 196_000..<196_609],
            [end, last, last], [end, last, 0..<1], [end, last, 196_608..<200_001],
        ] as [[Range<Int64>]] {
            #expect(throws: WireError.self, "\(pieces)") { _ = try receive(pieces) }
        }
    }

    @Test func hashesThatWereNotAskedForAreRefused() throws {
        var whole = try content(isDelta: false)
        #expect(throws: WireError.self) { _ = try whole.take(blocks: hashes([0..<1], after: 0)) }
        var unbegun = ReceivedContent(isDelta: true, mostHoles: 1 << 30)
        #expect(throws: WireError.self) { _ = try unbegun.take(blocks: hashes([0..<1], after: 0)) }
        var flooded = try content()
        for index in 0..<Int64(BlockHashes.ahead) {
            _ = try flooded.take(blocks: hashes([index..<index + 1], after: index))
        }
        let position = flooded.position
        #expect(throws: WireError.self) {
            _ = try flooded.take(blocks: hashes([position..<position + 1], after: position))
        }
    }

    @Test func aFileThatEndsBeforeItsBlocksIsRefused() throws {
        func end(_ content: inout ReceivedContent) throws {
            _ = try content.end(Payload.end(1), HostileStream.file("a"), HostileStream.selection) { false }
        }
        var open = try content()
        _ = try open.take(blocks: hashes([0..<1], after: 0))
        #expect(throws: WireError.self) { try end(&open) }
        // If the content does not have the digest, it is asked for once more, whole.
        _ = try open.take(data(1..<1)) { false }
        try open.add([7], at: 0) { false }
        #expect(throws: ReceivedContent.Mismatch.self) { try end(&open) }
    }
}
