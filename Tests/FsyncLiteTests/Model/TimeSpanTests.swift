import Testing

@testable import FsyncLite

struct TimeSpanTests {
    private let now = Timestamp(seconds: 1_700_000_000, nanoseconds: 5).unsafelyUnwrapped

    private static let times: [(text: String, start: String, end: String)] = [
        ("2026-11-20T10:00Z", "2026-11-20T10:00:00Z", "2026-11-20T10:01:00Z"),
        ("2026-11-20 10:00:59Z", "2026-11-20T10:00:59Z", "2026-11-20T10:01:00Z"),
        ("2026-11-20T10:00+01:00", "2026-11-20T09:00:00Z", "2026-11-20T09:01:00Z"),
        ("2026-11-20 10:00 -0530", "2026-11-20T15:30:00Z", "2026-11-20T15:31:00Z"),
        ("2026-11-20T10:00+14", "2026-11-19T20:00:00Z", "2026-11-19T20:01:00Z"),
        ("2026-11-20Z", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"),
        ("2026-11-20T10:00:00.5Z", "2026-11-20T10:00:00.500000000Z", "2026-11-20T10:00:00.500000001Z"),
        ("2026-11-20T10:00:00.999999999Z", "2026-11-20T10:00:00.999999999Z", "2026-11-20T10:00:01Z"),
        ("1969-12-31T23:59:59.25Z", "1969-12-31T23:59:59.250000000Z", "1969-12-31T23:59:59.250000001Z"),
    ]

    @Test(arguments: times)
    func timesWithAZone(text: String, start: String, end: String) throws {
        let span = try #require(TimeSpan(text))
        #expect("\(span.start)" == start && "\(span.end)" == end)
    }

    @Test func anAgeIsAMoment() throws {
        let span = try #require(TimeSpan("1h30m", now: now))
        #expect(span.start == span.end && now.fileTime.seconds(since: span.start.fileTime) == 5400)
        #expect(span.start.nanoseconds == 5)
    }

    @Test func daysFollowEachOther() throws {
        let (yesterday, today) = try (
            #require(TimeSpan("yesterday", now: now)), #require(TimeSpan("today", now: now))
        )
        #expect(yesterday.end == today.start && today.start <= now && now < today.end)
        #expect(today.end.fileTime.seconds(since: today.start.fileTime) == 86_400)
    }

    @Test(arguments: [
        "", "tomorrow", "Today", "2026", "2026-11", "2026-11-31", "2026-13-01", "2026-11-2", "2026-11-20T",
        "2026-11-20 1", "2026-11-20T24:00", "2026-11-20T10:60", "2026-11-20T10:00:60", "2026-11-20T10:00:00.",
        "2026-11-20T10:00:00.1234567890Z", "2026-11-20T10:00z", "2026-11-20T10:00+1",
        "2026-11-20T10:00+01:60",
        "2026-11-20T10:00ZZ", "2026-11-20 10:00 CET", "-7d", " 7d", "7", "99999999999h",
    ])
    func noTime(text: String) {
        #expect(TimeSpan(text) == nil)
    }
}
