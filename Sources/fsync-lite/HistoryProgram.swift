/// The commands that go back, described like all others.
extension CommandDescription {
    private static let dryRun = OptionDescription.flag(
        "--dry-run", "show what would be done, and write nothing")
    static let json = OptionDescription.flag("--json", "write one JSON document to standard output")
    static let all = OptionDescription.flag("--all", "list every entry, however many")
    static let quiet = OptionDescription.flag("--quiet", short: "-q", "say nothing when all went well")
    private static let snapshot = ArgumentDescription(
        "ID",
        "a snapshot: its id or the beginning, latest, latest~1, or a date such as 2026-11-20T14:00 (UTC)")

    static let undo = CommandDescription(
        "undo", summary: "Take the last apply back. Undone once more, it is there again.",
        discussion: """
            The target becomes the tree that the last apply found. What somebody changed in the target since then \
            stays as it is and is listed.
            """,
        arguments: [target], options: [dryRun] + output,
        examples: [
            ("fsync-lite undo --dry-run mirror", "What would come back"),
            ("fsync-lite undo mirror", "Take the last apply back"),
        ])

    static let snapshotList = CommandDescription(
        "snapshot list", summary: "List the trees that can be had, the newest first.", arguments: [target],
        options: [json, settingsFile],
        examples: [
            ("fsync-lite snapshot list mirror", "What there is, and why it stays")
        ])

    static let snapshotShow = CommandDescription(
        "snapshot show", summary: "Show what the apply that made a snapshot changed.",
        arguments: [target, snapshot], options: [all, json],
        examples: [
            ("fsync-lite snapshot show mirror latest", "What the last apply changed")
        ])

    static let snapshotDiff = CommandDescription(
        "snapshot diff",
        summary: "Show what would make snapshot A into B. Exits 2 when there is a difference.",
        arguments: [
            target, ArgumentDescription("A", "a snapshot, as for snapshot show"),
            ArgumentDescription("B", "another"),
        ], options: [all, json],
        examples: [
            ("fsync-lite snapshot diff mirror 2026-11-01 latest", "What happened since the first of November")
        ])

    static let snapshotLog = CommandDescription(
        "snapshot log", summary: "Show what happened to a path, the newest first.",
        arguments: [target, ArgumentDescription("PATH", "a path in the target as it is now")],
        examples: [
            ("fsync-lite snapshot log mirror 2026/a.jpg", "The life of a file")
        ])

    static let snapshotRestore = CommandDescription(
        "snapshot restore", summary: "Bring an earlier tree back, or paths of it.",
        discussion: """
            With --to it is copied to a directory that is empty or not there, by sharing blocks where the file system \
            can. With --link files are not copied but get one more name: what is written to them later changes the \
            target or its history as well. With --in-place the target goes back, as one transaction that can be \
            undone; what no apply brought there stays.
            """,
        arguments: [
            target, snapshot,
            ArgumentDescription(
                "PATH", "what to restore, with all below it; everything by default", optional: true,
                repeated: true),
        ],
        options: [
            .value("--to", "DIR", "copy it to this directory"),
            .flag("--link", "link files instead of copying them, to look at and not to write to"),
            .flag("--in-place", "take the target back"), dryRun,
        ] + output,
        examples: [
            ("fsync-lite snapshot restore mirror latest~1 notes.txt --to old", "Get a file back as it was"),
            (
                "fsync-lite snapshot restore mirror 2026-11-20 --in-place --dry-run",
                "Look at what going back would do"
            ),
        ])

    static let snapshotCreate = CommandDescription(
        "snapshot create", summary: "Give the present tree a label, which keeps its snapshot.",
        arguments: [target], options: [.value("--label", "L", "what to call it"), settingsFile],
        examples: [
            ("fsync-lite snapshot create mirror --label before-upgrade", "Keep the present tree")
        ])

    static let snapshotPrune = CommandDescription(
        "snapshot prune", summary: "Let go of snapshots that no rule keeps.",
        discussion: """
            A snapshot stays that one of the rules keeps; the present tree always stays. Rules that are given here hold \
            for this command only. Without any, those are used that an apply would go by: snapshot list shows them.
            """,
        arguments: [target], options: keeping + [dryRun, json, quiet, settingsFile],
        examples: [
            (
                "fsync-lite snapshot prune mirror --keep-last 3 --keep-daily 14 --dry-run",
                "What such rules would let go of"
            )
        ])

    static let snapshotVerify = CommandDescription(
        "snapshot verify", summary: "Check that every snapshot's records and displaced files are there.",
        arguments: [target], options: [quiet],
        examples: [
            ("fsync-lite snapshot verify mirror", "After a disk had errors")
        ])
}
