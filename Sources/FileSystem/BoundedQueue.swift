import Synchronization

/// Hands values from one thread to another, a few at a time: who is ahead waits.
package final class BoundedQueue<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    private let isClosed = Atomic(false)
    private let room: Semaphore
    private let filled = Semaphore()

    /// - Parameter capacity: how many values may wait.
    package init(capacity: UInt32) {
        room = Semaphore(capacity)
    }

    /// Waits for room. False when nobody takes anything any more.
    package func push(_ element: Element) -> Bool {
        room.wait()
        guard !isClosed.load(ordering: .acquiring) else { return false }
        elements.withLock { $0.append(element) }
        filled.signal()
        return true
    }

    /// Waits for a value.
    package func pop() -> Element {
        filled.wait()
        let element = elements.withLock { $0.removeFirst() }
        room.signal()
        return element
    }

    /// Nothing is taken any more: a thread that waits for room goes on.
    package func close() {
        isClosed.store(true, ordering: .releasing)
        room.signal()
    }
}
