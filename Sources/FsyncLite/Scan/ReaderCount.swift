import FileSystem

/// The number of threads that read directories. There are as many as keep the processors busy while others wait for the
/// disk. The waits of the reads so far show that number.
///
/// A disk that does one thing at a time becomes slower with several readers: each wait grows in proportion to the
/// threads. Then the number returns to the earlier one, for twice as long as the last time. The median wait is used,
/// because single long waits would distort the mean.
struct ReaderCount: Sendable {
    /// The present number.
    private(set) var threads: Int
    /// Whether the reads have waited for more than a quarter of the time that they have worked.
    private(set) var isBlocked = false
    /// Counts changes of the number. A read that began under another number says nothing about this one.
    private(set) var epoch = 0

    private let limit: Int
    private let processors: Double
    private var blocked: Int64 = 0
    private var worked: Int64 = 0
    /// The mean wait of each read. `usualWait` is their median if there are no more threads than processors.
    private var waits: [Int64] = []
    private var usualWait: Double = 0
    private var usualThreads = 1
    /// The number of decisions in which the number of threads may not grow, now and the next time.
    private var rest = 0
    private var nextRest = 16

    /// - Parameters:
    ///   - threads: the first number of threads, and the greatest.
    ///   - processors: the processors that this scan may use.
    init(_ threads: ClosedRange<Int>, processors: Double) {
        (self.threads, limit, self.processors) = (threads.lowerBound, threads.upperBound, processors)
        usualThreads = threads.lowerBound
    }

    /// One of this many reads is measured, because a measurement takes some microseconds.
    var sampling: Int { isBlocked ? 3 : 32 }

    /// Uses the times of one read.
    mutating func learn(_ times: ThreadTimes) {
        if times.waits > 0, times.blocked > 0 {
            if waits.count < 64 { waits.append(times.blocked / Int64(times.waits)) }
            blocked += times.blocked
        }
        worked += times.processor
        isBlocked = blocked > worked / 4
        guard isBlocked ? waits.count >= 24 : worked >= 2_000_000 else { return }
        decide()
        (blocked, worked) = (0, 0)
        waits.removeAll(keepingCapacity: true)
    }

    private mutating func decide() {
        let median = Double(waits.sorted().dropFirst(waits.count / 2).first ?? 0)
        let share = isBlocked ? (2 * Double(blocked) + Double(worked)) / Double(max(worked, 1)) : 1
        var goal = Int(min(processors * share + 0.5, Double(limit)))
        if isBlocked, Double(threads) <= max(processors, 1) {
            usualWait = usualWait > 0 ? (usualWait + median) / 2 : median
            usualThreads = threads
        }
        let growth = Double(threads) / Double(usualThreads)
        if isBlocked, growth >= 2, usualWait > 0, median > 0.7 * growth * usualWait {
            goal = usualThreads
            (rest, nextRest) = (nextRest, nextRest * 2)
        } else if rest > 0, goal > threads {
            rest -= 1
            goal = threads
        }
        goal = min(goal, 4 * threads)
        // The next directories may not be in the cache either.
        if rest == 0 { goal = max(goal, threads / 2) }
        goal = max(min(goal, limit), 1)
        if goal != threads { epoch += 1 }
        threads = goal
    }
}
