import Testing

@testable import FsyncLite

struct AgeTests {
    @Test(arguments: [
        ("1s", 1), ("2m", 120), ("26h", 93_600), ("1d12h", 129_600), ("2w", 1_209_600),
        ("1mo", 2_678_400), ("1y6mo", 47_433_600), ("1mo1m", 2_678_460),
    ])
    func unitsAreTheSameEverywhere(text: String, seconds: Int64) throws {
        let age = try #require(Age(text))
        let now = try #require(Timestamp(text: "2026-11-22T07:17:00Z"))
        #expect(now.seconds - age.before(now).seconds == seconds && age.description == text)
    }

    @Test(arguments: [
        "", "d", "30", "3x", "-1d", "+1d", "0d", "1 d", "d1", "1dd", "1m o", "9999999999d",
        "99999999999999999999d", "1000000000y", "\u{661}d",
    ])
    func noAge(text: String) {
        #expect(Age(text) == nil)
    }
}
