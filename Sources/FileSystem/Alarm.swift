/// Lets one thread end the pauses of another that works at intervals.
package final class Alarm: Sendable {
    private let semaphore = Semaphore()

    package init() {}

    /// Ends the present pause and all later ones.
    package func ring() {
        semaphore.signal()
    }

    /// Pauses. Returns true once the alarm has rung.
    package func wait(_ pause: Duration) -> Bool {
        guard semaphore.wait(atMost: pause) else { return false }
        semaphore.signal()
        return true
    }
}
