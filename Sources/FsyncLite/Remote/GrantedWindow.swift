import FileSystem

/// How many bytes may be under way without being taken: twice what is taken in a turn of the line, as the window that a
/// receiver of TCP offers. What takes slowly keeps it small.
struct GrantedWindow {
    private(set) var size = WireFormat.window
    private let limit: Int
    /// The shortest time from a request to its answer, of those that were made alone.
    private var turn: Duration?
    /// Since when these bytes were taken.
    private var began: ContinuousClock.Instant?
    private var taken = 0

    /// - Parameter memory: an eighth of it is the limit, or 64 MiB.
    init(memory: Int) {
        limit = min(WireFormat.widestWindow, memory / 8)
    }

    mutating func note(turn: Duration) { self.turn = min(self.turn ?? turn, turn) }

    /// - Returns: by how much it grows.
    mutating func take(_ bytes: Int, at now: ContinuousClock.Instant) -> Int {
        guard let turn, let began, now - began < .seconds(60) else {
            (began, taken) = (now, 0)
            return 0
        }
        taken += bytes
        guard now - began >= turn, now > began else { return 0 }
        let wanted = 2 * Double(taken) * (turn / (now - began))
        (self.began, taken) = (now, 0)
        let growth = max(min(Int(wanted), limit) - size, 0)
        size += growth
        return growth
    }
}
