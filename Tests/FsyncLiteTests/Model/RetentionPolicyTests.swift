import FileStorage
import Foundation
import TestSupport
import Testing

@testable import FsyncLite

struct RetentionPolicyTests {
    /// The newest first, in times such as `2026-11-20T09:00`.
    private func kept(
        _ times: [String], labels: [Int: String] = [:], offsets: [Int: Int64] = [:], _ policy: RetentionPolicy
    ) -> [String] {
        let snapshots = times.enumerated().map { index, time in
            Snapshot(
                id: time, created: time.isEmpty ? nil : Timestamp(iso8601: "\(time):00Z"),
                utcOffset: offsets[index] ?? 0, label: labels[index])
        }
        return policy.reasons(for: snapshots).map { $0.joined(separator: ", ") }
    }

    /// The reason why the tree before the present one is kept if no rule asks for it.
    private let previous = "before the present"

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
        #expect(kept(times, policy { $0.keepDaily = 2 }) == ["present, daily", previous, "daily", "", ""])
        #expect(
            kept(times, policy { ($0.keepDaily, $0.keepMonthly, $0.keepYearly) = (3, 5, 1) })
                == ["present, daily, monthly, yearly", previous, "daily", "", "daily, oldest monthly"])
    }

    @Test func weeksBeginOnMonday() {
        // 2026-11-16 is a Monday.
        let times = ["2026-11-17T00:00", "2026-11-16T00:00", "2026-11-15T23:59", "2026-11-09T00:00"]
        #expect(
            kept(times, policy { $0.keepWeekly = 9 })
                == ["present, weekly", previous, "weekly", "oldest weekly"])
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

    @Test func newestOfEachDayUpToAnAge() {
        let times = [
            "2020-01-10T12:00", "2020-01-10T11:00", "2020-01-09T23:00", "2020-01-08T12:00",
            "2020-01-08T11:59",
            "2020-01-01T00:00", "",
        ]
        let daily = "daily within 2d"
        #expect(
            kept(times, policy { $0.keepWithinDaily = Age("2d") })
                == ["present, \(daily)", previous, daily, daily, "", "", ""])
        #expect(
            kept(times, policy { ($0.keepWithinHourly, $0.keepDaily) = (Age("1h"), 1) })
                == ["present, hourly within 1h, daily", "hourly within 1h", "", "", "", "", ""])
    }

    @Test func labels() {
        let times = ["2026-11-20T12:00", "2026-11-20T11:00", "2026-11-20T10:00"]
        let labels = [1: "a", 2: "b"]
        #expect(
            kept(times, labels: labels, policy { $0.keepLabel = ["b"] }) == ["present", previous, "label b"])
        let rules = RetentionOptions().rules(stored: nil, Settings(keepLast: 1).rules).policy
        #expect(kept(times, labels: labels, rules) == ["present", "last, label a", "label b"])
        var settings = Settings(keepLast: 1)
        settings.rules.keepLabel = []
        let others = RetentionOptions().rules(stored: nil, settings.rules).policy
        #expect(kept(times, labels: labels, others) == ["present", "last", ""])
    }

    @Test func theOldestStaysWhileARuleHasCountsLeft() {
        let times = ["2026-11-20T12:00", "2026-11-20T11:00", "2026-11-20T10:00"]
        #expect(kept(times, policy { $0.keepDaily = 1 }) == ["present, daily", previous, ""])
        #expect(kept(times, policy { $0.keepDaily = 2 }) == ["present, daily", previous, "oldest daily"])
        // The tree that the first run found has no time. A tree with a time is kept instead.
        #expect(
            kept(times + [""], policy { $0.keepDaily = 2 })
                == ["present, daily", previous, "oldest daily", ""])
        #expect(kept([times[0], ""], policy { $0.keepDaily = 2 }) == ["present, daily", previous])
        #expect(kept([times[0]], policy { $0.keepYearly = 9 }) == ["present, yearly"])
    }

    @Test func whatTheFirstApplyFoundIsAsOldAsThatApply() {
        let times = ["2026-11-20T12:00", "2026-11-14T12:00", ""]
        let kept7 = kept(times, policy { $0.keepWithin = .init("7d") })
        #expect(kept7 == ["present, within 7d", "within 7d", "within 7d"])
        #expect(
            kept(times, policy { $0.keepWithin = .init("1d") }) == ["present, within 1d", previous, ""])
    }

    /// The newest first. The run that asks has made the first one.
    private func keptAfterRun(_ times: [String], _ policy: RetentionPolicy) -> [String] {
        let snapshots = times.map { Snapshot(id: $0, created: Timestamp(iso8601: "\($0):00Z")) }
        return policy.reasons(for: snapshots, newestBefore: 1, began: snapshots[0].created).map {
            $0.joined(separator: ", ")
        }
    }

    @Test func aClockThatIsAheadEmptiesNothing() {
        let rules = policy { ($0.keepWithin, $0.keepLast) = (.init("7d"), 1) }
        let ahead = ["2027-11-20T12:00", "2026-11-20T12:00", "2026-11-19T12:00", "2026-10-01T12:00"]
        #expect(keptAfterRun(ahead, rules) == ["present, within 7d", "last, within 7d", "within 7d", ""])
        // The next run, whose clock is right, does not either.
        let behind = ["2026-11-21T12:00"] + ahead
        #expect(
            keptAfterRun(behind, rules)
                == ["present", "last, within 7d", "clock", "clock", "clock"])
        let after = ["2026-11-22T12:00"] + behind
        #expect(
            keptAfterRun(after, rules)
                == ["present, within 7d", "last, within 7d", "within 7d", "within 7d", "within 7d", ""])
    }

    /// A change of filters alone makes a snapshot, too.
    @Test func eachSnapshotCountsAsOneOfTheLast() {
        let snapshots = [ActionSummary(), nil, ActionSummary()].map { Snapshot(id: "", summary: $0) }
        #expect(policy { $0.keepLast = 1 }.reasons(for: snapshots) == [["present"], ["last"], []])
    }

    /// The same rules remove nothing that the last run kept. The guard against new rules depends on this.
    @Test(arguments: 0..<40) func whatARunLeftItsRulesLeaveAgain(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        func number(_ range: ClosedRange<Int>) -> Int? {
            Bool.random(using: &random) ? .random(in: range, using: &random) : nil
        }
        let rules = policy {
            ($0.keepLast, $0.keepDaily, $0.keepWeekly) = (number(1...5), number(1...9), number(1...5))
            ($0.keepMonthly, $0.keepYearly) = (number(1...14), number(1...3))
            $0.keepWithin = number(1...40).flatMap { Age("\($0)d") }
            $0.keepWithinWeekly = number(1...9).flatMap { Age("\($0)w") }
        }
        var (snapshots, seconds) = ([Snapshot(id: "initial")], Int64(1_700_000_000))
        for run in 0..<60 {
            seconds += Int64.random(in: 3600...(run % 9 == 8 ? 90 : 2) * 86_400, using: &random)
            let now = try #require(Timestamp(seconds: seconds, nanoseconds: 0))
            let again = rules.reasons(for: snapshots, newestBefore: 1, began: now)
            #expect(again.allSatisfy { !$0.isEmpty } || run == 0, "\(rules), run \(run)")
            let hasChanged = Int.random(in: 0..<5, using: &random) > 0
            if hasChanged { snapshots.insert(Snapshot(id: "\(run)", created: now), at: 0) }
            let reasons = rules.reasons(for: snapshots, newestBefore: hasChanged ? 1 : 0, began: now)
            snapshots = zip(snapshots, reasons).filter { !$1.isEmpty }.map { $0.0 }
        }
    }

    // MARK: The tree before the present one

    @Test(arguments: [
        \RetentionPolicy.keepHourly, \.keepDaily, \.keepWeekly, \.keepMonthly, \.keepYearly,
    ])
    func theTreeBeforeIsKeptByAnyRule(rule: WritableKeyPath<RetentionPolicy, Int?> & Sendable) {
        let times = ["2026-11-20T12:03", "2026-11-20T12:02", "2026-11-20T12:01", ""]
        for count in [0, 1, 7] {
            var rules = policy { $0[keyPath: rule] = count }
            #expect(kept(times, rules)[1] == previous)
            rules.keepLast = 0
            #expect(kept(times, rules)[1] == previous)
        }
    }

    @Test func onlyTheHistorySwitchedOffLacksIt() {
        #expect(policy { $0.keepLast = 0 }.isOff)
        #expect(policy { ($0.keepLast, $0.keepLabel, $0.keepsLabelled) = (0, [], true) }.isOff)
        #expect(!policy { $0.keepLast = 1 }.isOff && !RetentionPolicy().isOff)
        #expect(!policy { ($0.keepLast, $0.keepDaily) = (0, 1) }.isOff)
    }

    // MARK: Zones

    /// Each time is local to the zone in which its own run was planned.
    @Test func daysAndWeeksAreThoseOfTheZoneOfTheRun() {
        // In Auckland it is 2026-11-21, 01:00, and 2026-11-20, 23:00.
        let times = ["2026-11-20T12:00", "2026-11-20T10:00", "2026-11-20T09:00"]
        let auckland: [Int: Int64] = [0: 46_800, 1: 46_800, 2: 46_800]
        #expect(
            kept(times, offsets: auckland, policy { $0.keepDaily = 2 })
                == ["present, daily", "daily", ""])
        #expect(
            kept(times, offsets: [:], policy { $0.keepDaily = 2 })
                == ["present, daily", previous, "oldest daily"])
        // Sunday, 23:30 in UTC, is Monday in Berlin.
        let weeks = ["2026-11-16T10:00", "2026-11-15T23:30", "2026-11-15T22:30"]
        let berlin: [Int: Int64] = [0: 3600, 1: 3600, 2: 3600]
        #expect(
            kept(weeks, offsets: berlin, policy { $0.keepWeekly = 2 })
                == ["present, weekly", previous, "weekly"])
        // Another zone of the newest run moves no older snapshot.
        #expect(
            kept(weeks, offsets: [0: -36_000, 1: 3600, 2: 3600], policy { $0.keepWeekly = 3 })
                == ["present, weekly", previous, "weekly"])
    }

    @Test func theHourThatComesTwiceInAutumnIsTwoHours() {
        // 02:30 in Berlin, before and after the clock is set back.
        let times = ["2026-10-25T03:30", "2026-10-25T01:30", "2026-10-25T00:30", "2026-10-24T23:00"]
        let offsets: [Int: Int64] = [0: 3600, 1: 3600, 2: 7200, 3: 7200]
        #expect(
            kept(times, offsets: offsets, policy { $0.keepHourly = 3 })
                == ["present, hourly", "hourly", "hourly", ""])
        #expect(
            kept(times, offsets: offsets, policy { $0.keepDaily = 2 })
                == ["present, daily", previous, "", "oldest daily"])
    }

    /// A month is as long as in the calendar: March 31 less one month is February 28.
    @Test(arguments: [
        ("2026-01-15", "1mo", "2025-12-15"), ("2026-01-15", "2mo", "2025-11-15"),
        ("2026-03-31", "1y", "2025-03-31"), ("2026-03-31", "1mo", "2026-02-28"),
        ("2024-03-31", "1mo", "2024-02-29"),
        ("2024-02-29", "1y", "2023-02-28"), ("2026-01-31", "2mo", "2025-11-30"),
        ("2026-03-28", "1mo", "2026-02-28"),
    ])
    func monthsClamp(day: String, age: String, earlier: String) throws {
        let time = try #require(Timestamp(iso8601: "\(day)T12:00:00Z"))
        #expect(Age(age)?.before(time).description == "\(earlier)T12:00:00Z")
    }

    // MARK: Where rules stand

    @Test func theFirstPlaceWithAnyRuleCountsWhole() {
        var options = RetentionOptions()
        var settings = Settings()
        func rules() -> String {
            let rules = options.rules(stored: stored, settings.rules)
            return "\(rules.policy) \(rules.origin)"
        }
        var stored: RetentionPolicy?
        #expect(rules() == "keep_last 3, keep_within 7d builtIn")
        options.defaults = policy { $0.keepDaily = 1 }
        #expect(rules() == "keep_daily 1 defaults")
        stored = policy { $0.keepWeekly = 2 }
        #expect(rules() == "keep_weekly 2 stored")
        options.settings = policy { $0.keepMonthly = 3 }
        #expect(rules() == "keep_monthly 3 settings")
        settings.rules.keepLast = 4
        #expect(rules() == "keep_last 4 settings")
        options.given = policy { $0.keepYearly = 5 }
        #expect(rules() == "keep_yearly 5 given")
        #expect(options.stored(over: stored) == options.given)

        options = RetentionOptions()
        settings = Settings()
        options.forgetsStored = true
        #expect(rules() == "keep_last 3, keep_within 7d builtIn")
        #expect(options.stored(over: stored) == nil)
    }

    /// A rule with only an empty list would remove everything.
    @Test func anEmptyListOfLabelsIsNoRule() {
        var settings = Settings()
        settings.rules.keepLabel = []
        #expect(RetentionOptions().rules(stored: nil, settings.rules).origin == .builtIn)
    }

    /// For users of restic, `6m` is half a year. Read as minutes, it would remove the history.
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
