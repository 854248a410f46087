/// A client that has connected to this machine, and the first frame after its greeting.
struct Welcome {
    let connection: StandardConnection
    private(set) var parser = FrameParser()
    private(set) var first = Frame(type: .ping, payload: [])
    let timeout: Duration?
    let memory: Int
    private let began = ContinuousClock.now

    /// Waits for the greeting and for the first request. The client may work for a long time before it asks.
    ///
    /// - Parameters:
    ///   - timeout: the longest time with only signs of life when something is due; nil for the usual one.
    ///   - memory: the bytes that this process may use.
    /// - Throws: `ServiceLink.Ended`, `WireError`, `Errno`.
    init(_ connection: StandardConnection, timeout: Duration?, memory: Int) throws {
        (self.connection, self.timeout, self.memory) = (connection, timeout, memory)
        try connection.write(Greeting.frame())
        greeting: while true {
            switch try Greeting.take(&parser) {
            case .nothing: try receive()
            case .text: throw WireError("this is not a greeting of fsync-lite")
            case .others(let reason): throw ServiceLink.Ended(reason: reason)
            case .greeted: break greeting
            }
        }
        first = try next()
    }

    /// The next frame that is not a sign of life. Nothing else may be reading.
    mutating func next() throws -> Frame {
        while true {
            while let frame = try parser.next() { if frame.type != .ping { return frame } }
            try receive()
        }
    }

    private mutating func receive() throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 4096)
        defer { buffer.deallocate() }
        let limit = timeout ?? WireFormat.readingTime
        guard ContinuousClock.now - began <= limit else {
            throw WireError("the client sent no data, only signs of life, for \(limit)")
        }
        let waited = ContinuousClock.now
        while try !connection.waitForInput(milliseconds: Int32(WireFormat.pause * 1000)) {
            guard ContinuousClock.now - waited < .seconds(WireFormat.patience) else {
                throw WireError("the client sent nothing for \(WireFormat.patience) seconds")
            }
            try connection.write(FrameWriter(.ping).frame())
        }
        let count = try connection.read(into: buffer)
        guard count > 0 else { throw ServiceLink.Ended(reason: nil) }
        parser.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
}
