import FileSystem

/// The content of one file while it is received. Everything that the other end says about it is checked.
struct ReceivedContent {
    private(set) var attempt = 0
    /// The file's size when the other end opened it.
    private var size: Int64 = 0
    /// The end of the bytes and blocks so far.
    private(set) var position: Int64 = 0
    private var hash = ContentHash(.sparse)
    /// How many bytes of holes may be hashed as zeros, and how many were. nil if no digest is wanted.
    private let mostHoles: Int64?
    private var zeros: Int64 = 0
    /// Blocks whose data has not come completely, and the position of their next data.
    private var open: [BlockHashes] = []
    private var openPosition: Int64 = 0
    /// This end has older content of the file.
    let isDelta: Bool
    /// The copy ends with a hole, after its last piece.
    private(set) var endsWithHole = false

    /// How often the other end may try.
    static let attempts = 3

    /// The content made from older content has another digest: the source changed, or hashes collided.
    struct Mismatch: Error {}

    /// The file has more bytes of holes than may be hashed as zeros.
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

    /// - Returns: the next blocks. They must be answered.
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

    enum Piece {
        /// Bytes to write at this offset.
        case data(Int64, ArraySlice<UInt8>)
        /// All data of these blocks has come.
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

    /// Adds content to the digest, in order of offsets.
    mutating func add(
        _ data: ArraySlice<UInt8>, at offset: Int64, _ isCancelled: () -> Bool
    ) throws(TooManyZeros) {
        try admitHole(upTo: offset)
        data.withUnsafeBytes { hash.add($0, at: offset, isCancelled) }
    }

    /// Checks a hole up to an offset before it is hashed as zeros.
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
            // The problem is reported for the path that was asked for.
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
