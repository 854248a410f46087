import Glibc
import Synchronization

/// A thread for blocking calls. On Swift's pool, which has one thread per core, they would starve other tasks.
///
/// Work runs in the order of submission. The thread starts with the first piece of work. When this object is
/// deinitialized, the thread finishes its work and ends in the background.
public final class WorkerThread: Sendable {
    private let queue = WorkQueue()
    private let hasBegun = Mutex(false)

    public init() {}

    deinit {
        queue.close()
    }

    /// Runs `work` on the thread while the caller is suspended.
    ///
    /// If the system has no threads left, the work runs on the calling thread.
    public func run<Value: Sendable, Failure: Error>(
        _ work: @Sendable @escaping () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard begin() else { return try work() }
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.add {
                do throws(Failure) {
                    continuation.resume(returning: .success(try work()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// Runs `work` on the thread without waiting for it.
    public func start(_ work: @escaping @Sendable () -> Void) throws(SystemError) {
        guard begin() else {
            throw SystemError("pthread_create", Array("a thread".utf8), Errno(rawValue: EAGAIN))
        }
        queue.add(work)
    }

    /// Runs `work` on a thread of its own while `body` runs on the calling thread.
    ///
    /// If the system has no threads left, `work` comes first.
    ///
    /// - Throws: what `body` throws, or else what `work` throws; both have ended then.
    public static func run<Value>(
        _ work: @escaping @Sendable () throws -> Void, beside body: () throws -> Value
    ) throws -> Value {
        let (thread, outcome, ended) = (WorkerThread(), Outcome(), Semaphore())
        let run: @Sendable () -> Void = {
            let result = Result(catching: work)
            outcome.result.withLock { $0 = result }
            ended.signal()
        }
        if thread.begin() { thread.queue.add(run) } else { run() }
        let value = Result(catching: body)
        ended.wait()
        let found = try value.get()
        try outcome.result.withLock { $0 }.get()
        return found
    }

    /// Starts the thread unless it runs; false if the system has none left.
    private func begin() -> Bool {
        hasBegun.withLock { hasBegun in
            if !hasBegun { hasBegun = queue.beginThread() }
            return hasBegun
        }
    }
}

private final class Outcome: Sendable {
    let result = Mutex(Result<Void, any Error>.success(()))
}

/// The state that the thread shares with its owner, because the thread may live longer.
private final class WorkQueue: Sendable {
    private struct State {
        var work: [@Sendable () -> Void] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    /// Counts the added pieces of work, and the closing.
    private let semaphore = Semaphore()

    func add(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.work.append(work) }
        semaphore.signal()
    }

    func close() {
        state.withLock { $0.isClosed = true }
        semaphore.signal()
    }

    func beginThread() -> Bool {
        var everySignal = sigset_t()
        var previous = sigset_t()
        sigfillset(&everySignal)
        // A thread inherits the signal mask of its creator. Signals are for the main thread.
        pthread_sigmask(SIG_BLOCK, &everySignal, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self)
        let failure = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<WorkQueue>.fromOpaque(context).takeRetainedValue().runUntilClosed()
                return nil
            }, context.toOpaque())
        guard failure == 0 else {
            context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    private func runUntilClosed() {
        while true {
            semaphore.wait()
            let (work, isClosed) = state.withLock { state in
                defer { state.work = [] }
                return (state.work, state.isClosed)
            }
            for piece in work { piece() }
            // The owner no longer exists, so nothing was added after the closing.
            if isClosed { return }
        }
    }
}
