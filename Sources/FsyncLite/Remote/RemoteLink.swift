import FileStorage
import FileSystem
import Synchronization

/// The connection to another machine: a process that carries bytes, a thread that reads from it and one that writes.
///
/// The reading thread never writes and never waits for anything else: it holds what the far end was granted.
final class RemoteLink: Sendable {
    let endpoint: Endpoint
    private let shared: Shared

    init(to endpoint: Endpoint, _ access: RemoteAccess) throws {
        self.endpoint = endpoint
        let process: ConnectedProcess
        do throws(Errno) {
            process = try ConnectedProcess(access.words(to: endpoint))
        } catch {
            let command = access.ssh.first ?? "ssh"
            throw SyncError(
                .unreachable, path: endpoint.bytes,
                error == .noSuchFile
                    ? "there is no \(command) here: install it (openssh-client), or name another command with --ssh"
                    : "\(command) could not be started: \(error)")
        }
        shared = Shared(endpoint, process)
        let shared = shared
        do {
            try WorkerThread().start { shared.write() }
            try WorkerThread().start { shared.readErrors() }
            try WorkerThread().start { shared.read() }
        } catch {
            shared.close()
            throw error
        }
    }

    deinit { shared.close() }

    /// Waits until the far end has said who it is.
    func greet(_ monitor: any Monitor) throws {
        while !shared.greeted.wait(atMost: .milliseconds(100)) { try monitor.checkCancellation() }
        shared.greeted.signal()
        if let failure = shared.state.withLock(\.failure) { throw failure }
    }

    /// Asks for something. The answer must be taken, or abandoned.
    func ask(_ kind: WireFormat.RequestKind, _ write: (inout FrameWriter) -> Void = { _ in }) throws -> Answer
    {
        try shared.ask(kind, write)
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
            /// Bytes that were taken and not granted again, and that the far end may still send.
            var taken = 0
            var granted = WireFormat.window
            var isGreeted = false
            var isClosed = false
            var failure: SyncError?
            /// The last lines that the process wrote to its standard error.
            var complaints: [UInt8] = []
        }

        let state: Mutex<State>
        let greeted = Semaphore()
        private let endpoint: Endpoint
        private let process: ConnectedProcess
        private let outgoing = Semaphore()
        private let errorsEnded = Semaphore()

        init(_ endpoint: Endpoint, _ process: ConnectedProcess) {
            (self.endpoint, self.process) = (endpoint, process)
            state = Mutex(State(order: AnswerOrder(endpoint)))
            var hello = FrameWriter(.hello)
            hello.raw(WireFormat.magic)
            hello.number(WireFormat.versions.lowerBound)
            hello.number(WireFormat.versions.upperBound)
            send(hello.frame())
        }

        private func send(_ frame: [UInt8]) {
            state.withLock { $0.outgoing.append(frame) }
            outgoing.signal()
        }

        func ask(_ kind: WireFormat.RequestKind, _ write: (inout FrameWriter) -> Void) throws -> Answer {
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
                state.outgoing.append(frame.frame())
                let answer = Answer(self)
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
                state.outgoing.append(frame.frame())
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
                    if !isDue { try process.write(FrameWriter(.ping).frame()) }
                    for frame in frames { try process.write(frame) }
                } catch {
                    // The reading thread finds out why.
                    break
                }
            }
            process.closeInput()
        }

        func readErrors() {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
            defer {
                buffer.deallocate()
                errorsEnded.signal()
            }
            while !state.withLock(\.isClosed) {
                guard let isThere = try? process.errors.waitForInput(milliseconds: 500) else { return }
                guard isThere else { continue }
                guard let count = try? process.errors.read(into: buffer), count > 0 else { return }
                state.withLock { state in
                    state.complaints.append(contentsOf: buffer[..<count])
                    let surplus = state.complaints.count - WireFormat.longestText
                    if surplus > 0 { state.complaints.removeFirst(surplus) }
                }
            }
        }

        func read() {
            var parser = FrameParser()
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 4096)
            defer { buffer.deallocate() }
            var heard = ContinuousClock.now
            // Before the greeting, somebody may be typing a password.
            let mayBeAsked = HostProcess.hasTerminal
            while !state.withLock(\.isClosed) {
                do {
                    guard try process.output.waitForInput(milliseconds: 500) else {
                        if !mayBeAsked || state.withLock(\.isGreeted),
                            ContinuousClock.now - heard > .seconds(WireFormat.patience)
                        {
                            fail("there was no sign of it for \(WireFormat.patience) seconds\(activity)")
                            return
                        }
                        continue
                    }
                    heard = .now
                    let count = try process.output.read(into: buffer)
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
            guard state.withLock(\.isGreeted) else {
                // Text that is no greeting must not be taken for a length.
                let start = parser.pending.dropFirst(4).prefix(1)
                guard start.first.map({ $0 == WireFormat.FrameType.hello.rawValue }) ?? true,
                    parser.pending.count < 4 || parser.pending[parser.pending.startIndex + 2] == 0
                else {
                    failAtEnd(parser.pending)
                    return
                }
                guard let frame = try parser.next() else { return }
                try takeHello(frame)
                try takeFrames(&parser)
                return
            }
            while let frame = try parser.next() {
                switch frame.type {
                case .ping: guard frame.payload.isEmpty else { throw WireError("a frame is too long") }
                case .hello, .request, .credit: throw WireError("a frame that only the other end sends")
                case .answer, .entries, .file, .data, .failure:
                    let cost = frame.payload.count
                    let (answer, part) = try state.withLock { state in
                        state.granted -= cost
                        guard state.granted >= -WireFormat.longestFrame else {
                            throw WireError("more than was granted")
                        }
                        let part = try state.order.take(frame)
                        let answer = state.answers[0]
                        if part.isLast { state.answers.removeFirst() }
                        return (answer, part)
                    }
                    answer.add(part, cost)
                }
            }
        }

        private func takeHello(_ frame: Frame) throws {
            var reader = FrameReader(frame.payload)
            guard frame.type == .hello, frame.payload.starts(with: WireFormat.magic) else {
                throw WireError("this is no greeting of fsync-lite")
            }
            for _ in WireFormat.magic { _ = try reader.byte() }
            let (lowest, highest) = (try reader.number(), try reader.number())
            // Later versions may say more.
            guard lowest <= WireFormat.versions.upperBound, highest >= WireFormat.versions.lowerBound else {
                let own = WireFormat.versions
                fail(
                    "its fsync-lite speaks versions \(lowest) to \(highest) of the protocol, and this one "
                        + "\(own.lowerBound) to \(own.upperBound): install the same version at both ends")
                return
            }
            state.withLock { $0.isGreeted = true }
            greeted.signal()
        }

        // MARK: Failures

        /// What the far end was doing.
        private var activity: String {
            switch state.withLock(\.order.kind) {
            case .open: ", while it was opened"
            case .rules, .scan: ", while it was scanned"
            case .attributes, .digest, .obstacles: ", while it was compared"
            case .content: ", while files were copied"
            case nil: ""
            }
        }

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
            let activity = activity
            let code = unread.isEmpty ? process.wait(atMost: .seconds(2)) : nil
            _ = errorsEnded.wait(atMost: .milliseconds(code == nil ? 0 : 500))
            let (isGreeted, complaints) = state.withLock { ($0.isGreeted, $0.complaints) }
            let lines = complaints.split(separator: UInt8(ascii: "\n")).suffix(3)
            let text = lines.map { escapedText($0.filter { $0 != UInt8(ascii: "\r") }) }.joined(
                separator: "; ")
            let reason = text.isEmpty ? "" : ": \(text)"
            if isGreeted {
                fail("the connection was lost\(activity)\(reason)")
            } else if !unread.isEmpty {
                let text = unread.prefix(200).prefix { $0 >= UInt8(ascii: " ") }
                fail(
                    "the shell there prints \"\(escapedText(text))\" before fsync-lite answers: its startup "
                        + "files must print nothing where there is no terminal")
            } else if code == 127 {
                fail(
                    "there is no fsync-lite there, or its shell does not find it: install it there, or say where it is "
                        + "with --remote-command\(reason)")
            } else if code == 64 {
                fail("its fsync-lite is another version, which cannot serve\(reason)")
            } else if code == 255 {
                fail("ssh could not connect\(reason)")
            } else {
                fail("it ended without an answer, with exit code \(code ?? 0)\(reason)")
            }
        }

        func close() {
            state.withLock { $0.isClosed = true }
            outgoing.signal()
            process.end()
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

        fileprivate init(_ shared: Shared) {
            self.shared = shared
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

        /// Nobody takes the rest.
        func abandon() {
            let cost = state.withLock { state in
                state.isAbandoned = true
                defer { state.parts = [] }
                return state.parts.reduce(0) { $0 + $1.cost }
            }
            shared.take(cost)
        }
    }
}
