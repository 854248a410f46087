import Glibc

/// The clock that stamps files stands still for some milliseconds at a time, longer on a machine that is busy.
package enum ClockTick {
    /// Waits until it has passed every stamp that was given so far.
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
