import Glibc
import Synchronization

/// How fast data may flow: a bucket that fills with so many bytes each second and holds those of a tenth of one.
package struct TokenBucket: Sendable {
    private let rate: Double
    /// When all that was taken is paid for.
    private var due = Duration.zero

    private static let depth = Duration.milliseconds(100)

    /// - Parameter rate: bytes per second, more than zero.
    package init(rate: Int64) {
        self.rate = Double(rate)
    }

    /// Takes bytes, which may be more than are there.
    ///
    /// - Parameter now: on a clock that only runs forward.
    /// - Returns: how long to wait before the next are taken.
    package mutating func take(_ bytes: Int, at now: Duration) -> Duration {
        due = max(due, now - TokenBucket.depth) + .seconds(Double(bytes) / rate)
        return max(.zero, due - now)
    }
}

/// One bucket for all threads that copy. It makes the thread that asks sleep, which must be one of our own.
package final class RateLimit: Sendable {
    private let bucket: Mutex<TokenBucket>
    private let start = ContinuousClock.now
    /// The most to copy before asking: a tenth of a second's.
    package let stretch: Int

    /// - Parameter bytesPerSecond: more than zero.
    package init(bytesPerSecond: Int64) {
        bucket = Mutex(TokenBucket(rate: bytesPerSecond))
        stretch = Int(max(1, min(bytesPerSecond / 10, 64 << 20)))
    }

    /// Waits until so many bytes may have been copied.
    ///
    /// - Parameter isCancelled: asked ten times a second; true ends the wait.
    package func wait(for bytes: Int, isCancelled: () -> Bool) {
        let start = start
        var left = bucket.withLock { $0.take(bytes, at: start.duration(to: .now)) }
        while left > .zero, !isCancelled() {
            let nap = min(left, .milliseconds(100))
            var time = timespec(tv_sec: 0, tv_nsec: Int(nap.components.attoseconds / 1_000_000_000))
            nanosleep(&time, nil)
            left -= nap
        }
    }
}
