import FileSystem

/// The content of one file as it comes: the far end's word about it is checked.
struct ReceivedContent {
    private(set) var attempt = 0
    /// The file's size when it was opened there.
    private var size: Int64 = 0
    /// Where the bytes and blocks so far end.
    private(set) var position: Int64 = 0
    private var hash = ContentHash(.sparse)
    /// The most bytes of holes that are hashed as zeros, and of those that came. nil where no digest is wanted.
    private let mostHoles: Int64?
    private var zeros: Int64 = 0
    /// Blocks whose data has not come as a whole, and where that data goes on.
    private var open: [BlockHashes] = []
    private var openPosition: Int64 = 0
    /// The older content of the file is here.
    let isDelta: Bool
    /// The size of the copy is not the end of its last piece.
    private(set) var endsWithHole = false

    /// Attempts at the far end.
    static let attempts = 3

    /// What was made of older content is not what the digest says: the source changed, or hashes collided.
    struct Mismatch: Error {}

    /// The other end would have more holes hashed than were asked for.
    struct TooManyZeros: Error {}

    init(isDelta: Bool = false, mostHoles: Int64?) {
        (self.isDelta, self.mostHoles) = (isDelta, mostHoles)
    }

    mutating func begin(_ frame: FrameReader) throws(WireError) {
        var reader = frame
        guard attempt < ReceivedContent.attempts else { throw WireError("a file begins too often") }
        attempt += 1
        size = try reader.size()
        let isPlain = try reader.flag()
        try reader.end()
        guard !isPlain || mostHoles != nil else { throw WireError("a digest that was not asked for") }
        (hash, zeros) = (ContentHash(isPlain ? .plain : .sparse), 0)
        (position, open) = (0, [])
    }

    /// - Returns: the next blocks; the answer to them is due.
    mutating func take(blocks frame: FrameReader) throws(WireError) -> BlockHashes {
        guard isDelta, attempt > 0, open.count < BlockHashes.ahead else {
            throw WireError("hashes of blocks that were not asked for")
        }
        var reader = frame
        let blocks = try BlockHashes(&reader, after: position, upTo: size)
        if open.isEmpty { openPosition = position }
        open.append(blocks)
        position = blocks.end
        return blocks
    }

    /// What a piece of data is.
    enum Piece {
        /// To write at this offset.
        case data(Int64, ArraySlice<UInt8>)
        /// These blocks are complete.
        case end(BlockHashes)
    }

    /// - Throws: `WireError`; `TooManyZeros`.
    mutating func take(_ frame: FrameReader, _ isCancelled: () -> Bool) throws -> Piece {
        var reader = frame
        guard attempt > 0 else { throw WireError("data of no file") }
        let offset = try reader.size()
        let data = reader.rest()
        if let blocks = open.first { return try take(data, at: offset, of: blocks) }
        guard !data.isEmpty, offset >= position, offset <= size, Int64(data.count) <= size - offset else {
            throw WireError("data beyond the end of its file, or twice")
        }
        try add(data, at: offset, isCancelled)
        position = offset + Int64(data.count)
        return .data(offset, data)
    }

    private mutating func take(
        _ data: ArraySlice<UInt8>, at offset: Int64, of blocks: BlockHashes
    ) throws(WireError) -> Piece {
        if data.isEmpty, offset == blocks.end {
            open.removeFirst()
            openPosition = offset
            return .end(blocks)
        }
        let isInside = blocks.ranges.contains { block in
            block.contains(offset) && Int64(data.count) <= block.upperBound - offset
        }
        guard !data.isEmpty, offset >= openPosition, isInside else {
            throw WireError("data outside of its blocks, or twice")
        }
        openPosition = offset + Int64(data.count)
        return .data(offset, data)
    }

    /// Takes the content of a complete block.
    mutating func add(
        _ data: ArraySlice<UInt8>, at offset: Int64, _ isCancelled: () -> Bool
    ) throws(TooManyZeros) {
        try admitHole(upTo: offset)
        data.withUnsafeBytes { hash.add($0, at: offset, isCancelled) }
    }

    /// Before the other end's word makes a hole up to an offset.
    private mutating func admitHole(upTo offset: Int64) throws(TooManyZeros) {
        guard hash.form == .plain else { return }
        guard offset - hash.position <= (mostHoles ?? 0) - zeros else { throw TooManyZeros() }
        zeros += offset - hash.position
    }

    /// - Returns: the file as copied.
    mutating func end(
        _ bytes: [UInt8], _ file: File, _ selection: ExtendedAttributes.Selection,
        _ probes: SettlingProbes? = nil,
        _ isCancelled: () -> Bool
    ) throws -> File {
        var reader = FrameReader(bytes)
        switch try reader.byte() {
        case 0: break
        case 1:
            try reader.end()
            throw Unstageable.vanished
        case 2:
            var problem = try reader.problem()
            try reader.end()
            // The path of the other machine becomes that of the file that was asked for.
            problem = Problem(path: file.path, code: problem.code, message: problem.message)
            throw Unstageable.failed(problem)
        default: throw WireError("an unknown result")
        }
        let status = try reader.status()
        let marks = try reader.byte()
        guard marks <= 7 else { throw WireError("a file with unknown marks") }
        let (isGrowing, isSettled) = (marks & 1 != 0, marks & 4 != 0)
        let refusal = try reader.refusal()
        let extended = try reader.extended(selection)
        let digest = try reader.digest()
        try reader.end()
        guard attempt > 0, open.isEmpty, status.type == .file, status.size.rawCount >= position,
            status.size.rawCount <= size
        else {
            throw WireError("a file of another size than came")
        }
        endsWithHole = status.size.rawCount > position
        try admitHole(upTo: status.size.rawCount)
        guard Digest(hash.value(upTo: status.size.rawCount, isCancelled)) == digest else {
            if isDelta { throw Mismatch() }
            throw WireError("the content of \(file.path) is not what its digest says")
        }
        refusal.map { probes?.note($0, file.path) }
        var result = file.with(isGrowing ? status.unexamined : status)
        (result.extended, result.isGrowing) = (extended, isGrowing)
        result.isSettled = isSettled && !isGrowing
        result.digest = hash.form == .plain ? digest : nil
        return marks & 2 != 0 ? result.withoutAttributes() : result
    }
}
