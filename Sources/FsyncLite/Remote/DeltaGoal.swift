import FileSystem

/// Sends only the changed parts of a file to a machine that has older content of it.
///
/// Hashes of blocks are sent ahead, and are answered in order. After an answer, the pieces that differ are
/// sent as data. An empty piece of data ends the blocks of that answer.
///
/// RACE: a block that differs is read again. Another program may change it meanwhile without moving a time.
/// Then the other end finds another digest, and asks for the whole file.
final class DeltaGoal: WireGoal {
    private let seed: UInt64
    /// The blocks that are sent next, and those that were sent and are not answered.
    private var blocks = BlockHashes()
    private var sent: [BlockHashes] = []
    private var position: Int64 = 0
    /// Answers that will still come to an earlier attempt.
    private var surplus = 0
    /// Bytes since the last match.
    private var unmatched: Int64 = 0
    /// The rest is sent as data, without hashes.
    private var isWhole = false
    private var isStopped = false

    /// After so many bytes without a match, the rest is sent as data: it is new, or an insertion moved it.
    private static let patience: Int64 = 16 << 20

    init(_ link: ServiceLink, _ id: UInt32, _ options: CopyOptions, seed: UInt64) {
        self.seed = seed
        super.init(link, id, options)
        isStopped = !link.beginDelta(id)
    }

    override func begin(_ status: FileStatus, attempt: Int) throws(Errno) {
        surplus += sent.count
        (blocks, sent, position, unmatched, isWhole) = (BlockHashes(), [], 0, 0, false)
        try super.begin(status, attempt: attempt)
    }

    override func take(
        _ source: borrowing FileDescriptor, _ status: FileStatus, keepsHoles: Bool,
        _ copier: inout FileCopier, isCancelled: () -> Bool
    ) throws(Errno) -> Int64 {
        let end = try super.take(
            source, status, keepsHoles: keepsHoles, &copier, isCancelled: isCancelled)
        try sendBlocks()
        while !sent.isEmpty { try sendAnswered(source, isCancelled) }
        return end
    }

    override func sendData(
        _ source: borrowing FileDescriptor, from start: Int64, to end: Int64, _ isCancelled: () -> Bool
    ) throws(Errno) -> Int64 {
        var offset = start
        while offset < end, !isStopped {
            if !isWhole, unmatched >= DeltaGoal.patience {
                // Data comes in order, so first wait for the blocks that were sent. They may still match.
                try sendBlocks()
                while !sent.isEmpty { try sendAnswered(source, isCancelled) }
                isWhole = unmatched >= DeltaGoal.patience
            }
            if isWhole { return try super.sendData(source, from: offset, to: end, isCancelled) }
            let range = BlockHashes.first(of: offset..<end, upTo: BlockHashes.blockSize)
            let data = try read(source, range, isCancelled)
            guard !data.isEmpty else { break }
            offset += Int64(data.count)
            blocks.append(range.lowerBound..<offset, BlockHashes.hash(data[...], seed))
            if blocks.isFull { try sendBlocks() }
            while sent.count >= BlockHashes.ahead { try sendAnswered(source, isCancelled) }
            if data.count < range.count { break }
        }
        return offset
    }

    private func sendBlocks() throws(Errno) {
        guard !blocks.isEmpty, !isStopped else { return }
        var frame = FrameWriter(.blocks, for: id)
        blocks.write(to: &frame, after: position)
        try send(frame)
        position = blocks.end
        sent.append(blocks)
        blocks = BlockHashes()
    }

    /// Waits for the next answer, and sends the pieces that differ.
    private func sendAnswered(
        _ source: borrowing FileDescriptor, _ isCancelled: () -> Bool
    ) throws(Errno) {
        let (link, id) = (link, id)
        var answer = try sending { try link.nextAnswer(to: id) }
        while answer != nil, surplus > 0 {
            surplus -= 1
            answer = try sending { try link.nextAnswer(to: id) }
        }
        guard let answer else {
            (isStopped, sent) = (true, [])
            return
        }
        let blocks = sent.removeFirst()
        let differing = try sending { try DifferingBlocks.read(answer, of: blocks) }
        for (block, hashes) in zip(blocks.ranges, differing) {
            guard let hashes else {
                unmatched = 0
                continue
            }
            try sendPieces(of: block, that: hashes, source, isCancelled)
        }
        try send([], at: blocks.end)
    }

    private func sendPieces(
        of block: Range<Int64>, that hashes: [UInt64], _ source: borrowing FileDescriptor,
        _ isCancelled: () -> Bool
    ) throws(Errno) {
        if isCancelled() { throw .cancelled }
        let data = try source.bytes(in: block)
        unmatched += Int64(block.count)
        /// A range of the data that differs and is not sent yet.
        var run = 0..<0
        for (piece, hash) in zip(BlockHashes.pieces(of: block), hashes) {
            let range = Int(piece.lowerBound - block.lowerBound)..<Int(piece.upperBound - block.lowerBound)
            let own = data[range.clamped(to: data.indices)]
            guard BlockHashes.hash(own, seed) != hash else {
                unmatched = 0
                continue
            }
            if run.upperBound < range.lowerBound {
                try send(run, of: data, in: block)
                run = range
            } else {
                run = run.lowerBound..<range.upperBound
            }
        }
        try send(run, of: data, in: block)
    }

    private func send(_ run: Range<Int>, of data: [UInt8], in block: Range<Int64>) throws(Errno) {
        let piece = data[run.clamped(to: data.indices)]
        guard !piece.isEmpty else { return }
        try send(piece, at: block.lowerBound + Int64(run.lowerBound))
    }
}
