import FileSystem
import Synchronization

/// The end of a connection that answers. One thread reads requests, and one sends signs of life.
final class ServiceLink: Sendable {
    struct Request: Sendable {
        let id: UInt32
        let kind: WireFormat.RequestKind
        let payload: FrameReader
    }

    /// The other end is gone, or sent something that is not understood.
    struct Ended: Error {
        let reason: String?
    }

    private struct State {
        var requests = Queue<Request>()
        /// The payload of `requests`, in bytes.
        var requestBytes = 0
        /// This end waits for the other one.
        var isIdle = false
        /// The last request that is answered with a delta, and the client's answers to its hashes.
        var delta: UInt32 = 0
        var answers = Queue<FrameReader>()
        /// The requests from `delta` on whose content the client no longer wants.
        var dropped: Set<UInt32> = []
        var credit = WireFormat.window
        var end: Ended?
        /// The other end runs a command, and waits before its commit.
        var isReady = false
        /// The last activity of the other end, for messages.
        var activity = ""
        var outcome: UInt8?
    }

    private let connection: any Connection
    private let state = Mutex(State())
    private let filled = Semaphore()
    private let granted = Semaphore()
    private let greeted = Semaphore()
    /// The frames that are not written yet. Only one thread writes at a time, and it writes whole frames.
    private let outgoing = Mutex<[UInt8]>([])
    /// Called if the other end was silent for too long. A write may then wait for it forever.
    private let onSilence: @Sendable () -> Void
    /// Receives the output of a command at the other end; nil if the other end is the client.
    private let output: RemoteRun.Output?
    private let timeout: Duration

    /// Answers a client. Both ends have greeted.
    convenience init(_ welcome: Welcome, onSilence: @escaping @Sendable () -> Void) throws {
        try self.init(welcome.connection, onSilence, output: nil, welcome)
    }

    /// Greets the other end, which will run a command.
    convenience init(_ connection: FarProcess, _ output: @escaping RemoteRun.Output) throws {
        try self.init(connection, { connection.close() }, output: output, nil)
        try write(Greeting.frame(), atOnce: true)
    }

    private init(
        _ connection: any Connection, _ onSilence: @escaping @Sendable () -> Void,
        output: RemoteRun.Output?, _ welcome: Welcome?
    ) throws {
        (self.connection, self.onSilence, self.output) = (connection, onSilence, output)
        // Between requests a client may read its whole target. A command may also run long.
        timeout = welcome?.timeout ?? WireFormat.readingTime
        try WorkerThread().start { [self] in read(after: welcome) }
        try WorkerThread().start { [weak self] in
            let pause = Semaphore()
            while true {
                _ = pause.wait(atMost: .seconds(WireFormat.pause))
                guard let link = self, !link.hasEnded else { return }
                // If this fails, the reading thread finds the reason.
                try? link.sendWithoutGrant(FrameWriter(.ping))
            }
        }
    }

    /// Waits for the greeting of the other end.
    func greet(_ onPause: () throws -> Void) throws {
        while !greeted.wait(atMost: .milliseconds(100)) { try onPause() }
        if let end = state.withLock(\.end) { throw end }
    }

    /// Sends a frame that needs no grant.
    func sendWithoutGrant(_ frame: consuming FrameWriter) throws {
        try write(frame.frame(), atOnce: true)
    }

    /// Whether the other end waits for `go` before its commit. True only once.
    func takeReady() -> Bool {
        state.withLock { state in
            defer { state.isReady = false }
            return state.isReady
        }
    }

    /// The exit code of the command at the other end; nil until it has ended.
    var outcome: UInt8? { state.withLock(\.outcome) }

    /// Waits for requests, and returns those that have come. At most 32 are returned, which are opened ahead.
    ///
    /// - Parameter onPause: called about every 100 ms while it waits.
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
            try write(atOnce: true)
            _ = filled.wait(atMost: .milliseconds(100))
            try onPause()
        }
    }

    /// From now on, takes the client's answers to the hashes of this request.
    ///
    /// - Returns: false if the client no longer wants the content.
    func beginDelta(_ id: UInt32) -> Bool {
        state.withLock { state in
            state.dropped.remove(state.delta)
            (state.delta, state.answers) = (id, Queue())
            return !state.dropped.contains(id)
        }
    }

    /// Waits for an answer to hashes.
    ///
    /// - Returns: nil if the client no longer wants the content.
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
            try write(atOnce: true)
            filled.wait()
        }
    }

    /// Waits until the client has granted more bytes, then sends a frame. Small frames are collected until
    /// this end waits for the other one.
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
            try write(atOnce: true)
            granted.wait()
        }
        try write(frame.frame())
    }

    /// Why the connection ended. It is nil if the connection is open, or if the other end ended it.
    var reasonOfEnd: String? { state.withLock { $0.end?.reason } }
    var hasEnded: Bool { state.withLock { $0.end != nil } }

    /// - Parameter atOnce: write also small frames now.
    private func write(_ frame: [UInt8] = [], atOnce: Bool = false) throws {
        do {
            try outgoing.withLock { frames throws(Errno) in
                // A large frame is written without being copied.
                let isLarge = frame.count >= WireFormat.writeSize
                if !isLarge { frames += frame }
                if !frames.isEmpty, isLarge || atOnce || frames.count >= WireFormat.writeSize {
                    defer { frames.removeAll(keepingCapacity: true) }
                    try connection.write(frames)
                }
                if isLarge { try connection.write(frame) }
            }
        } catch {
            // The reading thread finds the reason. Its signals are for the thread that waits in `send`.
            let pause = Semaphore()
            for _ in 0..<(output == nil ? 0 : 30) {
                if let end = state.withLock(\.end) { throw end }
                _ = pause.wait(atMost: .milliseconds(100))
            }
            throw Ended(reason: nil)
        }
    }

    private func end(_ reason: String?) {
        state.withLock { $0.end = Ended(reason: reason) }
        filled.signal()
        granted.signal()
        greeted.signal()
    }

    /// Waits for a running write. A program between the two ends may be alive and read nothing. Then the
    /// write would wait forever.
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

    /// Stops the reading.
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
                output(reader.rest(), stream)
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

/// Cancels long work once the client is gone.
extension ServiceLink: Monitor {
    func report(_ progress: SyncProgress) {}
    var isCancelled: Bool { hasEnded }
}
