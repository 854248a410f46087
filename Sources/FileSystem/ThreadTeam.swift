import Glibc
import Synchronization

/// Runs one piece of work on several threads.
package enum ThreadTeam {
    /// The number of processors that this process may use.
    package static var processors: Int {
        var set = cpu_set_t()
        guard sched_getaffinity(0, MemoryLayout<cpu_set_t>.size, &set) == 0 else { return 1 }
        return withUnsafeBytes(of: set) { $0.reduce(0) { $0 + $1.nonzeroBitCount } }
    }

    /// Runs `work` on this thread and on others, and returns when all have ended. With a count of 1, or if the system
    /// has no threads left, this thread does all of it: `work` takes its items from shared state.
    ///
    /// - Throws: the first error; the other threads must learn of it from the shared state.
    package static func run(_ count: Int, _ work: @escaping @Sendable () throws -> Void) throws {
        let shared = Shared(work)
        var threads: [WorkerThread] = []
        for _ in 1..<max(count, 1) {
            let thread = WorkerThread()
            do {
                try thread.start {
                    shared.run()
                    shared.ended.signal()
                }
            } catch {
                break
            }
            threads.append(thread)
        }
        shared.run()
        for _ in threads { shared.ended.wait() }
        if let error = shared.failure.withLock(\.self) { throw error }
    }

    private final class Shared: Sendable {
        let failure = Mutex<(any Error)?>(nil)
        let ended = Semaphore()
        private let work: @Sendable () throws -> Void

        init(_ work: @escaping @Sendable () throws -> Void) {
            self.work = work
        }

        func run() {
            do {
                try work()
            } catch {
                failure.withLock { if $0 == nil { $0 = error } }
            }
        }
    }
}
