import FileSystem
import Glibc
import Synchronization
import Testing

struct FilePipelineTests {
    private struct Failure: Error, Equatable {
        let number: Int
    }

    /// Squares numbers, and fails at one of them.
    private struct Squares: FileWorker {
        var failing: Int?
        var announced: [Int] = []

        init(failing: Int? = nil) {
            self.failing = failing
        }

        mutating func announce(_ items: [Int]) {
            #expect(announced.isEmpty, "every announced item was worked on")
            announced = items
        }

        mutating func value(of item: Int) throws -> Int {
            let next = announced.removeFirst()
            #expect(next == item)
            if item == failing { throw Failure(number: item) }
            return item * item
        }
    }

    @Test(arguments: [-1, 1, 2, 8], [0, 1, 31, 32, 33, 5000]) func valuesComeInOrder(
        threads: Int, count: Int
    ) throws {
        let pipeline = FilePipeline(threads: threads) { Squares() }
        var values: [Int] = []
        for item in 0..<count {
            try pipeline.add(item, bytes: ByteCount(clamping: item)) { values.append($0) }
        }
        try pipeline.finish { values.append($0) }
        #expect(values == (0..<count).map { $0 * $0 })
    }

    /// The results before it are given. The work after it does not continue forever.
    @Test(arguments: [1, 2, 8]) func theFirstErrorComesAtItsTurn(threads: Int) throws {
        let pipeline = FilePipeline(threads: threads) { Squares(failing: 1234) }
        var values: [Int] = []
        #expect(throws: Failure(number: 1234)) {
            for item in 0..<1_000_000 { try pipeline.add(item) { values.append($0) } }
        }
        #expect(values == (0..<1234).map { $0 * $0 })
    }

    /// The first one waits until the others have begun.
    private struct Held: FileWorker {
        let begun: FileSystem.Semaphore
        let release: FileSystem.Semaphore

        func announce(_ items: [Int]) {}

        func value(of item: Int) -> Int {
            if item == 0 {
                release.wait()
            } else {
                begun.signal()
            }
            return item
        }
    }

    /// A slow first file does not delay the others.
    @Test func theFirstPieceDoesNotBlockTheNext() throws {
        let (begun, release) = (FileSystem.Semaphore(), FileSystem.Semaphore())
        let pipeline = FilePipeline(threads: 2) { Held(begun: begun, release: release) }
        let waiter = WorkerThread()
        try waiter.start {
            for _ in 0..<40 { begun.wait() }
            release.signal()
        }
        var values: [Int] = []
        for item in 0..<200 { try pipeline.add(item) { values.append($0) } }
        try pipeline.finish { values.append($0) }
        #expect(values == Array(0..<200))
    }

    /// Closing a pipeline waits for the threads that it has started.
    @Test func closingWaitsForTheOthers() throws {
        final class Count: Sendable { let running = Atomic(0) }
        struct Busy: FileWorker {
            let count: Count

            func announce(_ items: [Int]) {}

            func value(of item: Int) -> Int {
                count.running.add(1, ordering: .sequentiallyConsistent)
                for _ in 0..<100 { sched_yield() }
                count.running.subtract(1, ordering: .sequentiallyConsistent)
                return item
            }
        }
        let count = Count()
        for _ in 0..<50 {
            let pipeline = FilePipeline(threads: 4) { Busy(count: count) }
            for item in 0..<128 { try pipeline.add(item) { _ in } }
            pipeline.close()
            #expect(count.running.load(ordering: .sequentiallyConsistent) == 0)
        }
    }

    @Test func countsProcessorsThatItMayUse() {
        #expect(Processors.usable >= 1)
    }
}
