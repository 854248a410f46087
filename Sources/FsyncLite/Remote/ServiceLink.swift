import FileSystem
import Synchronization

/// The end of a connection that answers: a thread that reads requests, and one that says that this end is there.
final class ServiceLink: Sendable {
    struct Request: Sendable {
        let id: UInt32
        let kind: WireFormat.RequestKind
        let payload: FrameReader
    }

    /// The other end is gone, or sent what is not understood.
    struct Ended: Error {
        let reason: String?
    }

    private struct State {
        var requests = Queue<Request>()
        /// Of these.
        var requestBytes = 0
        /// This end waits for the other one.
        var isIdle = false
        /// The last request that was answered with a delta, and the answers to its hashes.
        var delta: UInt32 = 0
        var answers = Queue<FrameReader>()
        /// Requests from that one on whose content is not wanted any more.
        var dropped: Set<UInt32> = []
        var credit = WireFormat.window
        var end: Ended?
        /// The other end carries out a command, and is about to commit.
        var isReady = false
        /// What it was doing last.
        var activity = ""
        var outcome: UInt8?
    }

    private struct Outgoing {
        /// Frames that are not written yet.
        var frames: [UInt8] = []
        /// Anything was written since the last look.
        var hasWritten = false

        mutating func write(_ bytes: [UInt8], to connection: any Connection) throws(Errno) {
            hasWritten = true
            try connection.write(bytes)
        }

        mutating func flush(to connection: any Connection) throws(Errno) {
            guard !frames.isEmpty else { return }
            defer { frames.removeAll(keepingCapacity: true) }
            try write(frames, to: connection)
        }
    }

    private let connection: any Connection
    private let state = Mutex(State())
    private let filled = Semaphore()
    private let granted = Semaphore()
    private let greeted = Semaphore()
    /// Frames are written whole, one thread at a time.
    private let outgoing = Mutex(Outgoing())
    /// Called where the other end has said nothing for too long, so that a write may wait for it forever.
    private let onSilence: @Sendable () -> Void
    /// Takes what a command at the other end says; nil where that is the client.
    private let output: (any RemoteRun.Terminal)?
    private let timeout: Duration

    /// Answers a client that has greeted and been greeted.
    convenience init(_ welcome: Welcome, onSilence: @escaping @Sendable () -> Void) throws {
        try self.init(welcome.connection, onSilence, output: nil, welcome)
    }

    /// Greets the far end, which is to carry out a command.
    convenience init(_ connection: FarProcess, _ output: any RemoteRun.Terminal) throws {
        try self.init(connection, { connection.close() }, output: output, nil)
        try write(Greeting.frame())
        try flush()
    }

    private init(
        _ connection: any Connection, _ onSilence: @escaping @Sendable () -> Void,
        output: (any RemoteRun.Terminal)?, _ welcome: Welcome?
    ) throws {
        (self.connection, self.onSilence, self.output) = (connection, onSilence, output)
        // Between requests the client may have to read all of the target, and a command may take its time.
        timeout = (welcome?.timeout ?? .usual).reading
        try WorkerThread().start { [self] in read(after: welcome) }
        try WorkerThread().start { [weak self] in
            let pause = Semaphore()
            while true {
                _ = pause.wait(atMost: .seconds(WireFormat.pause))
                guard let link = self, link.sign() else { return }
            }
        }
    }

    /// Waits until the far end has said who it is.
    func greet(_ onPause: () throws -> Void) throws {
        while !greeted.wait(atMost: .milliseconds(100)) { try onPause() }
        if let end = state.withLock(\.end) { throw end }
    }

    /// Sends a frame that needs no grant.
    func tell(_ frame: consuming FrameWriter) throws {
        try write(frame.frame())
        try flush()
    }

    /// The other end waits for the word to begin its commit. Tells once.
    func takeReady() -> Bool {
        state.withLock { state in
            defer { state.isReady = false }
            return state.isReady
        }
    }

    /// The exit code of the command at the other end, once it has ended.
    var outcome: UInt8? { state.withLock(\.outcome) }

    /// Waits for a request, and takes all that are there, at most as many as are opened ahead.
    ///
    /// - Parameter onPause: called now and then.
    func requests(_ onPause: () throws -> Void) throws -> [Request] {
        while true {
            let found = state.withLock { state -> Result<[Request], Ended> in
                var first: [Request] = []
                while first.count < 32, let request = state.requests.take() { first.append(request) }
                state.requestBytes -= first.reduce(0) { $0 + $1.payload.count }
                state.isIdle = first.isEmpty
                return first.isEmpty ? state.end.map { .failure($0) } ?? .success([]) : .success(first)
            }
            let requests = try found.get()
            if !requests.isEmpty { return requests }
            try flush()
            _ = filled.wait(atMost: .milliseconds(100))
            try onPause()
        }
    }

    /// Takes answers to the hashes of a delta from now on.
    ///
    /// - Returns: false if it is not wanted any more.
    func beginDelta(_ id: UInt32) -> Bool {
        state.withLock { state in
            state.dropped.remove(state.delta)
            (state.delta, state.answers) = (id, Queue())
            return !state.dropped.contains(id)
        }
    }

    /// Waits for an answer to hashes.
    ///
    /// - Returns: nil if the content is not wanted any more.
    func nextAnswer(to id: UInt32) throws -> FrameReader? {
        while true {
            let found = try state.withLock { state -> FrameReader?? in
                if let end = state.end { throw end }
                if state.dropped.contains(id) { return .some(nil) }
                let answer = state.answers.take()
                state.isIdle = answer == nil
                return answer.map { .some($0) }
            }
            if let found { return found }
            try flush()
            filled.wait()
        }
    }

    /// Sends a frame that the client must have granted, once it has. Small ones wait for others, at most until this end
    /// waits for the other.
    func send(_ frame: consuming FrameWriter) throws {
        let cost = frame.count
        while true {
            let isGranted = try state.withLock { state in
                if let end = state.end { throw end }
                state.isIdle = state.credit <= 0
                if !state.isIdle { state.credit -= cost }
                return !state.isIdle
            }
            if isGranted { break }
            try flush()
            granted.wait()
        }
        try write(frame.frame())
    }

    /// Why the connection ended; nil if it did not, or the other end ended it.
    var reasonOfEnd: String? { state.withLock { $0.end?.reason } }
    var hasEnded: Bool { state.withLock { $0.end != nil } }

    private func write(_ frame: [UInt8]) throws {
        try writing { outgoing throws(Errno) in
            // A large one is not copied.
            if frame.count >= WireFormat.writeSize {
                try outgoing.flush(to: connection)
                try outgoing.write(frame, to: connection)
            } else {
                outgoing.frames += frame
                if outgoing.frames.count >= WireFormat.writeSize { try outgoing.flush(to: connection) }
            }
        }
    }

    private func flush() throws {
        try writing { outgoing throws(Errno) in try outgoing.flush(to: connection) }
    }

    private func writing(_ body: (inout Outgoing) throws(Errno) -> Void) throws {
        do {
            try outgoing.withLock { outgoing throws(Errno) in try body(&outgoing) }
        } catch {
            // The reading thread finds out why.
            if output != nil, let end = waitForEnd() { throw end }
            throw Ended(reason: nil)
        }
    }

    /// - Returns: false once the connection has ended.
    private func sign() -> Bool {
        if hasEnded { return false }
        let isDue = outgoing.withLock { outgoing in
            defer { outgoing.hasWritten = false }
            return !outgoing.hasWritten
        }
        // The reading thread finds out why it fails.
        if isDue { try? tell(FrameWriter(.ping)) }
        return true
    }

    private func waitForEnd() -> Ended? {
        for _ in 0..<30 {
            if let end = state.withLock(\.end) { return end }
            _ = granted.wait(atMost: .milliseconds(100))
        }
        return nil
    }

    private func end(_ reason: String?) {
        state.withLock { $0.end = Ended(reason: reason) }
        filled.signal()
        granted.signal()
        greeted.signal()
    }

    /// Something between the ends may be there still and take nothing: then a write waits forever.
    private func awaitWrites() {
        let (began, pause) = (ContinuousClock.now, Semaphore())
        while outgoing.withLockIfAvailable({ _ in }) == nil {
            guard ContinuousClock.now - began < .seconds(WireFormat.patience) else { return onSilence() }
            _ = pause.wait(atMost: .milliseconds(100))
        }
    }

    private func read(after welcome: Welcome?) {
        let reader = LineReader(
            connection: connection,
            patience: {
                let isWriting = self.outgoing.withLockIfAvailable { _ in } == nil
                return isWriting || self.state.withLock(\.isIdle) ? self.timeout : nil
            },
            activity: { self.state.withLock(\.activity) },
            isClosed: { self.hasEnded || self.outcome != nil }, onGreeting: { self.greeted.signal() },
            take: { for frame in $0 { try self.take(frame) } })
        do {
            if let first = welcome?.first { try take(first) }
            let reason = try reader.read(after: welcome?.parser)
            end(output == nil ? nil : reason)
        } catch let silence as LineReader.Silence {
            end(silence.reason)
            return onSilence()
        } catch let error as WireError {
            end(output == nil ? error.reason : "its data is not understood: \(error.reason)")
        } catch {
            end("reading from it failed: \(error)")
        }
        awaitWrites()
    }

    /// Nothing is read any more.
    func close() { end(nil) }

    private func take(_ frame: Frame) throws(WireError) {
        var reader = FrameReader(frame.payload)
        switch frame.type {
        case .ping: try reader.end()
        case .credit:
            let more = try reader.number(UInt32.self)
            try reader.end()
            let isTooMuch = state.withLock { state in
                state.credit += Int(more)
                return state.credit > WireFormat.widestWindow + WireFormat.longestFrame
            }
            guard !isTooMuch else { throw WireError("more is granted than was sent") }
            granted.signal()
        case .request:
            let id = try reader.number(UInt32.self)
            guard let kind = WireFormat.RequestKind(rawValue: try reader.byte()) else {
                throw WireError("a request of an unknown kind")
            }
            let (isTooMuch, isFirst) = state.withLock { state in
                let isFirst = state.requests.count == 0
                state.requests.add(Request(id: id, kind: kind, payload: reader))
                state.requestBytes += reader.count
                state.activity = kind.activity
                let isTooMuch =
                    state.requests.count > WireFormat.openRequests
                    || state.requestBytes > WireFormat.openRequestBytes
                return (isTooMuch, isFirst)
            }
            guard !isTooMuch else { throw WireError("too many requests at a time") }
            if isFirst { filled.signal() }
        case .blocks:
            let id = try reader.number(UInt32.self)
            let isWanted = try reader.flag()
            let isTooMuch = state.withLock { state in
                if !isWanted {
                    if id >= state.delta { state.dropped.insert(id) }
                } else if id >= state.delta {
                    state.answers.add(reader)
                    if id > state.delta { return true }
                }
                return state.answers.count > 2 * BlockHashes.ahead
                    || state.dropped.count > WireFormat.openRequests
            }
            guard !isTooMuch else { throw WireError("an answer to hashes that were not sent") }
            filled.signal()
        case .output:
            guard let output, let stream = RemoteCommand.Stream(rawValue: try reader.byte()),
                output.write(reader.rest(), to: stream)
            else { throw WireError("output that was not asked for") }
        case .ready where output != nil:
            try reader.end()
            state.withLock { state in
                state.isReady = true
                state.activity = ", during the commit"
            }
            filled.signal()
        case .outcome where output != nil:
            let code = try reader.byte()
            try reader.end()
            state.withLock { $0.outcome = code }
        default: throw WireError("a frame that only the other end sends")
        }
    }
}
