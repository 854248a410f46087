import Glibc

/// The times of the calling thread so far, in nanoseconds.
public struct ThreadTimes: Sendable {
    /// By the monotonic clock.
    public var wall: Int64 = 0
    /// On a processor. The corresponding clock is `CLOCK_THREAD_CPUTIME_ID`.
    public var processor: Int64 = 0
    /// Time ready to run, without a processor: field 2 of `/proc/thread-self/schedstat`; 0 if the kernel does not
    /// report it.
    public var delayed: Int64 = 0
    /// The number of times that it gave up its processor to wait.
    public var waits = 0

    /// The time neither on a processor nor ready to run.
    public var blocked: Int64 { max(wall - processor - delayed, 0) }

    public init(wall: Int64, processor: Int64, delayed: Int64, waits: Int) {
        (self.wall, self.processor, self.delayed, self.waits) = (wall, processor, delayed, waits)
    }

    public static func - (left: ThreadTimes, right: ThreadTimes) -> ThreadTimes {
        ThreadTimes(
            wall: left.wall - right.wall, processor: left.processor - right.processor,
            delayed: left.delayed - right.delayed, waits: left.waits - right.waits)
    }
}

/// Measures one thread: the first one that asks.
public struct ThreadMeter: ~Copyable {
    private var statistics: FileDescriptor?
    private var isOpened = false

    public init() {}

    /// The times so far. To measure work, subtract a call before it, with `isBefore`, from a call after it.
    public mutating func now(isBefore: Bool = false) -> ThreadTimes {
        if !isOpened {
            let name = "/proc/thread-self/schedstat"
            if let opened = try? FileDescriptor.open(AT_FDCWD, name, .read) {
                statistics = FileDescriptor(owning: opened)
            }
            isOpened = true
        }
        // The clocks are read as close to the work as possible.
        if isBefore {
            let (delayed, waits) = (delay(), waits())
            return ThreadTimes(
                wall: clock(CLOCK_MONOTONIC), processor: clock(CLOCK_THREAD_CPUTIME_ID), delayed: delayed,
                waits: waits)
        }
        let (processor, wall) = (clock(CLOCK_THREAD_CPUTIME_ID), clock(CLOCK_MONOTONIC))
        return ThreadTimes(wall: wall, processor: processor, delayed: delay(), waits: waits())
    }

    private func clock(_ id: clockid_t) -> Int64 {
        var now = timespec()
        clock_gettime(id, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }

    private func waits() -> Int {
        var usage = rusage()
        getrusage(RUSAGE_THREAD, &usage)
        return usage.ru_nvcsw
    }

    /// 0 if the kernel does not report it.
    private func delay() -> Int64 {
        withUnsafeTemporaryAllocation(byteCount: 80, alignment: 1) { buffer in
            guard let count = try? statistics?.read(into: buffer, at: 0) else { return 0 }
            let fields = buffer[..<count].split(separator: UInt8(ascii: " "))
            guard fields.count > 1 else { return 0 }
            return fields[1].reduce(0) { $0 &* 10 &+ Int64($1) &- 48 }
        }
    }
}
