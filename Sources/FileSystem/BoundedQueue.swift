import Glibc
import Synchronization

/// Hands values from one thread to another, a few at a time: who is ahead waits.
package final class BoundedQueue<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    private let isClosed = Atomic(false)
    /// They stay where they are from init to deinit, and the system's own calls on them are safe from any thread.
    private nonisolated(unsafe) let room = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private nonisolated(unsafe) let filled = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    /// - Parameter capacity: how many values may wait.
    package init(capacity: UInt32) {
        sem_init(room, 0, capacity)
        sem_init(filled, 0, 0)
    }

    deinit {
        for semaphore in [room, filled] {
            sem_destroy(semaphore)
            semaphore.deallocate()
        }
    }

    /// Waits for room. False when nobody takes anything any more.
    package func push(_ element: Element) -> Bool {
        wait(room)
        guard !isClosed.load(ordering: .acquiring) else { return false }
        elements.withLock { $0.append(element) }
        sem_post(filled)
        return true
    }

    /// Waits for a value.
    package func pop() -> Element {
        wait(filled)
        let element = elements.withLock { $0.removeFirst() }
        sem_post(room)
        return element
    }

    /// Nothing is taken any more: a thread that waits for room goes on.
    package func close() {
        isClosed.store(true, ordering: .releasing)
        sem_post(room)
    }

    private func wait(_ semaphore: UnsafeMutablePointer<sem_t>) {
        while sem_wait(semaphore) != 0 {
            // Interrupted by a signal.
        }
    }
}
