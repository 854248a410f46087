import FileSystem
import Testing

@Suite("Bandwidth")
struct TokenBucketTests {
    @Test func nothingWaitsBelowTheRate() {
        var bucket = TokenBucket(rate: 1000)
        for second in 1...10 { #expect(bucket.take(1000, at: .seconds(second)) <= .seconds(1)) }
        #expect(bucket.take(1, at: .seconds(60)) == .zero)
    }

    @Test func overTimeNoMoreThanTheRateFlows() {
        var bucket = TokenBucket(rate: 1000)
        var now = Duration.seconds(100)
        for _ in 0..<50 { now += bucket.take(500, at: now) }
        // 25,000 bytes. A tenth of a second's bytes were there before.
        #expect(now > .milliseconds(124_899) && now < .milliseconds(124_901))
    }

    @Test func longPauseSavesUpNoMoreThanATenthOfASecond() {
        var bucket = TokenBucket(rate: 1000)
        _ = bucket.take(1, at: .seconds(1))
        let wait = bucket.take(1100, at: .seconds(1000))
        #expect(wait > .milliseconds(999) && wait < .milliseconds(1001))
    }
}
