import FileSystem
import Testing

@testable import FsyncLite

/// Two entries of one type, and the record of them.
struct ComparisonTests {
    /// An object of the source, its copy in the target, and the record of both, all equal.
    struct Entry: Sendable {
        var source: FileStatus
        var target: FileStatus
        var record: FileStatus
        var targetChanged: FileTime? = seconds(20)
        var marks: EntryMarks = []
        var destinations = ("", "")
        var policy = ComparisonPolicy()

        init(_ type: FileType) {
            source = status(type)
            (source.inode, source.created, source.changed) = (7, seconds(1), seconds(10))
            (source.permissions, source.size) = (0o644, type == .file ? 5 : 0)
            record = source
            target = source
            (target.inode, target.created, target.changed) = (70, seconds(2), seconds(20))
            policy.commitSpans = CommitSpans(spans: [seconds(30)..<seconds(40)])
        }

        var compared: Match {
            func file(_ status: FileStatus, _ destination: String) -> File {
                File(path: path("a"), status: status, destination: Array(destination.utf8))
            }
            let record = BaseEntry(
                status: record, targetInode: 70, targetChanged: targetChanged, marks: marks)
            var match = Match(
                source: file(source, destinations.0), target: file(target, destinations.1), base: record)
            match.compare(by: policy)
            return match
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let entry: Entry

        init(_ description: String, _ type: FileType = .file, _ change: (inout Entry) -> Void) {
            (testDescription, entry) = (description, with(Entry(type), change))
        }
    }

    // MARK: What differs

    static let differences: [(Row, Causes)] = [
        (Row("nothing") { _ in }, []),
        (Row("longer") { $0.source.size = 6 }, .size),
        (Row("newer") { $0.source.modified = seconds(2) }, .modified),
        (Row("older") { $0.source.modified = seconds(0) }, .modified),
        (Row("a nanosecond") { $0.source.modified.nanoseconds = 1 }, .modified),
        (Row("mode") { $0.source.permissions = 0o640 }, .mode),
        (Row("owner") { $0.source.owner = 5 }, .owner),
        (Row("group") { $0.source.group = 5 }, .group),
        (Row("mode of a directory", .directory) { $0.source.permissions = 0o700 }, .mode),
        // A symlink has no mode.
        (Row("mode of a symlink", .symlink) { $0.source.permissions = 0o777 }, []),
        (Row("destination", .symlink) { $0.destinations = ("a", "b") }, .destination),
        (Row("device", .blockDevice) { $0.source.represents.minor = 1 }, .device),
        (Row("size of a directory", .directory) { $0.source.size = 4096 }, []),
    ]

    @Test(arguments: differences) func oneDifferenceIsOneCause(row: Row, causes: Causes) {
        let match = row.entry.compared
        #expect(match.causes == causes)
        let makesAnew: Causes = [.size, .destination, .device]
        #expect(
            match.replacesContent
                == (row.entry.source.type == .file && causes == .modified
                    || !causes.isDisjoint(with: makesAnew)))
    }

    @Test func whatTheTargetLostIsDrift() {
        #expect(with(Entry(.file)) { $0.target.permissions = 0o600 }.compared.causes == [.mode, .drift])
    }

    @Test func ownersCountOnlyWhereTheyAreMirrored() {
        let entry = with(Entry(.file)) {
            ($0.source.owner, $0.source.group) = (5, 5)
            $0.policy.attributes.remove(.owner)
        }
        #expect(entry.compared.causes == [])
    }

    // MARK: What is believed

    /// The size and the time are equal. Is the content treated as equal?
    static let beliefs: [(Row, isBelieved: Bool)] = [
        (Row("as recorded") { _ in }, true),
        (Row("the source's change time") { $0.source.changed = seconds(11) }, false),
        (Row("the source's inode") { $0.source.inode = 8 }, false),
        (Row("an inode that was used again") { $0.source.created = seconds(3) }, false),
        (
            Row("no change times") {
                $0.policy.keepsIdentity = false
                $0.source.changed = seconds(11)
            }, true
        ),
        (
            Row("no inodes") {
                $0.policy.keepsIdentity = false
                ($0.source.inode, $0.source.created) = (8, nil)
            }, true
        ),
        (Row("racy") { $0.marks = .racy }, false),
        (Row("growing") { $0.marks = .growing }, false),
        (
            Row("not examined last time") {
                ($0.record.changed, $0.source.changed) = (FileTime.unexamined, FileTime.unexamined)
            }, false
        ),
        (Row("the target's change time") { $0.target.changed = seconds(21) }, false),
        (
            Row("the target's change time, and nobody looks") {
                $0.policy.trustsTarget = true
                $0.target.changed = seconds(21)
            }, true
        ),
        (Row("the target's inode") { $0.target.inode = 71 }, false),
        (Row("a commit's time") { ($0.targetChanged, $0.target.changed) = (nil, seconds(39)) }, true),
        (Row("after the commit") { ($0.targetChanged, $0.target.changed) = (nil, seconds(40)) }, false),
        (Row("a commit's time where another is known") { $0.target.changed = seconds(35) }, false),
        (
            Row("uncovered, and a commit's time") {
                ($0.marks, $0.targetChanged, $0.target.changed) = (.uncovered, nil, seconds(35))
            }, false
        ),
        (Row("suspect") { $0.policy.suspects = [70] }, false),
        (Row("--checksum") { $0.policy.alwaysComparesContent = true }, false),
    ]

    @Test(arguments: beliefs) func contentIsReadWhereNothingVouchesForIt(row: Row, isBelieved: Bool) {
        let match = row.entry.compared
        #expect(match.causes == [])
        #expect(match.needsContentComparison == !isBelieved)
    }

    // MARK: What is recorded

    /// Nothing has to be done. Does the record differ from that of a new manifest?
    static let records: [(Row, isStale: Bool)] = [
        (Row("as recorded") { _ in }, false),
        (Row("the source's change time") { $0.source.changed = seconds(11) }, true),
        (
            Row("no change times") {
                $0.policy.keepsIdentity = false
                $0.source.changed = seconds(11)
            }, false
        ),
        (Row("the source's inode") { $0.source.inode = 8 }, true),
        (Row("names of the source") { $0.source.links = 2 }, true),
        (Row("the target's change time") { $0.target.changed = seconds(21) }, true),
        (
            Row("not examined") {
                ($0.record.changed, $0.source.changed) = (FileTime.unexamined, FileTime.unexamined)
            }, true
        ),
        (Row("the target's mode") { $0.target.permissions = 0o600 }, true),
    ]

    @Test(arguments: records) func recordIsMadeAnewWhereItIsNoLongerTrue(row: Row, isStale: Bool) {
        #expect(row.entry.compared.isStale(row.entry.policy) == isStale)
    }

    /// The changes that make the target's object, or its content, another one than recorded.
    static let edits: [(Row, isIntact: Bool)] = [
        (Row("type") { $0.target.type = .symlink }, false),
        (Row("inode") { $0.target.inode = 71 }, false),
        (Row("size") { $0.target.size = 6 }, false),
        (Row("modification time") { $0.target.modified = seconds(2) }, false),
        (Row("mode") { $0.target.permissions = 0o600 }, true),
        (Row("owner") { $0.target.owner = 5 }, true),
        (Row("group") { $0.target.group = 5 }, true),
    ]

    @Test(arguments: edits) func everyEditOfTheTargetIsSeen(row: Row, isIntact: Bool) {
        let record = BaseEntry(status: row.entry.record, targetInode: 70)
        #expect(!record.differs(from: Entry(.file).target))
        #expect(record.differs(from: row.entry.target))
        #expect(record.known.isIntact(in: Entry(.file).target))
        #expect(record.known.isIntact(in: row.entry.target) == isIntact)
    }

    /// The change times of the target that show an edit. The last commit began at 30 and ended at 40.
    static let changeTimes: [(Row, showsEdit: Bool)] = [
        (Row("as recorded") { _ in }, false),
        (Row("another than recorded") { $0.target.changed = seconds(21) }, true),
        (
            Row("none recorded, in the commit") {
                ($0.targetChanged, $0.target.changed) = (nil, seconds(35))
            }, false
        ),
        (Row("none recorded, before it") { $0.targetChanged = nil }, false),
        (Row("none recorded, after it") { ($0.targetChanged, $0.target.changed) = (nil, seconds(41)) }, true),
        (Row("none recorded, a suspect") { ($0.targetChanged, $0.policy.suspects) = (nil, [70]) }, true),
        (Row("none recorded, another size") { ($0.targetChanged, $0.target.size) = (nil, 6) }, true),
    ]

    @Test(arguments: changeTimes) func aChangeTimeTellsOfAnEditOnlyIfItIsNews(row: Row, showsEdit: Bool) {
        let entry = row.entry
        let record = BaseEntry(status: entry.record, targetInode: 70, targetChanged: entry.targetChanged)
        #expect(entry.policy.showsEdit(of: entry.target, since: record.known) == showsEdit)
    }
}
