import FileSystem
import Testing

@testable import FsyncLite

/// A scan at 1,000 s, with a window of 60 s.
struct RacyCheckTests {
    private func check(_ change: (inout RacyCheck) -> Void = { _ in }) -> RacyCheck {
        with(RacyCheck(scanned: seconds(1000), clock: KernelClock(boot: "now", uptime: 500_000)), change)
    }

    private func entry(changed: Int64, modified: Int64 = 1) -> FileStatus {
        with(status(.file)) { ($0.changed, $0.modified) = (seconds(changed), seconds(modified)) }
    }

    private func marks(_ entry: FileStatus, _ check: RacyCheck, racy: Bool? = nil) -> EntryMarks {
        check.marks(of: entry, recorded: racy.map { _ in entry.changed }, racy == true ? .racy : [])
    }

    @Test func youngIsWhatChangedLessThanAWindowAgo() {
        #expect(marks(entry(changed: 940), check()) == [])
        #expect(marks(entry(changed: 941), check()) == .racy)
        // From a clock that is ahead.
        #expect(marks(entry(changed: 2000), check()) == .racy)
        #expect(marks(entry(changed: 990), check { $0.window = 10 }) == [])
    }

    /// Only if change times are used.
    @Test func whatWasFoundSettledIsNotRacy() {
        let young = entry(changed: 2000)
        func marks(_ check: RacyCheck, recorded: FileTime? = nil, _ marks: EntryMarks = []) -> EntryMarks {
            check.marks(of: young, isSettled: true, recorded: recorded, marks)
        }
        #expect(marks(check()) == [])
        #expect(marks(check(), recorded: young.changed, .racy) == [])
        #expect(marks(check { $0.sharesClock = false }) == .racy)
        #expect(marks(check { $0.usesChangeTime = false }) == [])
    }

    /// It cannot be mapped.
    @Test func whatIsNoFileIsRacyOnlyForTheMomentOfTheScan() {
        var link = with(status(.symlink)) { $0.device = DeviceNumber(major: 8, minor: 1) }
        let telling = check { $0.devicesShowingChanges = [DeviceNumber(major: 8, minor: 1)] }
        for (changed, racy) in [
            (FileTime(seconds: 999, nanoseconds: 999_999_999), false), (seconds(1000), true),
            // From a file system with times of whole seconds.
            (seconds(999), true), (seconds(998), false),
        ] {
            link.changed = changed
            #expect(telling.marks(of: link, recorded: nil, []) == (racy ? .racy : []))
            #expect(check().marks(of: link, recorded: nil, []) == .racy)
        }
    }

    @Test func withoutChangeTimesTheModificationTimeTells() {
        let blind = check { $0.usesChangeTime = false }
        #expect(marks(entry(changed: 999, modified: 940), blind) == [])
        #expect(marks(entry(changed: 1, modified: 941), blind) == .racy)
    }

    /// Its new times prove nothing, however old they look.
    @Test func ofAForeignClockEveryNewTimeIsRacyOnce() {
        let foreign = check { $0.sharesClock = false }
        #expect(marks(entry(changed: 1), foreign) == .racy)
        #expect(marks(entry(changed: 1), foreign, racy: false) == [])
        #expect(marks(entry(changed: 1), check()) == [])
    }

    /// The clock of another machine, or of a manifest.
    @Test(arguments: [Int64.min, -1, 0, 1, .max]) func clocksAtTheEndsOfTheirRangesAreJudged(end: Int64) {
        for (time, uptime, window) in [
            (end, end, 60), (~end, end, Int64.max), (1000, end, 60), (end, 1, .max),
        ] {
            let far = with(check { $0.previous = (seconds(time), KernelClock(boot: "now", uptime: uptime)) })
            {
                ($0.scanned, $0.window) = (seconds(end), window)
            }
            for changed in [Int64.min, 0, .max] {
                let entry = entry(changed: changed)
                #expect([.racy, []].contains(marks(entry, far, racy: true)))
                #expect([.racy, []].contains(marks(entry, far)))
            }
        }
    }

    @Test func racyEndsAWindowAfterItWasFound() {
        func later(_ milliseconds: Int64, boot: String = "now") -> RacyCheck {
            check { $0.previous = (seconds(900), KernelClock(boot: boot, uptime: 500_000 - milliseconds)) }
        }
        let known = entry(changed: 899)
        #expect(marks(known, check(), racy: true) == [])
        // A restore is not a scan, so the age of the mark is unknown.
        #expect(marks(entry(changed: 980), check(), racy: true) == .racy)
        #expect(marks(known, later(60_000), racy: true) == [])
        // The two clocks disagree, so one was set.
        #expect(marks(known, later(59_999), racy: true) == .racy)
        // After another boot, nothing from before it is written back.
        #expect(marks(known, later(1, boot: "before"), racy: true) == [])
        // The clocks agree, and the time itself is old.
        let soon = check { $0.previous = (seconds(990), KernelClock(boot: "now", uptime: 490_000)) }
        #expect(marks(known, soon, racy: true) == [])
        #expect(marks(entry(changed: 980), soon, racy: true) == .racy)
    }

    @Test func aCommitAccountsForTimesWithinIt() {
        var commitSpans = CommitSpans(spans: [seconds(10)..<seconds(20), seconds(30)..<seconds(31)])
        func status(_ type: FileType, _ time: Int64) -> FileStatus {
            var status = FileStatus(type: type, modified: seconds(0))
            status.changed = seconds(time)
            return status
        }
        for (time, isAccounted) in [(9, false), (10, true), (19, true), (20, false), (30, true), (31, false)]
        {
            for type in [FileType.file, .directory] {
                #expect(commitSpans.accounts(for: status(type, Int64(time))) == isAccounted, "\(time)")
            }
        }
        // Without a scan, only the objects of the commit were looked at.
        commitSpans.isWithoutScan = true
        #expect(
            commitSpans.accounts(for: status(.file, 10)) && !commitSpans.accounts(for: status(.directory, 10))
        )
    }
}
