import FsyncLite
import Testing

struct AgeTests {
    @Test(arguments: [
        ("1s", 1), ("2m", 120), ("26h", 93_600), ("1d12h", 129_600), ("2w", 1_209_600), ("1mo", 2_592_000),
        ("1y6mo", 47_088_000), ("1mo1m", 2_592_060),
    ])
    func unitsAreTheSameEverywhere(text: String, seconds: Int64) throws {
        let age = try #require(Age(text))
        #expect(age.seconds == seconds && age.description == text)
    }

    @Test(arguments: [
        "", "d", "30", "3x", "-1d", "+1d", "0d", "1 d", "d1", "1dd", "1m o", "9999999999d",
        "99999999999999999999d", "1000000000y", "\u{661}d",
    ])
    func noAge(text: String) {
        #expect(Age(text) == nil)
    }
}
