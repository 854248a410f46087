import Glibc

/// A count on which threads wait. Unlike a lock's, its two sides may be different threads.
final class Semaphore: Sendable {
    /// It stays where it is from init to deinit, and the system's own calls on it are safe from any thread.
    private nonisolated(unsafe) let raw = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init(_ count: UInt32 = 0) {
        let failure = sem_init(raw, 0, count)
        precondition(failure == 0, "a count of \(count) is more than a semaphore holds")
    }

    deinit {
        sem_destroy(raw)
        raw.deallocate()
    }

    func signal() {
        sem_post(raw)
    }

    func wait() {
        // A signal interrupts it. Nothing else can go wrong with a semaphore that is there, and to go on without
        // having waited would be worse than to end.
        while sem_wait(raw) != 0 {
            precondition(Errno.current == .interrupted, "sem_wait: \(Errno.current)")
        }
    }
}
