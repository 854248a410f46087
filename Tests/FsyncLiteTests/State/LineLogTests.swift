import FileSystem
import Synchronization
import Testing

@testable import FsyncLite

struct LineLogTests {
    private final class Recorder: Sendable {
        let batches = Mutex<[[Int]]>([])
        let failures = Mutex(0)
        let isFull = Mutex(false)

        func log(interval: Duration) -> LineLog<Int> {
            LineLog(
                interval: interval, onFailure: { [self] _ in failures.withLock { $0 += 1 } },
                append: { [self] batch in
                    if isFull.withLock(\.self) { throw Errno.noSpace }
                    batches.withLock { $0.append(batch) }
                })
        }

        /// Waits for a thread; false after far more time than it needs.
        func waits(until condition: () -> Bool) -> Bool {
            let start = ContinuousClock.now
            while !condition() {
                guard start.duration(to: .now) < .seconds(30) else { return false }
                _ = Alarm().wait(.milliseconds(5))
            }
            return true
        }
    }

    @Test func whatWasAddedIsAppendedOnceAndInOrder() throws {
        let recorder = Recorder()
        let log = recorder.log(interval: .seconds(3600))
        for number in 0..<5 { log.add(number) }
        try log.flush()
        try log.flush()
        log.add(5)
        try log.flush()
        #expect(recorder.batches.withLock(\.self) == [[0, 1, 2, 3, 4], [5]])
    }

    @Test func isAppendedByItselfAfterAWhile() {
        let recorder = Recorder()
        let log = recorder.log(interval: .milliseconds(10))
        log.add(1)
        #expect(recorder.waits { recorder.batches.withLock(\.self) == [[1]] })
        log.add(2)
        #expect(recorder.waits { recorder.batches.withLock(\.self) == [[1], [2]] })
    }

    @Test func afterTheCloseNothingIsAppended() throws {
        let recorder = Recorder()
        let log = recorder.log(interval: .milliseconds(10))
        log.add(1)
        try log.flush()
        log.add(2)
        log.close()
        log.add(3)
        try log.flush()
        _ = Alarm().wait(.milliseconds(50))
        #expect(recorder.batches.withLock { $0.joined().filter { $0 == 3 }.isEmpty })
        #expect(recorder.batches.withLock(\.first) == [1])
    }

    @Test func failureIsToldOnceAndIsTheEnd() throws {
        let recorder = Recorder()
        recorder.isFull.withLock { $0 = true }
        let log = recorder.log(interval: .milliseconds(10))
        log.add(1)
        #expect(recorder.waits { recorder.failures.withLock(\.self) == 1 })
        recorder.isFull.withLock { $0 = false }
        log.add(2)
        try log.flush()
        #expect(recorder.batches.withLock(\.isEmpty) && recorder.failures.withLock(\.self) == 1)
    }

    @Test func failureOfAFlushIsThrown() {
        let recorder = Recorder()
        recorder.isFull.withLock { $0 = true }
        let log = recorder.log(interval: .seconds(3600))
        log.add(1)
        #expect(throws: Errno.noSpace) { try log.flush() }
        #expect(recorder.failures.withLock(\.self) == 0)
    }
}
