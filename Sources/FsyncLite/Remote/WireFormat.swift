import FileSystem

/// The bytes between two machines.
///
///     stream   = frame*
///     frame    = length type payload        length: 4 bytes, least significant first, of the payload, at most 1 MiB
///     number   = 7 bits a byte, the lowest first; the highest bit says that more follow
///     bytes    = number of bytes, bytes
///     time     = number of seconds with its sign as the lowest bit, number of nanoseconds
///
/// Both ends begin with `hello`, at once. Then the client sends `request`s, each with an id that counts from 1. They are
/// answered in this order, one after the other; each answer is any number of `entries`, `file`, `blocks` and `data` frames,
/// as the kind of request allows, then an `answer` in parts. The client answers each `blocks` frame with one; or says that
/// it wants no more of that content. The far end sends no more than the client has granted with
/// `credit`: 4 MiB to begin with, and at most 64 MiB at a time. Anything else ends the connection.
///
/// Where the target is at the far end, the client sends `run` with a command instead, in parts. From then on the far end
/// asks, and the client answers. The far end sends `output` at any time; `ready` before a commit, which waits for the
/// client's `go`; last an `outcome`. The client may `cancel`.
enum WireFormat {
    /// The versions of the protocol that are spoken.
    static let versions: ClosedRange<UInt64> = 4...4
    static let magic = Array("fsync-lite\n".utf8)
    static let longestFrame = 1 << 20
    static let headSize = 5
    /// Bytes that may be under way without being taken, to begin with, and at most. ssh itself grants 2 MiB.
    static let window = 4 << 20
    static let widestWindow = 64 << 20
    /// Requests that may be unanswered: 60,000 small files a second at 100 ms a turn, with some to spare.
    static let openRequests = 8192
    /// Bytes of requests that may be unanswered: those of as many files with long names, and batches of each thread.
    static let openRequestBytes = 16 << 20
    /// Answers are written in pieces of this size while there are more.
    static let writeSize = 32 * 1024
    /// An answer in parts.
    static let longestAnswer = 64 << 20
    static let longestText = 4096
    static let longestPath = 1 << 20
    /// Entries in a request.
    static let batch = 256
    static let saltSize = 16
    /// Directories that a source consists of.
    static let sources = 4096
    /// Seconds: how often an end says that it is there, and after how long without a sign it is taken for gone.
    static let pause = 15
    static let patience = 60
    /// Frames of answers that may wait to be taken: several times those of all open requests.
    static let waitingFrames = 1 << 17

    enum FrameType: UInt8 {
        case hello = 1
        case request, answer, entries, file, data, credit, ping, failure
        /// A command for the far end, and what comes of it.
        case run, output, ready, outcome
        /// What its client says meanwhile.
        case cancel, go
        /// Hashes of a file's blocks; what the end that asks answers to them.
        case blocks
    }

    /// What a client asks for.
    enum RequestKind: UInt8, CaseIterable {
        /// A tree; what was issued before is void.
        case open = 1
        case rules, scan, attributes, digest, obstacles, content
        /// The digests of a tree's directories: that of the root is told. What was issued before is void.
        case digests
        /// The entries of directories, and the digests of those in them.
        case list
        /// An earlier tree, with its list; what was issued before is void.
        case snapshot

        /// How long nothing may come of it.
        func patience(_ timeout: LineTimeout) -> Duration {
            switch self {
            case .open, .attributes, .obstacles, .list: timeout.answer
            case .rules, .scan, .digests, .digest, .content, .snapshot: timeout.reading
            }
        }

        /// What the end that asks does meanwhile.
        var activity: String {
            switch self {
            case .open, .snapshot: ", while it was opened"
            case .rules, .scan, .digests, .list: ", while it was scanned"
            case .attributes, .digest, .obstacles: ", while it was compared"
            case .content: ", while files were copied"
            }
        }
    }
}

/// What the other end sent is not what the protocol allows.
struct WireError: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

struct Frame {
    var type: WireFormat.FrameType
    var payload: [UInt8]
}

/// Builds frames.
struct FrameWriter {
    private(set) var bytes: [UInt8]

    init(_ type: WireFormat.FrameType) {
        bytes = [0, 0, 0, 0, type.rawValue]
    }

    /// Bytes of payload so far.
    var count: Int { bytes.count - WireFormat.headSize }

    /// The whole frame.
    consuming func frame() -> [UInt8] {
        let length = UInt32(count)
        for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index))) }
        return bytes
    }

    mutating func byte(_ byte: UInt8) { bytes.append(byte) }
    mutating func flag(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func number(_ number: some FixedWidthInteger & UnsignedInteger) {
        var rest = UInt64(number)
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func size(_ size: Int64) { number(UInt64(max(size, 0))) }

    mutating func bytes(_ value: some Collection<UInt8>) {
        number(UInt(value.count))
        bytes.append(contentsOf: value)
    }

    mutating func text(_ text: String) { bytes(text.utf8) }
    mutating func raw(_ value: some Collection<UInt8>) { bytes.append(contentsOf: value) }

    /// Eight bytes, most significant first.
    mutating func word(_ word: UInt64) { withUnsafeBytes(of: word.bigEndian) { raw($0) } }

    mutating func time(_ time: FileTime) {
        number(UInt64(bitPattern: (time.rawSeconds << 1) ^ (time.rawSeconds >> 63)))
        number(UInt32(time.nanoseconds))
    }
}

extension Collection<UInt8> {
    /// Gives pieces that fit into a frame, one at least.
    func forEachPiece(_ body: (_ piece: SubSequence, _ isLast: Bool) throws -> Void) rethrows {
        var rest = self[...]
        repeat {
            let piece = rest.prefix(WireFormat.longestFrame / 4)
            rest = rest.dropFirst(piece.count)
            try body(piece, rest.isEmpty)
        } while !rest.isEmpty
    }
}

/// Reads the payload of a frame, strictly.
struct FrameReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Bytes of the whole payload.
    var count: Int { bytes.count }
    var isAtEnd: Bool { index == bytes.count }

    func end() throws(WireError) {
        guard isAtEnd else { throw WireError("a frame is too long") }
    }

    mutating func byte() throws(WireError) -> UInt8 {
        guard index < bytes.count else { throw WireError("a frame is too short") }
        defer { index += 1 }
        return bytes[index]
    }

    mutating func flag() throws(WireError) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw WireError("neither yes nor no")
        }
    }

    mutating func number() throws(WireError) -> UInt64 {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while true {
            let next = try byte()
            guard shift < 63 || next <= 1 else { throw WireError("a number is too large") }
            value |= UInt64(next & 0x7F) << shift
            guard next & 0x80 != 0 else {
                guard next > 0 || shift == 0 else {
                    throw WireError("a number has more digits than it needs")
                }
                return value
            }
            shift += 7
        }
    }

    mutating func number<Value: FixedWidthInteger & UnsignedInteger>(
        _ type: Value.Type, upTo limit: Value = .max
    ) throws(WireError) -> Value {
        guard let value = Value(exactly: try number()), value <= limit else {
            throw WireError("a number is too large")
        }
        return value
    }

    /// A size in bytes, or another number that is not negative.
    mutating func size() throws(WireError) -> Int64 {
        guard let value = Int64(exactly: try number()) else { throw WireError("a size is too large") }
        return value
    }

    mutating func bytes(upTo limit: Int) throws(WireError) -> [UInt8] {
        let count = try number()
        guard count <= UInt64(limit), count <= UInt64(bytes.count - index) else {
            throw WireError("bytes are longer than their frame or than they may be")
        }
        defer { index += Int(count) }
        return Array(bytes[index..<index + Int(count)])
    }

    /// Text for people: control characters are escaped where it is shown.
    mutating func text() throws(WireError) -> String {
        String(decoding: try bytes(upTo: WireFormat.longestText), as: UTF8.self)
    }

    /// All that is left.
    mutating func rest() -> ArraySlice<UInt8> {
        defer { index = bytes.count }
        return bytes[index...]
    }

    mutating func word() throws(WireError) -> UInt64 {
        var word: UInt64 = 0
        for _ in 0..<8 { word = word << 8 | UInt64(try byte()) }
        return word
    }

    mutating func time() throws(WireError) -> FileTime {
        let raw = try number()
        let seconds = Int64(bitPattern: (raw >> 1) ^ (0 &- (raw & 1)))
        let nanoseconds = try number(UInt32.self, upTo: 999_999_999)
        return FileTime(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }

    mutating func name() throws(WireError) -> FileName {
        let bytes = try bytes(upTo: 255)
        guard let name = FileName(bytes) else { throw WireError("a name is invalid") }
        return name
    }

    mutating func path() throws(WireError) -> RelativePath {
        guard let path = RelativePath(try bytes(upTo: WireFormat.longestPath)) else {
            throw WireError("a path is invalid")
        }
        return path
    }
}

/// Cuts a stream into frames.
struct FrameParser {
    private var bytes: [UInt8] = []
    private var start = 0

    mutating func append(_ more: UnsafeRawBufferPointer) {
        if start > 0 {
            bytes.removeSubrange(..<start)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    /// What has come and is no frame yet.
    var pending: ArraySlice<UInt8> { bytes[start...] }

    /// The next frame; nil until it is there as a whole.
    mutating func next() throws(WireError) -> Frame? {
        guard bytes.count - start >= WireFormat.headSize else { return nil }
        var length = 0
        for index in (0..<4).reversed() { length = length << 8 | Int(bytes[start + index]) }
        guard length <= WireFormat.longestFrame else { throw WireError("a frame of \(length) bytes") }
        guard let type = WireFormat.FrameType(rawValue: bytes[start + 4]) else {
            throw WireError("a frame of an unknown type")
        }
        let end = start + WireFormat.headSize + length
        guard bytes.count >= end else { return nil }
        defer { start = end }
        return Frame(type: type, payload: Array(bytes[start + WireFormat.headSize..<end]))
    }
}
