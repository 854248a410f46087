import FileSystem

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
