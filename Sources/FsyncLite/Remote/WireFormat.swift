import FileSystem

/// The bytes between two machines.
///
///     stream   = frame*
///     frame    = length type payload        length: 4 bytes, least significant first, of the payload, at most 1 MiB
///     number   = 7 bits a byte, the lowest first; the highest bit says that more follow
///     bytes    = number of bytes, bytes
///     time     = number of seconds with its sign as the lowest bit, number of nanoseconds
///
/// Both ends begin with `hello`, without waiting for the other. Then the client sends `request`s, with ids
/// that count from 1. They are answered one after the other, in this order. An answer is any number of
/// `entries`, `file`, `blocks` and `data` frames, as the kind of request allows. Then an `answer` follows, in
/// pieces. The client answers each `blocks` frame with one of its own, or says that it no longer wants that
/// content. The server sends only the bytes that the client has granted with `credit`: 4 MiB at first, and at
/// most 64 MiB at a time. Anything else ends the connection.
///
/// If the server has the target, the client sends `run` with a command instead, in pieces. From then on the
/// server asks and the client answers. The server may send `output` at any time. Before a commit it sends
/// `ready` and waits for the client's `go`. Last it sends an `outcome`. The client may `cancel`.
enum WireFormat {
    /// The versions of the protocol that this program speaks.
    static let versions: ClosedRange<UInt64> = 5...5
    static let magic = Array("fsync-lite\n".utf8)
    static let longestFrame = 1 << 20
    static let headSize = 5
    /// Bytes that may be sent and not yet taken: at first, and at most. ssh itself grants 2 MiB.
    static let window = 4 << 20
    static let widestWindow = 64 << 20
    /// Requests that may be unanswered: enough for 60,000 small files a second and a round trip of 100 ms.
    static let openRequests = 8192
    /// Bytes of requests that may be unanswered: as many files with long names, and a batch of each thread.
    static let openRequestBytes = 16 << 20
    /// Small frames of answers are collected up to this size before they are written.
    static let writeSize = 32 * 1024
    /// The longest answer, over all its pieces.
    static let longestAnswer = 64 << 20
    static let longestText = 4096
    static let longestPath = 1 << 20
    /// The most entries in a request.
    static let batch = 256
    static let saltSize = 16
    /// The most directories of a source.
    static let sources = 4096
    /// Seconds between two signs of life, and the silence after which the other end is treated as gone.
    static let pause = 15
    static let patience = 60
    /// The most answer frames that no thread has taken: several times those of all open requests.
    static let waitingFrames = 1 << 17

    enum FrameType: UInt8 {
        case hello = 1
        case request, answer, entries, file, data, credit, ping, failure
        /// A command, and what the server sends while it runs it.
        case run, output, ready, outcome
        /// From the client, while the command runs.
        case cancel, go
        /// Hashes of a file's blocks, or the client's answer to them.
        case blocks
    }

    enum RequestKind: UInt8, CaseIterable {
        /// Opens a tree. Earlier entries become invalid.
        case open = 1
        case rules, scan, attributes, digest, obstacles, content
        /// The digest of the root, computed from those of all directories. Earlier entries become invalid.
        case digests
        /// The entries of directories, and the digests of their subdirectories.
        case list
        /// Opens an earlier tree, and sends its list. Earlier entries become invalid.
        case snapshot

        /// How long the answer may have no progress.
        func patience(_ timeout: LineTimeout) -> Duration {
            switch self {
            case .open, .attributes, .obstacles, .list: timeout.answer
            case .rules, .scan, .digests, .digest, .content, .snapshot: timeout.reading
            }
        }

        /// The purpose of the answer, for messages.
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

/// The other end sent something that the protocol does not allow.
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

struct FrameWriter {
    private(set) var bytes: [UInt8]

    init(_ type: WireFormat.FrameType) {
        bytes = [0, 0, 0, 0, type.rawValue]
    }

    /// - Parameter id: that of the request, which begins the payload.
    init(_ type: WireFormat.FrameType, for id: UInt32) {
        self.init(type)
        number(id)
    }

    /// Bytes of payload so far.
    var count: Int { bytes.count - WireFormat.headSize }

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

    /// Adds the number of some values, and each of them.
    mutating func array<Values: Collection>(
        _ values: Values, _ write: (inout FrameWriter, Values.Element) -> Void
    ) {
        number(UInt(values.count))
        for value in values { write(&self, value) }
    }

    mutating func raw(_ value: some Collection<UInt8>) { bytes.append(contentsOf: value) }

    /// Adds eight bytes, most significant first.
    mutating func word(_ word: UInt64) { withUnsafeBytes(of: word.bigEndian) { raw($0) } }

    mutating func time(_ time: FileTime) {
        number(UInt64(bitPattern: (time.rawSeconds << 1) ^ (time.rawSeconds >> 63)))
        number(UInt32(time.nanoseconds))
    }
}

extension Collection<UInt8> {
    /// Calls `body` with pieces that fit into a frame, at least once.
    func forEachPiece(_ body: (_ piece: SubSequence, _ isLast: Bool) throws -> Void) rethrows {
        var rest = self[...]
        repeat {
            let piece = rest.prefix(WireFormat.longestFrame / 4)
            rest = rest.dropFirst(piece.count)
            try body(piece, rest.isEmpty)
        } while !rest.isEmpty
    }
}

/// Reads the payload of a frame, and refuses everything that is not exact.
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

    /// Reads a size in bytes, or another number that is not negative.
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

    /// Reads text for people. Control characters are escaped when it is shown.
    mutating func text() throws(WireError) -> String {
        String(decoding: try bytes(upTo: WireFormat.longestText), as: UTF8.self)
    }

    /// Reads the number of some values, and each of them.
    mutating func array<Value>(
        upTo limit: UInt32 = .max, _ read: (inout FrameReader) throws(WireError) -> Value
    ) throws(WireError) -> [Value] {
        var values: [Value] = []
        for _ in 0..<(try number(UInt32.self, upTo: limit)) { values.append(try read(&self)) }
        return values
    }

    /// Reads the remaining bytes.
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

    /// Bytes that have come and are not yet a frame.
    var pending: ArraySlice<UInt8> { bytes[start...] }

    /// The next frame; nil if it has not come completely.
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
