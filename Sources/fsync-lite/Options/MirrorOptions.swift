import FileSystem
import FsyncLite

/// The options of `plan` and `apply`: guards, comparisons and copies.
extension SyncOptions {
    static let weakCommit = OptionDescription.flag(
        "--weak-commit",
        "write also to exFAT, NTFS, a NAS or FUSE, where only a kill leaves the old tree or the new one for certain"
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
            "take over a TARGET of another tool: what SOURCE lacks is deleted there, and kept in the history"
        ) { $0.adopt = true },
        .flag("--allow-empty-source", "mirror an empty source over a target with entries") {
            $0.allowEmptySource = true
        }.rare,
        .flag(
            "--allow-removal",
            "let new rules of retention remove more than half of the snapshots, and more than ten"
        ) { $0.allowsRemoval = true }.rare,
        .flag("--change-source", "accept another source than last time") { $0.changeSource = true }.rare,
        .flag("--create-parents", "make the directories that lead to the target") { $0.createParents = true }
            .rare,
        .flag("--delete-targets", "delete also other targets in the tree of TARGET, with their history") {
            $0.deletesTargets = true
        }.rare,
        .value(
            "--max-delete", "N",
            "refuse to delete more than N entries, or N% of them (default: 50%, and more than 10); unlimited turns this off",
            "give a number, a percentage such as 20%, or unlimited", { DeleteLimit($0) }
        ) { $0.deleteLimit = $1 },
        .flag("--no-delete", "delete nothing; replace only empty directories") {
            $0.keepsDeleted = true
        },
        .flag("--trust-source", "copy also what is not as recorded although its size and time are") {
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
        .flag("--trust-manifest", "do not scan TARGET: changes made there are not noticed") {
            $0.trustsManifest = true
        }.rare,
        .flag("--no-owner", "leave owners and groups alone") { $0.attributes.remove(.owner) }.rare,
        .flag("--no-xattrs", "leave extended attributes alone") { $0.attributes.remove(.xattrs) }.rare,
        .flag("--no-acls", "leave ACLs alone") { $0.attributes.remove(.acls) }.rare,
        .flag("--no-hard-links", "copy each name of a file by itself") { $0.attributes.remove(.hardLinks) }
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
                "record the SHA-256 of each file, also by later runs; =all: also if it has more than 16 GiB of holes; =none: no longer",
                choices: ["all", "none"])
        ) { given, options in
            guard let digest = given.list.last(where: { $0.name == "--digest" }) else { return }
            options.forgetsDigests = digest.value.map { $0.spells("none") } ?? false
            options.recordsDigests = !options.forgetsDigests
            options.recordsAllDigests = digest.value.map { $0.spells("all") } ?? false
        },
        .flag("--verify", "read back what was written, from the disk, before it is committed") {
            $0.verifiesCopies = true
        }.rare,
    ]

    fileprivate static let speed: [OptionField<SyncOptions>] = [
        .count(
            "--threads", "work on at most N files at a time (default: one per processor, at most 16)",
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
