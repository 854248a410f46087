import FileSystem

/// How many threads read directories: as many as keep the processors busy while others wait for the disk, found by what
/// the reads so far have waited for.
///
/// A disk that does one thing at a time only loses by several readers: where a wait takes longer in proportion to the
/// threads, there are as few as before, for twice as long as the last time. The median wait tells, since single long
/// waits would distort the mean.
struct ReaderCount: Sendable {
    /// The present number.
    private(set) var threads: Int
    /// The reads have waited more than they have worked for a quarter of the time.
    private(set) var isBlocked = false
    /// Counts changes of the number: a read that began under another number tells nothing of this one.
    private(set) var epoch = 0

    private let limit: Int
    private let processors: Double
    private var blocked: Int64 = 0
    private var worked: Int64 = 0
    /// The mean wait of each read, and the median of those that a number of threads within the processors' had.
    private var waits: [Int64] = []
    private var usualWait: Double = 0
    private var usualThreads = 1
    /// For how many decisions the number does not grow, and for how many the next time.
    private var rest = 0
    private var nextRest = 16

    /// - Parameters:
    ///   - threads: the number to begin with, and the greatest.
    ///   - processors: the share of this scan.
    init(_ threads: ClosedRange<Int>, processors: Double) {
        (self.threads, limit, self.processors) = (threads.lowerBound, threads.upperBound, processors)
        usualThreads = threads.lowerBound
    }

    /// Of how many reads one is measured: a measurement takes some microseconds.
    var sampling: Int { isBlocked ? 3 : 32 }

    /// Learns from one read.
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
        // The next directories may not be cached either.
        if rest == 0 { goal = max(goal, threads / 2) }
        goal = max(min(goal, limit), 1)
        if goal != threads { epoch += 1 }
        threads = goal
    }
}
