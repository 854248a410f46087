import Glibc
import Synchronization

/// A token bucket. It fills at a rate in bytes per second, and contains at most the bytes of a tenth of a second.
public struct TokenBucket: Sendable {
    private let rate: Double
    /// The time at which all bytes taken so far are paid.
    private var due = Duration.zero

    private static let depth = Duration.milliseconds(100)

    /// - Parameter rate: bytes per second, more than zero.
    public init(rate: Int64) {
        self.rate = Double(rate)
    }

    /// Takes bytes, even if they are more than the bucket contains.
    ///
    /// - Parameter now: on a monotonic clock.
    /// - Returns: the time to wait before the next call.
    public mutating func take(_ bytes: Int, at now: Duration) -> Duration {
        due = max(due, now - TokenBucket.depth) + .seconds(Double(bytes) / rate)
        return max(.zero, due - now)
    }
}

/// One bucket for all threads that copy. It blocks the calling thread, which must not belong to Swift's pool.
public final class RateLimit: Sendable {
    private let bucket: Mutex<TokenBucket>
    private let start = ContinuousClock.now
    /// The most bytes to copy between two calls of `wait`: those of a tenth of a second.
    public let stretch: Int

    /// - Parameter bytesPerSecond: more than zero.
    public init(bytesPerSecond: Int64) {
        bucket = Mutex(TokenBucket(rate: bytesPerSecond))
        stretch = Int(max(1, min(bytesPerSecond / 10, 64 << 20)))
    }

    /// Waits until so many bytes may be copied.
    ///
    /// - Parameter isCancelled: asked ten times a second; true ends the wait.
    public func wait(for bytes: Int, isCancelled: () -> Bool) {
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
