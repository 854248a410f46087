/// The first frame that each end sends.
enum Greeting {
    static func frame() -> [UInt8] {
        var hello = FrameWriter(.hello)
        hello.raw(WireFormat.magic)
        hello.number(WireFormat.versions.lowerBound)
        hello.number(WireFormat.versions.upperBound)
        return hello.frame()
    }

    enum Found {
        /// It has not come completely.
        case nothing
        /// The bytes are text.
        case text
        /// The other end speaks other versions.
        case others(String)
        case greeted
    }

    /// Looks for the greeting at the beginning of a stream.
    static func take(_ parser: inout FrameParser) throws(WireError) -> Found {
        let pending = parser.pending
        // Text must not be read as the length of a frame.
        let type = pending.dropFirst(4).first
        guard type == nil || type == WireFormat.FrameType.hello.rawValue,
            pending.count < 4 || pending[pending.startIndex + 2] == 0
        else { return .text }
        guard let frame = try parser.next() else { return .nothing }
        var reader = FrameReader(frame.payload)
        guard frame.type == .hello, frame.payload.starts(with: WireFormat.magic) else {
            throw WireError("this is not a greeting of fsync-lite")
        }
        for _ in WireFormat.magic { _ = try reader.byte() }
        let (lowest, highest) = (try reader.number(), try reader.number())
        // Later versions may add more to the frame.
        let own = WireFormat.versions
        guard lowest <= own.upperBound, highest >= own.lowerBound else {
            return .others(
                "its fsync-lite speaks versions \(lowest) to \(highest) of the protocol, and this one "
                    + "\(own.lowerBound) to \(own.upperBound): install the same version on both machines")
        }
        return .greeted
    }
}
