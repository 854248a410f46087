import FileSystem
import Testing

@testable import FsyncLite

/// The waits of reads decide how many threads read. Times are in microseconds here.
@Suite struct ReaderCountTests {
    private func times(wait: Int64, work: Int64, waits: Int = 1) -> ThreadTimes {
        ThreadTimes(wall: (wait + work) * 1000, processor: work * 1000, delayed: 0, waits: waits)
    }

    @Test func aCachedTreeTakesTheProcessors() {
        var count = ReaderCount(1...16, processors: 2)
        for _ in 0..<1000 { count.learn(times(wait: 0, work: 30, waits: 0)) }
        #expect(count.threads == 2)
    }

    /// On two processors, one thread reads each of two cached trees.
    @Test func oneOfTwoCachedTreesTakesOne() {
        var count = ReaderCount(1...16, processors: 1)
        for _ in 0..<1000 { count.learn(times(wait: 0, work: 30, waits: 0)) }
        #expect(count.threads == 1)
    }

    /// A wait for a processor is not a wait for the disk.
    @Test func aBusyMachineAddsNone() {
        var count = ReaderCount(1...16, processors: 1)
        for _ in 0..<1000 {
            count.learn(ThreadTimes(wall: 500_000, processor: 30_000, delayed: 470_000, waits: 3))
        }
        #expect(count.threads == 1)
    }

    /// A disk that serves many requests at a time: more threads make no wait longer.
    @Test func aParallelDiskTakesAll() {
        var count = ReaderCount(1...16, processors: 1)
        for _ in 0..<1000 { count.learn(times(wait: 300, work: 30, waits: 3)) }
        #expect(count.threads == 16)
        for _ in 0..<1000 { count.learn(times(wait: 0, work: 30, waits: 0)) }
        #expect(count.threads == 1)
    }

    /// A disk that serves one request at a time: each wait is longer by the number of threads.
    @Test func aSerialDiskTakesThemBack() {
        var count = ReaderCount(1...16, processors: 1)
        var sum = 0
        for _ in 0..<10_000 {
            count.learn(times(wait: 4000 * Int64(count.threads), work: 30))
            sum += count.threads
        }
        #expect(sum < 15_000, "mostly one thread, with ever longer rests between two tries")
    }

    /// Single long waits do not look like a serial disk.
    @Test func theMedianDecides() {
        var count = ReaderCount(1...16, processors: 1)
        for number in 0..<3000 {
            count.learn(times(wait: number % 5 == 0 ? 20_000 : 100, work: 30))
        }
        #expect(count.threads == 16)
    }

    @Test(arguments: [1, 3]) func theLimitHolds(limit: Int) {
        var count = ReaderCount(1...limit, processors: 8)
        for _ in 0..<1000 {
            count.learn(times(wait: 300, work: 1))
            #expect(1...limit ~= count.threads)
        }
        #expect(count.threads == limit)
    }
}
