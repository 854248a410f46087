import Synchronization

/// Works on the files of a `FilePipeline`, on one of its threads.
public protocol FileWorker: SendableMetatype {
    associatedtype Item: Sendable
    associatedtype Value: Sendable

    /// Opens the files of some items and announces them to the kernel. `value` is called for these next, in the same
    /// order.
    mutating func announce(_ items: [Item])

    mutating func value(of item: Item) throws -> Value
}

/// Works on many files, several at a time, and yields the values in the order of the items.
///
/// Each thread takes a piece of neighbouring items, announces all of its files, and works through them. So a disk
/// always has several requests to choose from, in the order of the tree. The thread that adds items also works while it
/// waits. So a pipeline works even if the system has no threads left.
public final class FilePipeline<Worker: FileWorker> {
    private let shared: Shared
    private let threads: Int
    private let pieceLimit: Int
    private let makeWorker: @Sendable () -> Worker
    private var own: Worker?
    /// The items of the next piece, and their bytes.
    private var collected: [Worker.Item] = []
    private var bytes: ByteCount = 0
    /// Values that the caller has not taken, and the error that follows them.
    private var ready = Outcome()
    private var readyIndex = 0
    private var helpers = 0

    /// The most items and bytes of a piece. They are small enough that all threads end at about the same time.
    private static var pieceLimits: (items: Int, bytes: ByteCount) { (32, 8_388_608) }
    /// The items of a piece whose content another machine sends. One round trip then carries many of them.
    private static var sentItems: Int { 256 }

    /// - Parameters:
    ///   - threads: the number that work at the same time, the caller's included.
    ///   - filesPerItem: the files that `announce` opens for an item on this machine; 0 if another machine sends them.
    ///   - makeWorker: called on each thread.
    public init(threads: Int, filesPerItem: Int = 1, _ makeWorker: @escaping @Sendable () -> Worker) {
        self.threads = max(min(threads, DescriptorBudget.threads), 1)
        self.makeWorker = makeWorker
        pieceLimit =
            filesPerItem == 0
            ? FilePipeline.sentItems
            : max(
                min(FilePipeline.pieceLimits.items, DescriptorBudget.ahead / (self.threads * filesPerItem)), 1
            )
        shared = Shared()
    }

    deinit { close() }

    /// Ends the other threads, each after the item that it works on, and waits for them.
    public func close() {
        shared.close()
        for _ in 0..<helpers { shared.ended.wait() }
        helpers = 0
    }

    /// Adds an item, and takes the values that are further behind than the threads need.
    ///
    /// - Parameter bytes: the number of bytes that `value` will read.
    public func add(
        _ item: Worker.Item, bytes: ByteCount = 0, _ take: (Worker.Value) throws -> Void
    ) throws {
        guard collect(item, bytes) else { return }
        while isFull, let value = try pop() { try take(value) }
    }

    /// Takes all remaining values.
    public func finish(_ take: (Worker.Value) throws -> Void) throws {
        dispatch()
        while let value = try pop() { try take(value) }
    }

    // MARK: On the caller's thread

    /// Whether enough pieces wait for each thread to find another one.
    private var isFull: Bool {
        // Swift makes a key path of a generic type anew at each use, which takes longer than all the rest.
        shared.state.withLock { $0.pieces.count } > 2 * threads
    }

    /// Returns true if the item completes a piece.
    private func collect(_ item: Worker.Item, _ bytes: ByteCount) -> Bool {
        collected.append(item)
        self.bytes += bytes
        guard collected.count >= pieceLimit || self.bytes >= FilePipeline.pieceLimits.bytes else {
            return false
        }
        dispatch()
        return true
    }

    private func dispatch() {
        guard !collected.isEmpty else { return }
        let wakes = shared.state.withLock { state in
            state.pieces.append(Piece(items: collected))
            guard state.idle > 0 else { return false }
            state.idle -= 1
            return true
        }
        collected = []
        bytes = 0
        if wakes {
            shared.work.signal()
        } else if helpers < threads - 1 {
            startHelper()
        }
    }

    private func startHelper() {
        let (shared, makeWorker) = (shared, makeWorker)
        do {
            try WorkerThread().start {
                shared.help(makeWorker)
                shared.ended.signal()
            }
            helpers += 1
        } catch {
            // The system has no threads left, so the present threads do the work.
        }
    }

    private func pop() throws -> Worker.Value? {
        while readyIndex == ready.values.count {
            if let failure = ready.failure { throw failure }
            guard let outcome = nextOutcome() else { return nil }
            (ready, readyIndex) = (outcome, 0)
        }
        defer { readyIndex += 1 }
        return ready.values[readyIndex]
    }

    private enum Step {
        case done(Outcome)
        case work(Int, [Worker.Item])
        case wait
        case end
    }

    /// Waits for the first piece, and works on pieces meanwhile.
    private func nextOutcome() -> Outcome? {
        while true {
            let step = shared.state.withLock { state -> Step in
                guard !state.pieces.isEmpty else { return .end }
                if let outcome = state.takeFinished() { return .done(outcome) }
                if let (number, items) = state.take() { return .work(number, items) }
                state.isAwaited = true
                return .wait
            }
            switch step {
            case .done(let outcome): return outcome
            case .end: return nil
            case .wait: shared.ready.wait()
            case .work(let number, let items):
                var worker = own ?? makeWorker()
                own = nil
                let outcome = shared.outcome(of: items, &worker)
                own = worker
                shared.end(number, outcome)
            }
        }
    }

    // MARK: Shared

    private struct Outcome: Sendable {
        var values: [Worker.Value] = []
        /// The error of the item after the last value.
        var failure: (any Error)?
    }

    private struct Piece: Sendable {
        let items: [Worker.Item]
        var outcome: Outcome?
    }

    private struct State: Sendable {
        var pieces: [Piece] = []
        /// The numbers of the first piece, and of the first piece that no thread has taken.
        var first = 0
        var firstWaiting = 0
        var idle = 0
        var isAwaited = false
        /// After a failure, later pieces are useless.
        var hasFailed = false

        /// The outcome of the first piece; nil if it is not ready.
        mutating func takeFinished() -> Outcome? {
            guard let outcome = pieces.first?.outcome else { return nil }
            pieces.removeFirst()
            first += 1
            return outcome
        }

        mutating func take() -> (Int, [Worker.Item])? {
            guard !hasFailed, firstWaiting - first < pieces.count else { return nil }
            firstWaiting += 1
            return (firstWaiting - 1, pieces[firstWaiting - 1 - first].items)
        }
    }

    private final class Shared: Sendable {
        let state = Mutex(State())
        let isClosed = Atomic(false)
        /// They wake a helper, wake the caller, and count the helpers that have ended.
        let (work, ready, ended) = (Semaphore(), Semaphore(), Semaphore())

        func close() {
            isClosed.store(true, ordering: .releasing)
            let idle = state.withLock { state in
                defer { state.idle = 0 }
                return state.idle
            }
            for _ in 0..<idle { work.signal() }
        }

        func help(_ makeWorker: () -> Worker) {
            var worker = makeWorker()
            while true {
                let next = state.withLock { state -> (Int, [Worker.Item])? in
                    if isClosed.load(ordering: .acquiring) { return nil }
                    if let next = state.take() { return next }
                    state.idle += 1
                    return (-1, [])
                }
                guard let (number, items) = next else { return }
                if number < 0 {
                    work.wait()
                } else {
                    end(number, outcome(of: items, &worker))
                }
            }
        }

        func outcome(of items: [Worker.Item], _ worker: inout Worker) -> Outcome {
            var outcome = Outcome()
            outcome.values.reserveCapacity(items.count)
            do {
                worker.announce(items)
                for item in items where !isClosed.load(ordering: .relaxed) {
                    outcome.values.append(try worker.value(of: item))
                }
            } catch {
                outcome.failure = error
            }
            return outcome
        }

        func end(_ number: Int, _ outcome: Outcome) {
            let wakes = state.withLock { state in
                if outcome.failure != nil { state.hasFailed = true }
                state.pieces[number - state.first].outcome = outcome
                defer { state.isAwaited = false }
                return state.isAwaited
            }
            if wakes { ready.signal() }
        }
    }
}
