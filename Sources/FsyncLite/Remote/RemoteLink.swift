import FileStorage
import FileSystem
import Synchronization

/// The end of a connection that asks. The other end has the source.
///
/// One thread reads and one writes. The reading thread never writes and never waits for another thread. So it
/// stores at most as many bytes as the other end was granted.
final class RemoteLink: Sendable {
    let endpoint: Endpoint
    private let shared: Shared

    /// - Parameters:
    ///   - endpoint: the other end.
    ///   - parser: the bytes after its greeting; nil if neither end has greeted.
    ///   - timeout: the longest time with only signs of life when an answer is due; nil for the usual one.
    ///   - memory: the bytes that this process may use.
    init(
        _ endpoint: Endpoint, _ connection: any Connection, greeted parser: FrameParser?,
        timeout: Duration? = nil, memory: Int = HostProcess.memory
    ) throws {
        self.endpoint = endpoint
        shared = Shared(endpoint, connection, isGreeted: parser != nil, timeout, memory)
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

    /// Sends a frame that is not a question. If more than 1 MiB is unwritten, it waits first. If the
    /// connection is lost, it does nothing.
    func send(_ frame: consuming FrameWriter) {
        while !isLost, shared.state.withLock(\.unwritten) > WireFormat.longestFrame {
            _ = shared.written.wait(atMost: .milliseconds(100))
        }
        if !isLost { shared.send(frame.frame()) }
    }

    /// Waits until all frames were written, or the connection is lost.
    func finish() {
        while !isLost, shared.state.withLock(\.unwritten) > 0 {
            _ = shared.written.wait(atMost: .milliseconds(100))
        }
    }

    /// Waits for `go`.
    ///
    /// - Returns: false if the connection is lost.
    func awaitGo() -> Bool {
        shared.state.withLock { $0.awaitsGo = true }
        defer { shared.state.withLock { $0.awaitsGo = false } }
        while !shared.isGo.wait(atMost: .milliseconds(100)) { if isLost { return false } }
        return true
    }

    /// Waits for the greeting of the other end.
    func greet(_ monitor: any Monitor) throws {
        while !shared.greeted.wait(atMost: .milliseconds(100)) { try monitor.checkCancellation() }
        try check()
    }

    /// The connection is lost, so no answer will come.
    var isLost: Bool { shared.state.withLock { $0.failure != nil || $0.isClosed } }

    /// Throws the reason if the connection is lost.
    func check() throws {
        if let failure = shared.state.withLock(\.failure) { throw failure }
    }

    struct Question {
        let kind: WireFormat.RequestKind
        /// The other end will send hashes, and wait for answers to them.
        let isDelta: Bool
        fileprivate let body: [UInt8]

        init(
            _ kind: WireFormat.RequestKind, isDelta: Bool = false,
            _ write: (inout FrameWriter) -> Void = { _ in }
        ) {
            (self.kind, self.isDelta) = (kind, isDelta)
            var frame = FrameWriter(.request)
            write(&frame)
            body = Array(frame.bytes[WireFormat.headSize...])
        }
    }

    /// Asks for something. The answer must be taken or abandoned.
    ///
    /// A thread must not wait for an answer before it has taken its earlier ones, if they may be long. The
    /// other end sends the earlier answer first. With a full window, it waits until that is taken.
    func ask(
        _ kind: WireFormat.RequestKind, _ write: (inout FrameWriter) -> Void = { _ in }
    ) throws -> Answer {
        try ask(Question(kind, write))
    }

    func ask(_ question: Question) throws -> Answer { try ask([question])[0] }

    /// Asks several questions. The answers come in the same order.
    func ask(_ questions: [Question]) throws -> [Answer] { try shared.ask(questions) }

    /// Reads what the other end sent. A `WireError` becomes the error that ends the run.
    func reading<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as WireError {
            throw SyncError(
                .unreachable, path: endpoint.bytes, "its data is not understood: \(error.reason)"
            )
        }
    }

    /// The number of requests that may be made ahead now.
    var space: Int { shared.state.withLock { max(WireFormat.openRequests / 4 * 3 - $0.order.count, 0) } }

    final class Shared: Sendable {
        struct State {
            var order: AnswerOrder
            /// The incomplete answers, in the order of their requests.
            var answers: ArraySlice<Answer> = []
            /// Frames that the writing thread has not taken yet.
            var outgoing: [UInt8] = []
            /// Bytes of frames that are not written yet.
            var unwritten = 0
            /// Bytes were written since the last look.
            var hasWritten = false
            /// Bytes that the other end may still send.
            var granted = WireFormat.window
            var window: GrantedWindow
            /// When the request was made, if it is the only open one.
            var askedAlone: ContinuousClock.Instant?
            var awaitsGo = false
            var isClosed = false
            var failure: SyncError?

            /// - Returns: whether the writing thread must be woken.
            mutating func send(_ frame: [UInt8]) -> Bool {
                defer {
                    outgoing += frame
                    unwritten += frame.count
                }
                return outgoing.isEmpty
            }
        }

        let state: Mutex<State>
        let greeted = Semaphore()
        /// Bytes that were taken and are not granted again yet.
        private let ungranted = Atomic(0)
        /// Answer frames that no thread has taken. The grant limits their payload, but not their heads.
        private let waiting = Atomic(0)
        private let endpoint: Endpoint
        private let connection: any Connection
        private let outgoing = Semaphore()
        let written = Semaphore()
        let isGo = Semaphore()
        /// The other end is the client. It may cancel, and it allows the commit.
        private let isClient: Bool
        private let timeout: Duration?

        init(
            _ endpoint: Endpoint, _ connection: any Connection, isGreeted: Bool, _ timeout: Duration?,
            _ memory: Int
        ) {
            (self.endpoint, self.connection, isClient) = (endpoint, connection, isGreeted)
            self.timeout = timeout
            state = Mutex(State(order: AnswerOrder(endpoint), window: GrantedWindow(memory: memory)))
            if !isGreeted { send(Greeting.frame()) }
        }

        func send(_ frame: [UInt8]) {
            if state.withLock({ $0.send(frame) }) { outgoing.signal() }
        }

        func ask(_ questions: [Question]) throws -> [Answer] {
            let (answers, isDue) = try state.withLock { state in
                if let failure = state.failure { throw failure }
                var isDue = false
                if state.order.count == 0 { state.askedAlone = .now }
                let answers = questions.map { question in
                    let id = state.order.add(question.kind)
                    var frame = FrameWriter(.request, for: id)
                    frame.byte(question.kind.rawValue)
                    frame.raw(question.body)
                    isDue = state.send(frame.frame()) || isDue
                    return Answer(self, id, isDelta: question.isDelta)
                }
                state.answers += answers
                return (answers, isDue)
            }
            if isDue { outgoing.signal() }
            return answers
        }

        /// Grants the other end the bytes that were taken, and those by which the window grows.
        func take(_ bytes: Int, frames: Int) {
            waiting.subtract(frames, ordering: .relaxed)
            guard bytes > 0,
                ungranted.add(bytes, ordering: .relaxed).newValue >= WireFormat.window / 32
            else { return }
            let isDue = state.withLock { state in
                let bytes = ungranted.exchange(0, ordering: .relaxed)
                guard bytes > 0 else { return false }
                let more = bytes + state.window.take(bytes, at: .now)
                var frame = FrameWriter(.credit)
                frame.number(UInt(more))
                state.granted += more
                return state.send(frame.frame())
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
                    if !frames.isEmpty { try connection.write(frames) }
                    state.withLock { state in
                        state.unwritten -= frames.count
                        state.hasWritten = state.hasWritten || !frames.isEmpty
                    }
                    written.signal()
                } catch {
                    // The reading thread finds the reason.
                    if isClient { fail("the connection was lost") }
                    break
                }
            }
        }

        func read(after first: FrameParser?) {
            let reader = LineReader(
                connection: connection, patience: { self.patience }, activity: { self.activity },
                isClosed: { self.state.withLock(\.isClosed) },
                onGreeting: { self.greeted.signal() }, take: takeFrames)
            do {
                if let reason = try reader.read(after: first) { fail(reason) }
            } catch let error as SyncError {
                fail(error)
            } catch let error as WireError {
                fail("its data is not understood: \(error.reason)")
            } catch let silence as LineReader.Silence {
                fail(silence.reason)
            } catch {
                fail("reading from it failed: \(error)")
            }
        }

        /// How long the other end may send only signs of life. nil if no answer is due or granted.
        private var patience: Duration? {
            let answerTime = timeout ?? WireFormat.answerTime
            return state.withLock { state in
                defer { state.hasWritten = false }
                if state.awaitsGo { return answerTime }
                if state.granted > 0, let kind = state.order.kind { return timeout ?? kind.patience }
                // If nothing was written, the other end may have stopped reading.
                return state.unwritten > 0 && !state.hasWritten ? answerTime : nil
            }
        }

        private func takeFrames(_ frames: [Frame]) throws {
            var answers: [Frame] = []
            // Frames before one that is not understood are taken first.
            let rest = Result { for frame in frames { try take(frame, &answers) } }
            try take(answers)
            try rest.get()
        }

        /// - Parameter answers: receives the frames that are a part of an answer.
        private func take(_ frame: Frame, _ answers: inout [Frame]) throws {
            var reader = FrameReader(frame.payload)
            switch frame.type {
            case .answer, .entries, .file, .data, .blocks, .failure: answers.append(frame)
            case .ping: try reader.end()
            case .cancel where isClient:
                let signal = try reader.byte()
                try reader.end()
                guard TerminationSignal.all.contains(Int32(signal)) else {
                    throw WireError("an unknown signal")
                }
                HostProcess.interrupt(Int32(signal))
            case .go where isClient:
                try reader.end()
                isGo.signal()
            case .hello, .request, .credit, .run, .output, .ready, .outcome, .cancel, .go:
                throw WireError("a frame that only the other end sends")
            }
        }

        /// Gives the parts of each answer to the thread that asked, all that came at once together.
        private func take(_ frames: [Frame]) throws {
            var groups: [(answer: Answer, parts: Answer.Parts)] = []
            defer { for (answer, parts) in groups { answer.add(parts) } }
            guard
                waiting.add(frames.count, ordering: .relaxed).newValue <= WireFormat.waitingFrames
            else { throw WireError("too many frames at a time") }
            try state.withLock { state in
                if let asked = state.askedAlone, !frames.isEmpty {
                    state.window.note(turn: .now - asked)
                    state.askedAlone = nil
                }
                for frame in frames {
                    let cost = frame.payload.count
                    state.granted -= cost
                    guard state.granted >= -WireFormat.longestFrame else {
                        throw WireError("more than was granted")
                    }
                    let part = try state.order.take(frame)
                    // RACE: the writing thread has noticed a lost connection, and has ended all answers.
                    guard let answer = state.answers.first else { return }
                    if part.isLast { state.answers.removeFirst() }
                    if groups.last?.answer !== answer { groups.append((answer, [])) }
                    groups[groups.count - 1].parts.append((part, cost))
                }
            }
        }

        // MARK: Failures

        /// The purpose of the answers, for messages.
        private var activity: String { state.withLock { $0.order.kind?.activity ?? "" } }

        private func fail(_ message: String) {
            fail(SyncError(.unreachable, path: endpoint.bytes, message))
        }

        private func fail(_ error: SyncError) {
            let answers = state.withLock { state in
                if state.failure == nil, !state.isClosed { state.failure = error }
                defer { state.answers = [] }
                return state.answers
            }
            for answer in answers { answer.add([(.failure(error), 0)]) }
            greeted.signal()
        }

        func close() {
            state.withLock { $0.isClosed = true }
            outgoing.signal()
            connection.close()
        }
    }
}
