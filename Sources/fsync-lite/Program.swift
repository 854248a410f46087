/// The command line, described once: help, parsing and whatever else tells of it come from here.
extension ProgramDescription {
    static let fsyncLite = ProgramDescription(
        name: "fsync-lite",
        summary: "Mirror a directory into another as one transaction.",
        version: "0.1.0",
        commands: [
            .plan, .apply, .recover, .status, .manifestCreate, .manifestShow, .manifestList, .manifestDiff,
            .undo, .snapshotList, .snapshotShow, .snapshotDiff, .snapshotLog, .snapshotRestore,
            .snapshotCreate, .snapshotPrune, .snapshotVerify, .help,
        ],
        exitCodes: ExitCode.allCases.map { ExitCodeDescription($0.rawValue, $0.meaning) })
}

extension CommandDescription {
    private static let sourceAndTarget = [
        ArgumentDescription("SOURCE", "the directory whose contents are mirrored"),
        ArgumentDescription("TARGET", "the directory that becomes the mirror"),
    ]
    private static let target = ArgumentDescription("TARGET", "a directory that fsync-lite writes to")

    private static let guards: [OptionDescription] = [
        .flag("--adopt", "take over a target that holds files of somebody", section: "Guards"),
        .flag("--allow-empty-source", "mirror an empty source over a target with entries", section: "Guards"),
        .flag("--change-source", "accept another source than last time", section: "Guards"),
        .flag("--create-parents", "make the directories that lead to the target", section: "Guards"),
        .value(
            "--max-delete", "N",
            "refuse to delete more than N entries, N% of them, or not at all: unlimited (default: half of them)",
            section: "Guards"),
        .flag("--no-delete", "delete nothing", section: "Guards"),
        .flag("--keep-going", "commit what can be mirrored and list the rest", section: "Guards"),
    ]

    private static let filters: [OptionDescription] = [
        .value(
            "--exclude", "PATTERN", "leave out what matches, as in a .gitignore; the last match decides",
            repeatable: true, section: "Filters"),
        .value(
            "--include", "PATTERN", "take in what matches, although an earlier pattern leaves it out",
            repeatable: true, section: "Filters"),
        .value(
            "--exclude-from", "FILE", "patterns from a file, one per line, as in a .gitignore",
            repeatable: true, section: "Filters"),
        .value(
            "--ignore-file", "NAME", "patterns from the file of this name in each directory of the source",
            section: "Filters"),
        .flag("--exclude-caches", "leave out what is in directories with a CACHEDIR.TAG", section: "Filters"),
        .flag("--one-file-system", "leave out what is on other file systems", section: "Filters"),
        .value("--max-size", "SIZE", "leave out larger files; SIZE is such as 10M", section: "Filters"),
        .value("--min-size", "SIZE", "leave out smaller files", section: "Filters"),
        .flag("--delete-excluded", "delete from the target what is left out", section: "Filters"),
    ]

    private static let comparison: [OptionDescription] = [
        .flag(
            "--checksum", "compare the content of files whose size and time agree", section: "Comparison"),
        .flag("--no-owner", "leave owners and groups alone", section: "Comparison"),
        .flag("--no-xattrs", "leave extended attributes alone", section: "Comparison"),
        .flag("--no-acls", "leave ACLs alone", section: "Comparison"),
        .flag("--no-hard-links", "copy each name of a file by itself", section: "Comparison"),
        .flag("--no-sparse", "write holes as zeros", section: "Comparison"),
    ]

    private static let output: [OptionDescription] = [
        .flag("--json", "write one JSON document to standard output", section: "Output"),
        .flag("--quiet", short: "-q", "say nothing when all went well", section: "Output"),
        .flag("--verbose", short: "-v", "list the actions, also of an apply", section: "Output"),
        .flag("--all", "list every action, however many", section: "Output"),
        .value("--log-file", "FILE", "append a line for this run, and one per problem", section: "Output"),
    ]

    static let plan = CommandDescription(
        "plan", summary: "Show what apply would do. Writes nothing, anywhere.",
        discussion:
            "Lists one action per line: + create, ~ update, = attributes, > move, - delete, each with its causes.",
        arguments: sourceAndTarget,
        options: [
            .flag("--exit-code", "exit 2 when there is something to do"),
            .value("--explain", "PATH", "say which filter decides about a path, and nothing else"),
        ] + guards + filters + comparison + output)

    static let apply = CommandDescription(
        "apply", summary: "Make TARGET the mirror of SOURCE, whole or not at all.",
        discussion: """
            The contents of SOURCE become the contents of TARGET. Until the commit nothing in the tree is \
            touched; a run that is killed leaves the old tree or the new one once the next command that \
            writes has run. What is replaced or deleted is kept in TARGET/.fsync-lite/history.
            """,
        arguments: sourceAndTarget, options: guards + filters + comparison + output)

    static let recover = CommandDescription(
        "recover", summary: "End a commit that a crash interrupted.",
        discussion: "Every apply does this by itself first. Without an interrupted commit nothing happens.",
        arguments: [target],
        options: [
            .flag("--back", "take the commit back instead of finishing it"),
            .flag("--displace", "move what others put in the way to the history"),
        ])

    static let status = CommandDescription(
        "status", summary: "Show what a target holds and when it was last written.", arguments: [target],
        options: [.flag("--json", "write one JSON document to standard output")])

    static let manifestCreate = CommandDescription(
        "manifest create", summary: "Write a manifest of a directory, to standard output unless -o is given.",
        arguments: [ArgumentDescription("TREE", "a directory")],
        options: [.value("--output", short: "-o", "FILE", "write it to this file")])

    private static let manifest = ArgumentDescription("MANIFEST", "a manifest file, a target, or a directory")

    static let manifestShow = CommandDescription(
        "manifest show", summary: "Show what a manifest says in all.", arguments: [manifest],
        options: [.flag("--json", "write one JSON document to standard output")])

    static let manifestList = CommandDescription(
        "manifest list", summary: "List the entries of a manifest.", arguments: [manifest],
        options: [
            .flag("--long", short: "-l", "with type, mode, owner, size and time"),
            .flag("--json", "one JSON object per line"),
            .flag("--null", short: "-0", "end each path with NUL, as it is"),
        ])

    static let manifestDiff = CommandDescription(
        "manifest diff", summary: "Show what would make A into B. Exits 2 when there is a difference.",
        arguments: [
            ArgumentDescription("A", "a manifest file, a target, or a directory"),
            ArgumentDescription("B", "another"),
        ],
        options: [.flag("--json", "write one JSON document to standard output")])

    // MARK: History

    private static let dryRun = OptionDescription.flag(
        "--dry-run", "show what would be done, and write nothing")
    private static let json = OptionDescription.flag("--json", "write one JSON document to standard output")
    private static let quiet = OptionDescription.flag(
        "--quiet", short: "-q", "say nothing when all went well")
    private static let snapshot = ArgumentDescription(
        "ID",
        "a snapshot: its id or the beginning, latest, latest~1, or a date such as 2026-11-20T14:00 (UTC)")

    static let undo = CommandDescription(
        "undo", summary: "Take the last apply back. Undone once more, it is there again.",
        discussion: """
            The target becomes the tree that the last apply found. What somebody changed in the target since then \
            stays as it is and is listed.
            """,
        arguments: [target], options: [dryRun] + output)

    static let snapshotList = CommandDescription(
        "snapshot list", summary: "List the trees that can be had, the newest first.", arguments: [target],
        options: [json])

    static let snapshotShow = CommandDescription(
        "snapshot show", summary: "Show what the apply that made a snapshot changed.",
        arguments: [target, snapshot], options: [json])

    static let snapshotDiff = CommandDescription(
        "snapshot diff",
        summary: "Show what would make snapshot A into B. Exits 2 when there is a difference.",
        arguments: [
            target, ArgumentDescription("A", "a snapshot, as for snapshot show"),
            ArgumentDescription("B", "another"),
        ], options: [json])

    static let snapshotLog = CommandDescription(
        "snapshot log", summary: "Show what happened to a path, the newest first.",
        arguments: [target, ArgumentDescription("PATH", "a path in the target as it is now")])

    static let snapshotRestore = CommandDescription(
        "snapshot restore", summary: "Bring an earlier tree back, or paths of it.",
        discussion: """
            With --to it is copied to a directory that is empty or not there. With --in-place the target goes back, \
            as one transaction that can be undone; what no apply brought there stays.
            """,
        arguments: [
            target, snapshot,
            ArgumentDescription(
                "PATH", "what to restore, with all below it; everything by default", optional: true,
                repeated: true),
        ],
        options: [
            .value("--to", "DIR", "copy it to this directory"), .flag("--in-place", "take the target back"),
            dryRun,
        ] + output)

    static let snapshotCreate = CommandDescription(
        "snapshot create", summary: "Give the present tree a label, which keeps its snapshot.",
        arguments: [target], options: [.value("--label", "L", "what to call it")])

    static let snapshotPrune = CommandDescription(
        "snapshot prune", summary: "Let go of snapshots that no rule keeps.",
        discussion: """
            A snapshot stays that one of the rules keeps; the present tree always stays. The target's settings.json \
            has the same rules for every apply, as keep_last and so on.
            """,
        arguments: [target],
        options: [
            .value("--keep-last", "N", "the last N before the present one"),
            .value("--keep-hourly", "N", "the newest of each of the last N hours that have one"),
            .value("--keep-daily", "N", "likewise of days"), .value("--keep-weekly", "N", "of weeks"),
            .value("--keep-monthly", "N", "of months"), .value("--keep-yearly", "N", "of years"),
            .value("--keep-within", "AGE", "those no older than this before the newest, such as 30d or 1y6m"),
            .value("--keep-label", "L", "those with this label", repeatable: true), dryRun, json, quiet,
        ])

    static let snapshotVerify = CommandDescription(
        "snapshot verify", summary: "Check that every snapshot's records and displaced files are there.",
        arguments: [target], options: [quiet])

    static let help = CommandDescription(
        "help", summary: "Show help for a command.",
        arguments: [ArgumentDescription("COMMAND", "the command", optional: true, repeated: true)])
}
