import FileSystem

/// Reads the bytes of the other end, on a thread of its own.
struct LineReader {
    let connection: any Connection
    /// How long the other end may now send only signs of life; nil if nothing is due from it.
    let patience: () -> Duration?
    /// The last activity on the connection, for messages.
    let activity: () -> String
    let isClosed: () -> Bool
    let onGreeting: () -> Void
    /// Called with all frames that came together.
    let take: ([Frame]) throws -> Void

    /// The other end sends nothing, or only signs of life.
    struct Silence: Error {
        let reason: String
    }

    /// Reads until the connection ends.
    ///
    /// - Parameter first: the bytes after the greeting; nil if neither end has greeted.
    /// - Returns: why it ended; nil if this end closed it.
    func read(after first: FrameParser?) throws -> String? {
        var (parser, isGreeted) = (first ?? FrameParser(), first != nil)
        // Before the greeting, the user may be typing a password.
        let mayBeAsked = !isGreeted && HostProcess.hasTerminal
        var (heard, progress) = (ContinuousClock.now, ContinuousClock.now)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 4096)
        defer { buffer.deallocate() }
        while true {
            if !isGreeted {
                switch try Greeting.take(&parser) {
                case .nothing: break
                case .text: return end(parser, isGreeted)
                case .others(let reason): return reason
                case .greeted:
                    (isGreeted, progress) = (true, .now)
                    onGreeting()
                }
            }
            var frames: [Frame] = []
            // Frames before one that is not understood are taken first.
            let rest = Result { while isGreeted, let frame = try parser.next() { frames.append(frame) } }
            try take(frames)
            try rest.get()
            if isClosed() { return nil }
            let limit = isGreeted ? patience() : mayBeAsked ? nil : WireFormat.answerTime
            if limit == nil || frames.contains(where: { $0.type != .ping }) { progress = .now }
            if let limit, ContinuousClock.now - progress > limit {
                throw Silence(reason: "it sent no data for \(limit), only signs of life\(activity())")
            }
            guard try connection.waitForInput(milliseconds: 500) else {
                guard isGreeted || !mayBeAsked, ContinuousClock.now - heard > .seconds(WireFormat.patience)
                else { continue }
                throw Silence(
                    reason: "it sent nothing for \(WireFormat.patience) seconds\(activity())"
                        + (isGreeted ? "" : connection.hint))
            }
            heard = .now
            let count = try connection.read(into: buffer)
            guard count > 0 else { return end(parser, isGreeted) }
            parser.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    private func end(_ parser: FrameParser, _ isGreeted: Bool) -> String {
        connection.reasonOfEnd(unread: parser.pending, isGreeted: isGreeted, activity())
    }
}
