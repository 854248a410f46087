import FileSystem
import Synchronization
import Testing

struct WorkerThreadTests {
    private final class Counter: Sendable {
        private let value = Atomic(0)

        func add(_ number: Int) -> Int { value.add(number, ordering: .sequentiallyConsistent).newValue }
    }

    @Test func runsOneAtATime() async {
        let (worker, running) = (WorkerThread(), Counter())
        await withTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    await worker.run {
                        #expect(running.add(1) == 1)
                        _ = running.add(-1)
                    }
                }
            }
        }
    }

    @Test func throwsWhatTheWorkThrows() async {
        await #expect(throws: Errno.inputOutput) {
            try await WorkerThread().run { () throws(Errno) -> Int in throw .inputOutput }
        }
    }

    @Test func twoPiecesRunBesideEachOther() throws {
        // Each waits for the other. One after the other, they would never end.
        let (work, body) = (Semaphore(), Semaphore())
        let value = try WorkerThread.run({
            body.signal()
            work.wait()
        }) {
            body.wait()
            work.signal()
            return 7
        }
        #expect(value == 7)
    }

    @Test func bothHaveEndedWhenOneOfThemFails() {
        let ended = Counter()
        let work: @Sendable () throws -> Void = {
            _ = ended.add(1)
            throw Errno.noSpace
        }
        #expect(throws: Errno.noSpace) { try WorkerThread.run(work, beside: { _ = ended.add(1) }) }
        #expect(ended.add(0) == 2)
        #expect(throws: Errno.inputOutput) { try WorkerThread.run(work, beside: { throw Errno.inputOutput }) }
        #expect(ended.add(0) == 3)
    }

    @Test func manyThatComeAndGoLeaveNoThread() async throws {
        func threads() throws -> Int {
            try DirectoryListing.names(in: .open(path: Array("/proc/self/task".utf8))).count
        }
        for _ in 0..<500 { #expect(await WorkerThread().run { 1 } == 1) }
        // They end by themselves. Threads of other tests come and go, too.
        #expect(try threads() < 100)
    }
}
