import Testing

@testable import FsyncLite

struct AgeTests {
    @Test(arguments: [
        ("1s", 1), ("2m", 120), ("26h", 93_600), ("1d12h", 129_600), ("2w", 1_209_600),
        ("1mo", 2_678_400), ("1y6mo", 47_433_600), ("1mo1m", 2_678_460),
    ])
    func unitsAreTheSameEverywhere(text: String, seconds: Int64) throws {
        let age = try #require(Age(text))
        let now = try #require(Timestamp(iso8601: "2026-11-22T07:17:00Z"))
        #expect(now.fileTime.seconds(since: age.before(now).fileTime) == seconds && age.description == text)
    }

    @Test(arguments: [
        "", "d", "30", "3x", "-1d", "+1d", "0d", "1 d", "d1", "1dd", "1m o", "9999999999d",
        "99999999999999999999d", "1000000000y", "\u{661}d",
    ])
    func noAge(text: String) {
        #expect(Age(text) == nil)
    }

    /// A file system, a document or another machine may have any time.
    @Test(arguments: [Int64.min, .min + 1, -1, .max - 1, .max]) func timesAtTheEndsHaveTexts(second: Int64)
        throws
    {
        let time = try #require(Timestamp(seconds: second, nanoseconds: 5))
        for text in ["1s", "100y", "999999y11mo"] { #expect(try #require(Age(text)).before(time) <= time) }
        #expect(Timestamp(iso8601: time.description) == time)
        #expect(!time.localText.isEmpty && !time.localISO8601.isEmpty)
        for text in ["today", "yesterday", "1d"] {
            let span = try #require(TimeSpan(text, now: time))
            #expect(span.start <= span.end)
        }
        var policy = RetentionPolicy()
        (policy.keepWeekly, policy.keepHourly, policy.keepWithin) = (1, 1, Age("1y"))
        let snapshots = [Snapshot(id: "b", created: time), Snapshot(id: "a", created: time)]
        #expect(!policy.reasons(for: snapshots, began: time)[0].isEmpty)
    }
}
