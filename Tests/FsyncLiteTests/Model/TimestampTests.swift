import TestSupport
import Testing

@testable import FsyncLite

struct TimestampTests {
    @Test(
        arguments: [
            (0, 0, "1970-01-01T00:00:00Z"), (0, 1, "1970-01-01T00:00:00.000000001Z"),
            (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z"), (1_784_548_800, 0, "2026-07-20T12:00:00Z"),
            (951_782_400, 0, "2000-02-29T00:00:00Z"), (-2_203_891_200, 0, "1900-03-01T00:00:00Z"),
            (1_709_251_199, 500_000_000, "2024-02-29T23:59:59.500000000Z"),
            (-62_167_219_200, 0, "0000-01-01T00:00:00Z"), (-62_167_219_201, 0, "-0001-12-31T23:59:59Z"),
            (253_402_300_799, 999_999_999, "9999-12-31T23:59:59.999999999Z"),
            (253_402_300_800, 0, "+10000-01-01T00:00:00Z"), (15_032_385_535, 0, "2446-05-10T22:38:55Z"),
            (.max, 999_999_999, "+292277026596-12-04T15:30:07.999999999Z"),
            (.min, 0, "-292277022657-01-27T08:29:52Z"), (.min, 1, "-292277022657-01-27T08:29:52.000000001Z"),
        ] as [(Int64, Int32, String)])
    func hasOneText(_ seconds: Int64, _ nanoseconds: Int32, _ text: String) throws {
        let time = try #require(Timestamp(seconds: seconds, nanoseconds: nanoseconds))
        #expect(time.description == text)
        #expect(Timestamp(iso8601: Array(text.utf8)[...]) == time)
    }

    @Test func roundTripsOverTheWholeRange() {
        var random = SplitMix64(seed: 1)
        for round in 0..<20_000 {
            let bits = Int64(bitPattern: random.next())
            let seconds = bits >> Int64(round % 64)
            let nanoseconds = Int32.random(in: 0..<1_000_000_000, using: &random)
            guard let time = Timestamp(seconds: seconds, nanoseconds: round % 5 == 0 ? 0 : nanoseconds) else {
                Issue.record("\(seconds)")
                continue
            }
            let text = Array(time.description.utf8)
            guard Timestamp(iso8601: text[...]) != time || Timestamp(iso8601: ([0] + text)[1...]) != time
            else { continue }
            Issue.record("\(seconds) \(nanoseconds): \(time)")
        }
    }

    @Test func everyDayOfFourCenturiesRoundTrips() {
        for day in Int64(-719_528)..<(-719_528 + 146_097) {
            let time = Timestamp(seconds: day * 86_400, nanoseconds: 0)
            guard let time, Timestamp(iso8601: Array(time.description.utf8)[...]) != time else { continue }
            Issue.record("\(day)")
        }
    }

    @Test(arguments: [
        "", "Z", "2026", "2026-11-20", "2026-11-20T10:00:00", "2026-11-20T10:00:00z", "2026-11-20t10:00:00Z",
        "2026-11-20 10:00:00Z", "2026-11-20T10:00:00+00:00", "2026-11-20T10:00:00Z ", " 2026-11-20T10:00:00Z",
        "2026-11-20T10:00:00.Z", "2026-11-20T10:00:00.1Z", "2026-11-20T10:00:00.000000000Z",
        "2026-11-20T10:00:00.1234567890Z", "2026-11-20T10:00:00,123456789Z", "2026-11-20T10:00:60Z",
        "2026-11-20T24:00:00Z", "2026-11-20T10:60:00Z", "2026-13-20T10:00:00Z", "2026-00-20T10:00:00Z",
        "2026-11-00T10:00:00Z", "2026-11-31T10:00:00Z", "2026-02-29T10:00:00Z", "1900-02-29T00:00:00Z",
        "+2026-11-20T10:00:00Z", "-0000-01-01T00:00:00Z", "+09999-01-01T00:00:00Z", "10000-01-01T00:00:00Z",
        "026-11-20T10:00:00Z", "-001-01-01T00:00:00Z", "2026-1-20T10:00:00Z", "+-100-01-01T00:00:00Z",
        "+292277026596-12-04T15:30:08Z", "-292277022657-01-27T08:29:51Z", "+999999999999-01-01T00:00:00Z",
        "-999999999999-01-01T00:00:00Z", "+9999999999999-01-01T00:00:00Z", "+-01-01T00:00:00Z",
        "+00000000000000000000002026-01-01T00:00:00Z", "２０２６-11-20T10:00:00Z",
    ])
    func rejectsEveryOtherText(_ text: String) {
        #expect(Timestamp(iso8601: Array(text.utf8)[...]) == nil)
    }

    @Test func nanosecondsOutOfRangeMakeNoTime() {
        #expect(Timestamp(seconds: 0, nanoseconds: -1) == nil)
        #expect(Timestamp(seconds: 0, nanoseconds: 1_000_000_000) == nil)
    }

    @Test func ordersAcrossTheEpoch() throws {
        let times = try [(Int64.min, 0), (-1, 0), (-1, 999_999_999), (0, 0), (0, 1), (.max, 0)].map {
            try #require(Timestamp(seconds: $0.0, nanoseconds: $0.1))
        }
        #expect(times.shuffled().sorted() == times)
    }
}
