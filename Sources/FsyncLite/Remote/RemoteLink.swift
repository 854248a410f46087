import FileStorage
import FileSystem
import Synchronization

/// The end of a connection that asks: the other end has the source.
///
/// A thread reads and one writes. The reading thread never writes and never waits for anything else: it holds what the
/// other end was granted.
final class RemoteLink: Sendable {
    let endpoint: Endpoint
    private let shared: Shared

    /// - Parameters:
    ///   - endpoint: the other end.
    ///   - parser: what has come after its greeting; nil if neither end has greeted.
    init(_ endpoint: Endpoint, _ connection: any Connection, greeted parser: FrameParser?) throws {
        self.endpoint = endpoint
        shared = Shared(endpoint, connection, isGreeted: parser != nil)
        let shared = shared
        do {
            try WorkerThread().start { shared.write() }
            try WorkerThread().start { shared.read(after: parser) }
        } catch {
            shared.close()
            throw error
        }
    }

    deinit { shared.close() }

    /// Sends a frame that is no question. Waits while much is waiting to be sent; does nothing once the line is lost.
    func tell(_ frame: consuming FrameWriter) { shared.tell(frame.frame()) }

    /// Waits until everything was sent, or the line is lost.
    func finish() { shared.finish() }

    /// Waits for the word to go on.
    ///
    /// - Returns: false if the line is lost.
    func awaitGo() -> Bool { shared.awaitGo() }

    /// Waits until the far end has said who it is.
    func greet(_ monitor: any Monitor) throws {
        while !shared.greeted.wait(atMost: .milliseconds(100)) { try monitor.checkCancellation() }
        shared.greeted.signal()
        if let failure = shared.state.withLock(\.failure) { throw failure }
    }

    /// Asks for something. The answer must be taken, or abandoned.
    ///
    /// A thread must not wait for an answer while an earlier one is still to come to it that may be long: the far end sends
    /// that first, and no more of it than the window holds until it is taken.
    ///
    /// - Parameter isDelta: the far end will wait for answers in return.
    func ask(
        _ kind: WireFormat.RequestKind, isDelta: Bool = false, _ write: (inout FrameWriter) -> Void = { _ in }
    ) throws -> Answer {
        try shared.ask(kind, isDelta, write)
    }

    /// Reads what came. What cannot be understood ends the run.
    func reading<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as WireError {
            throw SyncError(
                .unreachable, path: endpoint.bytes, "what comes from there is not understood: \(error.reason)"
            )
        }
    }

    /// So many requests wait for an answer that one which is not needed at once should not be made.
    var isBusy: Bool { shared.state.withLock { $0.order.count > WireFormat.openRequests / 4 * 3 } }

    final class Shared: Sendable {
        struct State {
            var order: AnswerOrder
            var answers: [Answer] = []
            var outgoing: [[UInt8]] = []
            /// Bytes that were not written yet.
            var unwritten = 0
            /// Bytes that were taken and not granted again, and that the far end may still send.
            var taken = 0
            var granted = WireFormat.window
            var isGreeted = false
            var isClosed = false
            var failure: SyncError?
        }

        let state: Mutex<State>
        let greeted = Semaphore()
        private let endpoint: Endpoint
        private let connection: any Connection
        private let outgoing = Semaphore()
        private let written = Semaphore()
        private let isGo = Semaphore()
        /// The other end is the client: it may cancel, and it says when the commit may begin.
        private let isClient: Bool

        init(_ endpoint: Endpoint, _ connection: any Connection, isGreeted: Bool) {
            (self.endpoint, self.connection, isClient) = (endpoint, connection, isGreeted)
            state = Mutex(State(order: AnswerOrder(endpoint)))
            if isGreeted {
                state.withLock { $0.isGreeted = true }
                greeted.signal()
            } else {
                send(Greeting.frame())
            }
        }

        func send(_ frame: [UInt8]) {
            state.withLock { state in
                state.outgoing.append(frame)
                state.unwritten += frame.count
            }
            outgoing.signal()
        }

        func tell(_ frame: [UInt8]) {
            while !isLost, state.withLock(\.unwritten) > WireFormat.longestFrame {
                _ = written.wait(atMost: .milliseconds(100))
            }
            if !isLost { send(frame) }
        }

        func finish() {
            while !isLost, state.withLock(\.unwritten) > 0 { _ = written.wait(atMost: .milliseconds(100)) }
        }

        func awaitGo() -> Bool {
            while !isGo.wait(atMost: .milliseconds(100)) { if isLost { return false } }
            return true
        }

        private var isLost: Bool { state.withLock { $0.failure != nil || $0.isClosed } }

        func ask(
            _ kind: WireFormat.RequestKind, _ isDelta: Bool, _ write: (inout FrameWriter) -> Void
        ) throws -> Answer {
            var body = FrameWriter(.request)
            write(&body)
            let content = body
            let answer = try state.withLock { state -> Answer in
                if let failure = state.failure { throw failure }
                let id = state.order.add(kind)
                var frame = FrameWriter(.request)
                frame.number(id)
                frame.byte(kind.rawValue)
                frame.raw(content.bytes[WireFormat.headSize...])
                let bytes = frame.frame()
                state.outgoing.append(bytes)
                state.unwritten += bytes.count
                let answer = Answer(self, id, isDelta: isDelta)
                state.answers.append(answer)
                return answer
            }
            outgoing.signal()
            return answer
        }

        /// The far end may send as much again as was taken.
        func take(_ bytes: Int) {
            let isDue = state.withLock { state in
                state.taken += bytes
                guard state.taken >= WireFormat.window / 16 else { return false }
                var frame = FrameWriter(.credit)
                frame.number(UInt(state.taken))
                state.granted += state.taken
                state.taken = 0
                let bytes = frame.frame()
                state.outgoing.append(bytes)
                state.unwritten += bytes.count
                return true
            }
            if isDue { outgoing.signal() }
        }

        // MARK: Threads

        func write() {
            while true {
                let isDue = outgoing.wait(atMost: .seconds(WireFormat.pause))
                let (frames, isClosed) = state.withLock { state in
                    defer { state.outgoing = [] }
                    return (state.outgoing, state.isClosed)
                }
                if isClosed { break }
                do {
                    if !isDue { try connection.write(FrameWriter(.ping).frame()) }
                    for frame in frames {
                        try connection.write(frame)
                        state.withLock { $0.unwritten -= frame.count }
                    }
                    written.signal()
                } catch {
                    // The reading thread finds out why.
                    if isClient { fail("the connection was lost") }
                    break
                }
            }
        }

        func read(after first: FrameParser?) {
            var parser = first ?? FrameParser()
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 4096)
            defer { buffer.deallocate() }
            var heard = ContinuousClock.now
            // Before the greeting, the user may be typing a password.
            let mayBeAsked = HostProcess.hasTerminal
            var isFirst = first != nil
            while !state.withLock(\.isClosed) {
                do {
                    if isFirst {
                        isFirst = false
                        try takeFrames(&parser)
                    }
                    guard try connection.waitForInput(milliseconds: 500) else {
                        if !mayBeAsked || state.withLock(\.isGreeted),
                            ContinuousClock.now - heard > .seconds(WireFormat.patience)
                        {
                            fail("there was no sign of it for \(WireFormat.patience) seconds\(activity)")
                            return
                        }
                        continue
                    }
                    heard = .now
                    let count = try connection.read(into: buffer)
                    guard count > 0 else {
                        failAtEnd(parser.pending)
                        return
                    }
                    parser.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    try takeFrames(&parser)
                } catch let error as SyncError {
                    fail(error)
                    return
                } catch let error as WireError {
                    fail("what comes from there is not understood: \(error.reason)")
                    return
                } catch {
                    fail("reading from it failed: \(error)")
                    return
                }
            }
        }

        private func takeFrames(_ parser: inout FrameParser) throws {
            if !state.withLock(\.isGreeted) {
                switch try Greeting.take(&parser) {
                case .nothing: return
                case .text: return failAtEnd(parser.pending)
                case .others(let reason): return fail(reason)
                case .greeted: break
                }
                state.withLock { $0.isGreeted = true }
                greeted.signal()
            }
            while let frame = try parser.next() {
                switch frame.type {
                case .ping: guard frame.payload.isEmpty else { throw WireError("a frame is too long") }
                case .cancel where isClient:
                    var reader = FrameReader(frame.payload)
                    let signal = try reader.byte()
                    try reader.end()
                    guard TerminationSignal.all.contains(Int32(signal)) else {
                        throw WireError("an unknown signal")
                    }
                    HostProcess.interrupt(Int32(signal))
                case .go where isClient:
                    guard frame.payload.isEmpty else { throw WireError("a frame is too long") }
                    isGo.signal()
                case .hello, .request, .credit, .run, .output, .ready, .outcome, .cancel, .go, .inquiry:
                    throw WireError("a frame that only the other end sends")
                case .answer, .entries, .file, .data, .blocks, .failure:
                    let cost = frame.payload.count
                    let taken = try state.withLock { state -> (Answer, AnswerOrder.Part)? in
                        state.granted -= cost
                        guard state.granted >= -WireFormat.longestFrame else {
                            throw WireError("more than was granted")
                        }
                        let part = try state.order.take(frame)
                        // RACE: the thread that writes has found the line lost. It has told all who wait.
                        guard let answer = state.answers.first else { return nil }
                        if part.isLast { state.answers.removeFirst() }
                        return (answer, part)
                    }
                    if let (answer, part) = taken { answer.add(part, cost) }
                }
            }
        }

        // MARK: Failures

        /// What the far end was doing.
        private var activity: String { state.withLock { $0.order.kind?.activity ?? "" } }

        private func fail(_ message: String) {
            fail(SyncError(.unreachable, path: endpoint.bytes, message))
        }

        private func fail(_ error: SyncError) {
            let answers = state.withLock { state -> [Answer] in
                if state.failure == nil, !state.isClosed { state.failure = error }
                defer { state.answers = [] }
                return state.answers
            }
            for answer in answers { answer.add(.failure(error), 0) }
            greeted.signal()
        }

        /// The stream has ended, or is none.
        private func failAtEnd(_ unread: ArraySlice<UInt8>) {
            fail(
                connection.reasonOfEnd(
                    unread: unread, isGreeted: state.withLock(\.isGreeted), activity))
        }

        func close() {
            state.withLock { $0.isClosed = true }
            outgoing.signal()
            connection.close()
        }
    }

    /// The answer to one request: its parts, in order. For one thread at a time.
    final class Answer: Sendable {
        private struct State {
            var parts: [(part: AnswerOrder.Part, cost: Int)] = []
            var isAbandoned = false
        }

        private let state = Mutex(State())
        private let filled = Semaphore()
        private let shared: Shared
        private let id: UInt32
        let isDelta: Bool

        fileprivate init(_ shared: Shared, _ id: UInt32, isDelta: Bool) {
            (self.shared, self.id, self.isDelta) = (shared, id, isDelta)
        }

        /// Answers hashes that came; or says that no more is wanted.
        func respond(isWanted: Bool, _ write: (inout FrameWriter) throws -> Void) rethrows {
            var frame = FrameWriter(.blocks)
            frame.number(id)
            frame.flag(isWanted)
            try write(&frame)
            shared.send(frame.frame())
        }

        fileprivate func add(_ part: AnswerOrder.Part, _ cost: Int) {
            let isAbandoned = state.withLock { state in
                if !state.isAbandoned { state.parts.append((part, cost)) }
                return state.isAbandoned
            }
            filled.signal()
            if isAbandoned { shared.take(cost) }
        }

        /// Waits for the next part.
        ///
        /// - Throws: a failure of the far end, or of the connection; `SyncError` with code `interrupted`.
        func next(_ monitor: any Monitor) throws -> AnswerOrder.Part {
            while !filled.wait(atMost: .milliseconds(100)) { try monitor.checkCancellation() }
            let (part, cost) = state.withLock { $0.parts.removeFirst() }
            shared.take(cost)
            if case .failure(let error) = part {
                try monitor.checkCancellation()
                throw error
            }
            return part
        }

        /// The end of an answer that has nothing else, whole.
        func end(_ monitor: any Monitor) throws -> FrameReader {
            var bytes: [UInt8] = []
            while true {
                guard case .end(let piece, let isLast) = try next(monitor) else {
                    throw WireError("an answer of another kind than was asked for")
                }
                bytes.append(contentsOf: piece)
                if isLast { return FrameReader(bytes) }
            }
        }

        /// The rest is not taken.
        func abandon() {
            let cost = state.withLock { state in
                state.isAbandoned = true
                defer { state.parts = [] }
                return state.parts.reduce(0) { $0 + $1.cost }
            }
            if isDelta { respond(isWanted: false) { _ in } }
            shared.take(cost)
        }
    }
}
