import FileSystem
import FsyncLite

/// The options of `plan` and `apply`: guards, comparisons and copies.
extension SyncOptions {
    static let weakCommit = OptionDescription.flag(
        "--weak-commit",
        "allow exFAT, NTFS, a NAS or FUSE: safe if the run is killed, not if the power fails"
    ).rare

    /// The options that loosen a guard.
    static var loosening: [OptionDescription] {
        let names = [
            "--adopt", "--allow-empty-source", "--allow-removal", "--change-source", "--delete-targets",
            "--max-delete",
        ]
        return guards.map(\.option).filter { names.contains($0.name) } + [.changeTarget, .newTarget]
    }

    fileprivate static let guards: [OptionField<SyncOptions>] = [
        .flag(
            "--adopt",
            "take over a TARGET of another tool; files that SOURCE lacks are moved to the history"
        ) { $0.adopt = true },
        .flag("--allow-empty-source", "mirror an empty source, so that the target becomes empty") {
            $0.allowEmptySource = true
        }.rare,
        .flag(
            "--allow-removal",
            "let new rules of retention remove more than half of the snapshots, if these are more than ten"
        ) { $0.allowsRemoval = true }.rare,
        .flag("--change-source", "accept another source than last time") { $0.changeSource = true }.rare,
        .flag("--create-parents", "make the directories that lead to the target") { $0.createParents = true }
            .rare,
        .flag("--delete-targets", "delete also other targets in the tree of TARGET, with their history") {
            $0.deletesTargets = true
        }.rare,
        .value(
            "--max-delete", "N",
            "refuse to delete more than N files and directories, or N% of them; unlimited: never refuse (default: 50%, if these are more than 10)",
            "give a number, a percentage such as 20%, or unlimited", { DeleteLimit($0) }
        ) { $0.deleteLimit = $1 },
        .flag("--no-delete", "delete nothing; replace only empty directories") {
            $0.keepsDeleted = true
        },
        .flag("--trust-source", "copy a file even if its content changed and its size and time did not") {
            $0.trustsSource = true
        }.rare,
        OptionField(option: .keepGoing) { $1.keepGoing = $0.has(.keepGoing) },
        OptionField(option: weakCommit) { $1.allowsWeakCommit = $0.has(weakCommit) },
        .flag("--strict", "commit nothing if a file changes while it is copied") { $0.strict = true }.rare,
    ]

    fileprivate static let comparison: [OptionField<SyncOptions>] = [
        .flag("--checksum", "also compare files whose size and time agree") {
            $0.comparesContent = true
        },
        .flag("--trust-manifest", "do not scan TARGET, so changes made there are not noticed") {
            $0.trustsManifest = true
        }.rare,
        .flag("--no-owner", "leave owners and groups unchanged") { $0.attributes.remove(.owner) }.rare,
        .flag("--no-xattrs", "leave extended attributes unchanged") { $0.attributes.remove(.xattrs) }.rare,
        .flag("--no-acls", "leave ACLs unchanged") { $0.attributes.remove(.acls) }.rare,
        .flag("--no-hard-links", "copy each name as a separate file") { $0.attributes.remove(.hardLinks) }
            .rare,
        .flag("--no-sparse", "write holes as zeros") { $0.attributes.remove(.holes) }.rare,
    ]

    fileprivate static let exchange: [OptionField<SyncOptions>] = [
        .flag("--exchange", "build the new tree beside TARGET and swap it in: readers see one whole tree") {
            $0.exchanges = true
        }.rare
    ]

    fileprivate static let integrity: [OptionField<SyncOptions>] = [
        OptionField(
            option: .flag(
                "--digest",
                "record the SHA-256 of each file, in later runs, too; =all: also of files with more than 16 GiB of holes; =none: stop that",
                choices: ["all", "none"])
        ) { given, options in
            guard let digest = given.list.last(where: { $0.name == "--digest" }) else { return }
            options.forgetsDigests = digest.value.map { $0.spells("none") } ?? false
            options.recordsDigests = !options.forgetsDigests
            options.recordsAllDigests = digest.value.map { $0.spells("all") } ?? false
        },
        .flag("--verify", "read all copied files again, from the disk, before the commit") {
            $0.verifiesCopies = true
        }.rare,
    ]

    fileprivate static let speed: [OptionField<SyncOptions>] = [
        .count(
            "--threads",
            "read or copy at most N files at a time (default: 16, for local copies one per processor)",
            in: 1...1024
        ) { $0.threads = $1 }.rare,
        .value(
            "--bandwidth", "RATE", "copy at most RATE bytes a second, such as 50M",
            "give a number of bytes a second, such as 50M",
            { ByteCount($0).flatMap { $0 > 0 ? $0 : nil } }
        ) { $0.bandwidth = $1 },
    ]

    /// Reads all options except those of retention.
    init(_ given: GivenOptions) throws {
        self.init()
        try readPatterns(given)
        let fields = [
            SyncOptions.filterFields, SyncOptions.exchange, SyncOptions.guards, SyncOptions.comparison,
            SyncOptions.integrity, SyncOptions.speed,
        ]
        for field in fields.joined() { try field.read(given, &self) }
    }
}

extension OptionDescription {
    static let keepGoing = flag("--keep-going", "commit what can be mirrored and list the rest").rare

    /// Options that determine the actions of a plan.
    static let planning: [OptionDescription] =
        .section("Guards", SyncOptions.guards) + filters + .section("Comparison", SyncOptions.comparison)

    /// Options that determine how a plan is executed.
    static let mirroring: [OptionDescription] =
        .section("Exchange", SyncOptions.exchange) + .section("Integrity", SyncOptions.integrity)
        + .section("Speed", SyncOptions.speed)
}
