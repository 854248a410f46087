import FileStorage
import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

/// One row for each reason to refuse: the facts, the message, and what allows it.
struct GuardTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let option: String?
        /// Makes the facts that are refused.
        let arrange: @Sendable (inout GuardFacts) throws -> Void
        /// Each allows it, or changes the facts so that they are just within the bounds. There is none if only the
        /// facts before `arrange` are allowed, which every row checks.
        let settlements: [@Sendable (inout GuardFacts) throws -> Void]

        init(
            _ reason: String, option: String? = nil,
            when arrange: @escaping @Sendable (inout GuardFacts) throws -> Void,
            butNot settle: (@Sendable (inout GuardFacts) throws -> Void)? = nil,
            orIf other: (@Sendable (inout GuardFacts) throws -> Void)? = nil
        ) {
            (testDescription, self.option, self.arrange) = (reason, option, arrange)
            settlements = [settle, other].compactMap { $0 }
        }
    }

    static let rows: [Row] = [
        Row("the source is empty, and the target has 3 files and directories", option: "--allow-empty-source")
        {
            try $0.setPlan(deleted: 3)
            $0.plan = Plan(with($0.plan.difference) { $0.sourceCount = 0 }, root: nil)
            $0.record(files: 3)
        } butNot: {
            $0.options.allowEmptySource = true
        },
        Row("11 of the target's 21 files and directories would be deleted", option: "--max-delete 11") {
            try $0.setPlan(deleted: 11, of: 21)
            $0.record(files: 21)
        } butNot: {
            $0.options.deleteLimit = .count(11)
        } orIf: {
            // A half is not more than half.
            try $0.setPlan(deleted: 11, of: 22)
        },
        Row("11 of the target's 20 files and directories would be deleted", option: "--max-delete 11") {
            try $0.setPlan(deleted: 11, of: 20)
            $0.record(files: 20)
        } butNot: {
            // Ten files are never many.
            try $0.setPlan(deleted: 10, of: 10)
        },
        Row(
            "3 of the target's 11 files and directories would be deleted, and the limit is 27%",
            option: "--max-delete 3"
        ) {
            try $0.setPlan(deleted: 3, of: 11)
            $0.record(files: 11)
            $0.options.deleteLimit = .percent(27)
        } butNot: {
            $0.options.deleteLimit = .percent(28)
        },
        Row(
            "26 of the target's 100 files and directories would be deleted, and the limit is 25%",
            option: "--max-delete 26"
        ) {
            try $0.setPlan(deleted: 26, of: 100)
            $0.record(files: 100)
            $0.options.deleteLimit = .percent(25)
        } butNot: {
            try $0.setPlan(deleted: 25, of: 100)
        },
        Row(
            "the target has 2 files and directories, and fsync-lite has never written to it",
            option: "--adopt"
        ) {
            try $0.setPlan(deleted: 1, of: 2)
        } butNot: {
            $0.options.adopt = true
        },
        Row(#"the target was renamed after an exchange, and its state .old.fsync-lite was not"#) {
            try $0.setPlan(deleted: 1, of: 2)
            $0.stateElsewhere = Array(".old.fsync-lite".utf8)
        } butNot: {
            $0.record(files: 2)
        },
        Row(
            "the source is another directory, on another file system, than last time (/was)",
            option: "--change-source"
        ) {
            $0.recordAnotherSource()
        } butNot: {
            $0.options.changeSource = true
        } orIf: {
            // A disk that was copied, or mounted elsewhere.
            $0.sources[0].identity = GuardFacts.lastSource.identity
        },
        Row("the source is another directory than last time (/was)", option: "--change-source") {
            $0.recordAnotherSource()
            ($0.sources[0].fileSystem, $0.sources[0].path) = (
                GuardFacts.lastSource.fileSystem, Array("/is".utf8)
            )
        } butNot: {
            // The same path with a new directory.
            $0.sources[0].path = Array("//was/./".utf8)
        },
        Row("something is mounted in the target, at d; unmount it") {
            $0.mounts = [(path("d"), true)]
        },
        Row("another file system or subvolume begins in the target, at d; move it away") {
            $0.mounts = [(path("d"), false)]
        },
        Row("the target can have only one of A and a", option: "--exclude /a") {
            $0.collisions = [(path("A"), path("a"))]
        },
        Row("the content of f changed in the source, but its size and time did not", option: "--trust-source")
        {
            $0.rotten = [path("f")]
        },
        Row("gone0 in the target is immutable. To change that: chattr -i") {
            try $0.setPlan(deleted: 1)
            $0.record(files: 1)
            $0.locked = [path("gone0"): with(status(.file)) { $0.isImmutable = true }]
        } butNot: {
            // Another file is immutable.
            $0.locked = [path("other"): with(status(.file)) { $0.isImmutable = true }]
        },
        Row("d in the target is immutable. To change that: chattr -i") {
            // A name in it is removed.
            try $0.setPlan(deleted: 1, in: "d/")
            $0.record(files: 1)
            $0.locked = [path("d"): with(status(.directory)) { $0.isImmutable = true }]
        } butNot: {
            try $0.setPlan(deleted: 1, in: "e/")
        },
        Row("d in the target is immutable. To change that: chattr -i") {
            // A file in it gets new content, so a new file replaces it.
            $0.setChanged("d/f")
            $0.locked = [path("d"): with(status(.directory)) { $0.isImmutable = true }]
        } butNot: {
            $0.setChanged("e/f")
        },
        Row("d in the target is immutable. To change that: chattr -i") {
            // A name in it moves elsewhere.
            $0.setRenamed("d/f", to: "g")
            $0.locked = [path("d"): with(status(.directory)) { $0.isImmutable = true }]
        } butNot: {
            $0.setRenamed("e/f", to: "g")
        },
        Row("d in the target is immutable. To change that: chattr -i") {
            // A name moves into it.
            $0.setRenamed("f", to: "d/f")
            $0.locked = [path("d"): with(status(.directory)) { $0.isImmutable = true }]
        } butNot: {
            $0.setRenamed("f", to: "e/f")
        },
        Row("other in the target is append-only. To change that: chattr -a") {
            $0.options.exchanges = true
            $0.locked = [path("other"): with(status(.file)) { $0.isAppendOnly = true }]
        } butNot: {
            $0.options.exchanges = false
        },
        Row("the target's root is immutable. To change that: chattr -i") {
            $0.root = with(status(.directory)) { $0.isImmutable = true }
        } butNot: {
            $0.plan = Plan(Difference(), root: nil)
        },
        Row(
            "the target's file system, exfat, cannot promise all or nothing. It lacks an exchange of two names",
            option: "--weak-commit"
        ) {
            $0.capabilities = .weak
        } butNot: {
            $0.options.allowsWeakCommit = true
        },
        Row("the target's file system is mounted read-only") {
            $0.info.isReadOnly = true
        } butNot: {
            $0.plan = Plan(Difference(), root: nil)
        },
        Row("135977 B are needed and 135976 B are free in the target") {
            $0.info.availableBytes = 135_976
        } butNot: {
            $0.info.availableBytes = 135_977
        },
        Row(
            "135977 B are needed and 135968 B are free in the target; snapshot prune --keep-last 0 frees 9 B"
        ) {
            $0.info.availableBytes = 135_968
            $0.prunable.bytes = 9
        } butNot: {
            $0.givingWay = ["a snapshot"]
        },
        Row(
            "135977 B are needed and 135967 B are free in the target; its history uses only 9 B"
        ) {
            $0.info.availableBytes = 135_967
            $0.prunable.bytes = 9
        } butNot: {
            $0.givingWay = ["a snapshot"]
        },
        Row("17 inodes are needed and 16 are free in the target") {
            $0.info.availableInodes = 16
        } butNot: {
            $0.info.availableInodes = 17
        },
    ]

    @Test(arguments: rows) func isRefusedForOneReason(row: Row) throws {
        var facts = try GuardFacts.ofANewFile()
        #expect(facts.refusals() == [])
        try row.arrange(&facts)
        let refusals = facts.refusals()
        #expect(refusals.count == 1, "\(refusals)")
        #expect(refusals.first?.reason.hasPrefix(row.testDescription) == true, "\(refusals)")
        #expect(refusals.first?.option == row.option)
        for settle in row.settlements {
            var settled = facts
            try settle(&settled)
            #expect(settled.refusals() == [])
        }
    }

    @Test func allReasonsAreToldAtOnce() throws {
        var facts = try GuardFacts.ofANewFile()
        facts.info.isReadOnly = true
        facts.capabilities = .weak
        facts.mounts = [(path("d"), true)]
        #expect(facts.refusals().count == 3)
    }

    /// If an empty source is allowed, the default limit is off. A limit that somebody gave is still valid.
    @Test func aLimitThatIsGivenHoldsForAnEmptySource() throws {
        var facts = try GuardFacts.ofANewFile()
        try facts.setPlan(deleted: 30)
        facts.plan = Plan(with(facts.plan.difference) { $0.sourceCount = 0 }, root: nil)
        facts.record(files: 30)
        facts.options.allowEmptySource = true
        #expect(facts.refusals() == [])
        facts.options.deleteLimit = .count(29)
        #expect(facts.refusals().map(\.option) == ["--max-delete 30"])
    }
}

extension GuardFacts {
    fileprivate static let lastSource = ManifestHeader.Source(
        path: Array("/was".utf8), identity: FileIdentity(inode: 1, created: nil), fileSystem: "first")

    /// Nothing is wrong: a file of 1,000 bytes comes into an empty target with enough space.
    fileprivate static func ofANewFile() throws -> GuardFacts {
        let directory = try TemporaryDirectory()
        var info = try FileSystemInfo(of: LocalFile(directory.path).directory())
        (info.name, info.isReadOnly, info.blockSize) = ("ext4", false, 4096)
        (info.availableBytes, info.availableInodes) = (1_073_741_824, 1 << 20)
        var guards = GuardFacts(
            plan: Plan(Difference(), root: nil), options: SyncOptions(), sources: [lastSource], info: info,
            mounts: [], locked: [:], collisions: [], rotten: [])
        try guards.setPlan(deleted: 0)
        return guards
    }

    /// Creates a file, and deletes others.
    fileprivate mutating func setPlan(
        deleted: Int, of entries: Int? = nil, in directory: String = ""
    ) throws {
        var difference = Difference()
        let new = with(status(.file)) { ($0.size, $0.allocated) = (1000, 4096) }
        difference.changes = [
            .created(file("new").with(new), isDrift: false)
        ]
        difference.changes.append(
            contentsOf: (0..<deleted).map {
                .deleted(file("\(directory)gone\($0)"), isDrift: false)
            })
        difference.changes.sort()
        (difference.sourceCount, difference.targetCount) = (1, entries ?? deleted)
        plan = Plan(difference, root: nil)
    }

    /// Replaces a file.
    fileprivate mutating func setChanged(_ name: String) {
        var match = Match(source: file(name), target: file(name))
        (match.causes, match.replacesContent) = (.size, true)
        plan = Plan(with(plan.difference) { $0.changes = [.match(match)] }, root: nil)
    }

    fileprivate mutating func setRenamed(_ name: String, to other: String) {
        var match = Match(source: file(other), target: file(name))
        match.causes = .renamed
        plan = Plan(with(plan.difference) { $0.changes = [.match(match)] }, root: nil)
    }

    fileprivate mutating func record(files: Int) {
        var header = ManifestHeader(
            id: "", root: [], created: Timestamp(FileTime(seconds: 1, nanoseconds: 0)))
        header.source = GuardFacts.lastSource
        var summary = ManifestSummary()
        for _ in 0..<files { summary.count(status(.file)) }
        recorded = (header, summary)
    }

    /// At the last run, the source was another directory on another file system.
    fileprivate mutating func recordAnotherSource() {
        record(files: 1)
        sources[0].identity = FileIdentity(inode: 7, created: nil)
        sources[0].fileSystem = "other"
    }
}

extension FileSystemCapabilities {
    fileprivate static var weak: FileSystemCapabilities {
        var capabilities = FileSystemCapabilities(name: "exfat")
        (capabilities.isComplete, capabilities.exchangesNames) = (false, false)
        return capabilities
    }
}
