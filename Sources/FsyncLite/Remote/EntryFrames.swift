/// Sends the entries of an answer. No entry is divided between two frames.
struct EntryFrames {
    private let link: ServiceLink
    private let id: UInt32
    private var frame: FrameWriter
    private let start: Int

    init(_ link: ServiceLink, _ id: UInt32) {
        (self.link, self.id, frame) = (link, id, FrameWriter(.entries, for: id))
        start = frame.count
    }

    mutating func add<Value>(_ write: (inout FrameWriter) -> Value) throws -> Value {
        let value = write(&frame)
        if frame.count >= WireFormat.writeSize { try finish() }
        return value
    }

    mutating func finish() throws {
        guard frame.count > start else { return }
        try link.send(frame)
        frame = FrameWriter(.entries, for: id)
    }
}

extension EntryFrames: ByteSink {
    mutating func write(_ bytes: [UInt8]) throws {
        try bytes.forEachPiece { piece, _ in try add { $0.raw(piece) } }
    }
}
