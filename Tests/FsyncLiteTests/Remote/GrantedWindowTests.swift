import Testing

@testable import FsyncLite

struct GrantedWindowTests {
    private let start = ContinuousClock.now

    /// The size after a time in which each round trip carries the whole window, or as much as is taken.
    private func size(
        memory: Int = 8 << 30, turn: Duration? = .milliseconds(100), turns: Int, mostReceived: Int
    ) -> Int {
        var window = GrantedWindow(memory: memory)
        if let turn { window.note(turn: turn) }
        var now = start
        _ = window.take(0, at: now)
        for _ in 0..<turns {
            now += turn ?? .milliseconds(100)
            _ = window.take(min(window.size, mostReceived), at: now)
        }
        return window.size
    }

    @Test func itDoublesWithEachTurnThatIsFull() {
        #expect(size(turns: 1, mostReceived: .max) == 8 << 20)
        #expect(size(turns: 3, mostReceived: .max) == 32 << 20)
        #expect(size(turns: 9, mostReceived: .max) == WireFormat.widestWindow)
    }

    /// A disk that takes 10 MB a second, with a round trip of 100 ms.
    @Test func whatTakesSlowlyKeepsItSmall() {
        #expect(size(turns: 100, mostReceived: 1_000_000) == WireFormat.window)
        #expect(size(turns: 100, mostReceived: 6_000_000) == 12_000_000)
    }

    @Test func memoryBoundsIt() {
        #expect(size(memory: 128 << 20, turns: 9, mostReceived: .max) == 16 << 20)
        #expect(size(memory: 8 << 20, turns: 9, mostReceived: .max) == WireFormat.window)
    }

    /// The round trip is unknown.
    @Test func withoutATurnItStays() {
        #expect(size(turn: nil, turns: 9, mostReceived: .max) == WireFormat.window)
    }

    /// A pause is not a slow round trip.
    @Test func theShortestTurnCounts() {
        var window = GrantedWindow(memory: 8 << 30)
        window.note(turn: .seconds(5))
        window.note(turn: .milliseconds(1))
        window.note(turn: .seconds(1))
        _ = window.take(0, at: start)
        // 4 MB in 100 ms are 40 kB in a round trip.
        #expect(window.take(4_000_000, at: start + .milliseconds(100)) == 0)
    }
}
