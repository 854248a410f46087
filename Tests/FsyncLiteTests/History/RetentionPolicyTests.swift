import Foundation
import Testing

@testable import FsyncLite

struct RetentionPolicyTests {
    /// Newest first, in times such as `2026-11-20T09:00`.
    private func kept(_ times: [String], labels: [Int: String] = [:], _ policy: RetentionPolicy) -> [String] {
        let snapshots = times.enumerated().map { index, time in
            var snapshot = Snapshot(id: time, created: time.isEmpty ? nil : Timestamp(text: "\(time):00Z"))
            snapshot.label = labels[index]
            return snapshot
        }
        return policy.reasons(for: snapshots).map { $0.joined(separator: ", ") }
    }

    private func policy(_ change: (inout RetentionPolicy) -> Void) -> RetentionPolicy {
        var policy = RetentionPolicy()
        change(&policy)
        return policy
    }

    @Test func thePresentTreeIsNotOneOfTheLast() {
        let times = ["2026-11-20T12:00", "2026-11-20T11:00", "2026-11-20T10:00"]
        #expect(kept(times, policy { $0.keepLast = 1 }) == ["present", "last", ""])
        #expect(kept(times, policy { $0.keepLast = 0 }) == ["present", "", ""])
    }

    @Test func newestOfEachDayThatHasOne() {
        let times = [
            "2026-11-20T12:00", "2026-11-20T11:00", "2026-11-18T23:00", "2026-11-18T22:00",
            "2026-11-01T10:00",
        ]
        #expect(kept(times, policy { $0.keepDaily = 2 }) == ["present, daily", "", "daily", "", ""])
        #expect(
            kept(times, policy { ($0.keepDaily, $0.keepMonthly, $0.keepYearly) = (3, 5, 1) })
                == ["present, daily, monthly, yearly", "", "daily", "", "daily"])
    }

    @Test func weeksBeginOnMonday() {
        // 2026-11-16 is a Monday.
        let times = ["2026-11-17T00:00", "2026-11-16T00:00", "2026-11-15T23:59", "2026-11-09T00:00"]
        #expect(kept(times, policy { $0.keepWeekly = 9 }) == ["present, weekly", "", "weekly", ""])
    }

    @Test func hoursAreThoseOfTheClock() {
        let times = ["2026-11-20T12:01", "2026-11-20T11:59", "2026-11-20T11:00"]
        #expect(kept(times, policy { $0.keepHourly = 2 }) == ["present, hourly", "hourly", ""])
    }

    @Test func ageCountsFromTheNewest() {
        let times = ["2020-01-10T12:00", "2020-01-08T12:00", "2020-01-08T11:59", ""]
        let age = Age("2d")
        #expect(
            kept(times, policy { $0.keepWithin = age }) == ["present, within 2d", "within 2d", "", ""])
    }

    @Test func labels() {
        let times = ["2026-11-20T12:00", "2026-11-20T11:00", "2026-11-20T10:00"]
        let labels = [1: "a", 2: "b"]
        #expect(kept(times, labels: labels, policy { $0.keepLabel = ["b"] }) == ["present", "", "label b"])
        #expect(
            kept(times, labels: labels, Settings().retention) == ["present", "last, label a", "label b"])
        var settings = Settings()
        settings.rules.keepLabel = []
        #expect(kept(times, labels: labels, settings.retention) == ["present", "last", ""])
    }

    /// To users of restic `6m` is half a year; as minutes it would let the history go.
    @Test(arguments: ["6m", "1y6m", "3600s"])
    func minutesAreNoRetention(text: String) throws {
        #expect(Age(text) != nil && RetentionPolicy.within(text) == nil)
        #expect(throws: SyncError.self) {
            try JSONDocument.decode(RetentionPolicy.self, from: Data(#"{"keep_within": "\#(text)"}"#.utf8))
        }
    }

    @Test func emptyPolicyIsTold() {
        #expect(RetentionPolicy().isEmpty)
        #expect(!policy { $0.keepLast = 0 }.isEmpty)
    }
}
