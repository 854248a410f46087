import Glibc

/// A counting semaphore. Unlike with a lock, one thread may wait and another signal.
public final class Semaphore: Sendable {
    /// Its address is fixed from init to deinit, and `sem_t` calls are safe from any thread.
    private nonisolated(unsafe) let raw = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    public init(_ count: UInt32 = 0) {
        let failure = sem_init(raw, 0, count)
        precondition(failure == 0, "a count of \(count) is more than a semaphore holds")
    }

    deinit {
        sem_destroy(raw)
        raw.deallocate()
    }

    public func signal() {
        sem_post(raw)
    }

    public func wait() {
        // Only a signal can interrupt it (`EINTR`). Any other error is a bug, and it is better to end than to continue
        // without having waited.
        while sem_wait(raw) != 0 {
            precondition(Errno.current == .interrupted, "sem_wait: \(Errno.current)")
        }
    }

    /// Waits for at most `pause`; false on timeout.
    public func wait(atMost pause: Duration) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let (seconds, attoseconds) = pause.components
        end.tv_sec += Int(seconds)
        end.tv_nsec += Int(attoseconds / 1_000_000_000)
        if end.tv_nsec >= 1_000_000_000 {
            (end.tv_sec, end.tv_nsec) = (end.tv_sec + 1, end.tv_nsec - 1_000_000_000)
        }
        while sem_clockwait(raw, CLOCK_MONOTONIC, &end) != 0 {
            let failure = Errno.current
            if failure == .timedOut { return false }
            precondition(failure == .interrupted, "sem_clockwait: \(failure)")
        }
        return true
    }
}
