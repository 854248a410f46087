import Glibc

/// The clock for file times advances in steps of some milliseconds, and in longer ones on a busy machine.
package enum ClockTick {
    /// Waits until the clock is later than all times given so far.
    package static func pass() {
        func now(_ clock: clockid_t) -> (Int, Int) {
            var time = timespec()
            clock_gettime(clock, &time)
            return (time.tv_sec, time.tv_nsec)
        }
        let stamped = now(CLOCK_REALTIME)
        while now(CLOCK_REALTIME_COARSE) <= stamped { sched_yield() }
    }
}
