/// Lets one thread end the pauses of another thread that works at intervals.
public final class Alarm: Sendable {
    private let semaphore = Semaphore()

    public init() {}

    /// Ends the present pause and all later ones.
    public func ring() {
        semaphore.signal()
    }

    /// Pauses. Returns true once the alarm has rung.
    public func wait(_ pause: Duration) -> Bool {
        guard semaphore.wait(atMost: pause) else { return false }
        semaphore.signal()
        return true
    }
}
