import Glibc

/// A count on which threads wait. Unlike a lock's, its two sides may be different threads.
final class Semaphore: Sendable {
    /// It stays where it is from init to deinit, and the system's own calls on it are safe from any thread.
    private nonisolated(unsafe) let raw = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init(_ count: UInt32 = 0) {
        sem_init(raw, 0, count)
    }

    deinit {
        sem_destroy(raw)
        raw.deallocate()
    }

    func signal() {
        sem_post(raw)
    }

    func wait() {
        while sem_wait(raw) != 0 {
            // Interrupted by a signal.
        }
    }
}
