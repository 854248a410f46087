/// Ends the pauses of a thread that works from time to time.
package final class Alarm: Sendable {
    private let semaphore = Semaphore()

    package init() {}

    /// The thread's pause ends, and those after it.
    package func ring() {
        semaphore.signal()
    }

    /// Pauses; true when the alarm has rung.
    package func wait(_ pause: Duration) -> Bool {
        guard semaphore.wait(atMost: pause) else { return false }
        semaphore.signal()
        return true
    }
}
