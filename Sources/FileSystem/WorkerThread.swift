import Glibc
import Synchronization

/// One thread of our own for blocking calls, which would starve Swift's pool of one thread per core.
///
/// Work runs in the order in which it came. The thread begins with the first piece of work; when this
/// object goes, it finishes what it was given and ends, and nobody waits for that.
package final class WorkerThread: Sendable {
    private let queue = WorkQueue()
    private let hasBegun = Mutex(false)

    package init() {}

    deinit {
        queue.close()
    }

    /// Runs `work` on the thread while the caller is suspended.
    ///
    /// Should the system have no thread to give, the work runs right here: slow, not lost.
    package func run<Value: Sendable, Failure: Error>(
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

    /// Runs `work` on the thread and does not wait for it.
    package func start(_ work: @escaping @Sendable () -> Void) throws(SystemError) {
        guard begin() else { throw SystemError("pthread_create", [], Errno(rawValue: EAGAIN)) }
        queue.add(work)
    }

    /// Begins the thread unless it runs; false when there is none to be had.
    private func begin() -> Bool {
        hasBegun.withLock { hasBegun in
            if !hasBegun { hasBegun = queue.beginThread() }
            return hasBegun
        }
    }
}

/// What the thread and its owner share: the thread may outlive the owner.
private final class WorkQueue: Sendable {
    private struct State {
        var work: [@Sendable () -> Void] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    /// Counts what has been added, and the closing.
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
        // A thread inherits the mask of its maker: signals are for the main thread.
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
            // The owner is gone, so nothing was added after the closing.
            if isClosed { return }
        }
    }
}
