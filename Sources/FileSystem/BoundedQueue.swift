import Synchronization

/// A bounded queue between two threads: the producer waits while it is full, the consumer while it is empty.
public final class BoundedQueue<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    private let isClosed = Atomic(false)
    private let space: Semaphore
    private let filled = Semaphore()

    /// - Parameter capacity: the number of values that may wait.
    public init(capacity: UInt32) {
        space = Semaphore(capacity)
    }

    /// Waits until there is space. Returns false after `close`.
    public func push(_ element: Element) -> Bool {
        space.wait()
        guard !isClosed.load(ordering: .acquiring) else { return false }
        elements.withLock { $0.append(element) }
        filled.signal()
        return true
    }

    public func pop() -> Element {
        filled.wait()
        let element = elements.withLock { $0.removeFirst() }
        space.signal()
        return element
    }

    /// Refuses further values, and wakes a producer that waits for space.
    public func close() {
        isClosed.store(true, ordering: .releasing)
        space.signal()
    }
}
