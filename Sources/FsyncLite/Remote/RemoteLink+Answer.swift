import FileSystem
import Synchronization

extension RemoteLink {
    /// The answer to one request: its parts, in order. Only one thread may use it at a time.
    final class Answer: Sendable {
        typealias Parts = [(part: AnswerOrder.Part, cost: Int)]

        private struct State {
            var parts = Queue<(part: AnswerOrder.Part, cost: Int)>()
            var isAwaited = false
            var isAbandoned = false
        }

        private let state = Mutex(State())
        private let filled = Semaphore()
        private let shared: Shared
        private let id: UInt32
        let isDelta: Bool

        init(_ shared: Shared, _ id: UInt32, isDelta: Bool) {
            (self.shared, self.id, self.isDelta) = (shared, id, isDelta)
        }

        /// Answers the hashes that came, or says that no more content is wanted.
        func respond(isWanted: Bool, _ write: (inout FrameWriter) throws -> Void) rethrows {
            var frame = FrameWriter(.blocks, for: id)
            frame.flag(isWanted)
            try write(&frame)
            shared.send(frame.frame())
        }

        func add(_ parts: Parts) {
            let (cost, frames, wakes) = state.withLock { state in
                defer { state.isAwaited = false }
                if state.isAbandoned { return (parts.reduce(0) { $0 + $1.cost }, parts.count, false) }
                for part in parts { state.parts.add(part) }
                return (0, 0, state.isAwaited)
            }
            if wakes { filled.signal() }
            shared.take(cost, frames: frames)
        }

        /// Waits for the next part.
        ///
        /// - Throws: a failure of the other end or of the connection; `SyncError` with code `interrupted`.
        func next(_ monitor: any Monitor) throws -> AnswerOrder.Part {
            while true {
                try monitor.checkCancellation()
                let found = state.withLock { state -> (part: AnswerOrder.Part, cost: Int)? in
                    let next = state.parts.take()
                    if next == nil { state.isAwaited = true }
                    return next
                }
                if let (part, cost) = found {
                    shared.take(cost, frames: 1)
                    guard case .failure(let error) = part else { return part }
                    try monitor.checkCancellation()
                    throw error
                }
                _ = filled.wait(atMost: .milliseconds(100))
            }
        }

        /// Waits for the complete last part.
        ///
        /// - Parameter entries: takes the entries before it, if the answer has any.
        func end(
            _ monitor: any Monitor,
            _ entries: (inout FrameReader) throws -> Void = { _ in throw Answer.otherKind }
        ) throws -> FrameReader {
            var end: [UInt8] = []
            while true {
                switch try next(monitor) {
                case .entries(var reader):
                    guard end.isEmpty else { throw WireError("files after the end of their list") }
                    try entries(&reader)
                case .end(let piece, let isLast):
                    end += piece
                    if isLast { return FrameReader(end) }
                case .file, .data, .blocks, .failure: throw Answer.otherKind
                }
            }
        }

        static let otherKind = WireError("an answer of the wrong kind")

        /// Drops the parts that were not taken.
        func abandon() {
            let (cost, frames) = state.withLock { state in
                state.isAbandoned = true
                var (cost, frames) = (0, 0)
                while let part = state.parts.take() { (cost, frames) = (cost + part.cost, frames + 1) }
                return (cost, frames)
            }
            if isDelta { respond(isWanted: false) { _ in } }
            shared.take(cost, frames: frames)
        }
    }
}
