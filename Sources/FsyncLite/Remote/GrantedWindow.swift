/// How many bytes may be sent and not yet taken: twice the bytes taken in a round trip, like the window of a
/// TCP receiver. If they are taken slowly, the window remains small.
struct GrantedWindow {
    private(set) var size = WireFormat.window
    private let limit: Int
    /// The shortest time from a request to its answer, if no other request was open.
    private var turn: Duration?
    /// When the counting of `received` began.
    private var began: ContinuousClock.Instant?
    private var received = 0

    /// - Parameter memory: the limit is an eighth of it, and at most 64 MiB.
    init(memory: Int) {
        limit = min(WireFormat.widestWindow, memory / 8)
    }

    mutating func note(turn: Duration) { self.turn = min(self.turn ?? turn, turn) }

    /// - Returns: the bytes by which the window grows.
    mutating func take(_ bytes: Int, at now: ContinuousClock.Instant) -> Int {
        guard let turn, let began, now - began < .seconds(60) else {
            (began, received) = (now, 0)
            return 0
        }
        received += bytes
        guard now - began >= turn, now > began else { return 0 }
        let wanted = 2 * Double(received) * (turn / (now - began))
        (self.began, received) = (now, 0)
        let growth = max(min(Int(wanted), limit) - size, 0)
        size += growth
        return growth
    }
}
