import FileSystem
import FsyncLite

/// The command line, described once: help, parsing and whatever else tells of it come from here.
extension ProgramDescription {
    static let fsyncLite = ProgramDescription(
        name: "fsync-lite",
        summary: "Mirror a directory into another as one transaction.",
        discussion: """
            The contents of a directory become the contents of another: after a failure, a kill or a power cut the \
            target is the old tree or the new one once the next command that writes has run, never a mixture. What \
            was renamed is recognized instead of copied again. What the last apply displaced is kept in \
            TARGET/.fsync-lite/history, and TARGET/.fsync-lite/manifest.json says what the target holds.
            A line of output stands for an action: + create, ~ update, = attributes, > move, - delete, with its \
            causes in brackets. It is coloured on a terminal, unless NO_COLOR is set. While a run goes on, a \
            terminal shows on standard error how far it is.
            """,
        version: "0.1.0",
        released: "2026-11-21",
        commands: [
            .plan, .apply, .run, .recover, .status, .manifestCreate, .manifestShow, .manifestList,
            .manifestDiff, .manifestExport, .manifestVerify, .settingsShow, .settingsInit, .completions,
            .undo, .snapshotList, .snapshotShow, .snapshotDiff, .snapshotLog, .snapshotRestore,
            .snapshotCreate, .snapshotPrune, .snapshotVerify, .help,
        ],
        exitCodes: ExitCode.allCases.map { ($0.rawValue, $0.meaning) })
}

extension CommandDescription {
    private static let sourceAndTarget = [
        ArgumentDescription("SOURCE", "the directory whose contents are mirrored"),
        ArgumentDescription("TARGET", "the directory that becomes the mirror"),
    ]
    static let target = ArgumentDescription("TARGET", "a directory that fsync-lite writes to")

    private static let guards: [OptionDescription] = .section(
        "Guards",
        .flag("--adopt", "take over a target that holds files of somebody"),
        .flag("--allow-empty-source", "mirror an empty source over a target with entries"),
        .flag("--change-source", "accept another source than last time"),
        .flag("--create-parents", "make the directories that lead to the target"),
        .value(
            "--max-delete", "N",
            "refuse to delete more than N entries, N% of them, or not at all: unlimited (default: half of them)"
        ),
        .flag("--no-delete", "delete nothing"),
        .flag("--trust-source", "copy also what is not as recorded although its size and time are"),
        .flag("--keep-going", "commit what can be mirrored and list the rest"),
        .flag("--strict", "commit nothing if a file changes while it is copied"))

    private static let filters: [OptionDescription] = .section(
        "Filters",
        .value(
            "--exclude", "PATTERN", "leave out what matches, as in a .gitignore; the last match decides",
            repeatable: true),
        .value(
            "--include", "PATTERN", "take in what matches, although an earlier pattern leaves it out",
            repeatable: true),
        .value(
            "--exclude-from", "FILE", "patterns from a file, one per line, as in a .gitignore",
            repeatable: true),
        .value(
            "--ignore-file", "NAME", "patterns from the file of this name in each directory of the source"
        ),
        .flag("--exclude-caches", "leave out what is in directories with a CACHEDIR.TAG"),
        .flag("--one-file-system", "leave out what is on other file systems"),
        .value("--max-size", "SIZE", "leave out larger files; SIZE is such as 10M"),
        .value("--min-size", "SIZE", "leave out smaller files"),
        .flag("--delete-excluded", "delete from the target what is left out"))

    private static let comparison: [OptionDescription] = .section(
        "Comparison",
        .flag("--checksum", "compare the content of files whose size and time agree"),
        .flag(
            "--ignore-change-time",
            "compare only the attributes of what has nothing but another change time, as after chmod -R or cp -al"
        ),
        .flag("--trust-manifest", "do not scan TARGET: what somebody changed there is not noticed"),
        .flag("--no-owner", "leave owners and groups alone"),
        .flag("--no-xattrs", "leave extended attributes alone"),
        .flag("--no-acls", "leave ACLs alone"),
        .flag("--no-hard-links", "copy each name of a file by itself"),
        .flag("--no-sparse", "write holes as zeros"))

    private static let exchange: [OptionDescription] = .section(
        "Exchange",
        .flag("--exchange", "build the new tree beside TARGET and swap it in: readers see one whole tree"),
        .flag("--reflink", "for an exchange, clone unchanged files instead of linking them"))

    private static let speed: [OptionDescription] = .section(
        "Speed",
        .value(
            "--threads", "N", "work on N files at a time (default: one per processor, at most 8)"),
        .value("--bandwidth", "RATE", "copy at most so many bytes a second; RATE is such as 50M"))

    private static let integrity: [OptionDescription] = .section(
        "Integrity",
        .flag("--digest", "record the SHA-256 of every file in the manifest"),
        .flag("--verify", "read back what was written, from the disk, before it is committed"))

    /// The rules of restic.
    static let keeping: [OptionDescription] = [
        .value(
            "--keep-last", "N",
            "keep the last N trees before the present one, so that N applies can be undone"),
        .value("--keep-hourly", "N", "keep the newest of each of the last N hours that have one"),
        .value("--keep-daily", "N", "likewise of days"), .value("--keep-weekly", "N", "of weeks"),
        .value("--keep-monthly", "N", "of months"), .value("--keep-yearly", "N", "of years"),
        .value(
            "--keep-within", "AGE", "keep those no older than this before the newest, such as 30d or 1y6mo"),
        .value("--keep-label", "L", "keep those with this label (default: with any)", repeatable: true),
    ]

    static let retention: [OptionDescription] = .section(
        "Retention: kept with TARGET until others are given (built in: 7d, and the last 3)",
        keeping + [
            .value("--retention", "WORD", "forget the rules that are kept", choices: ["default"])
        ])

    static let output: [OptionDescription] = .section(
        "Output",
        json,
        quiet,
        .flag("--verbose", short: "-v", "list the actions, also of an apply"),
        .value("--log-file", "FILE", "append a line for this run, and one per problem"))

    private static let listing = [OptionDescription].section(
        "Output", .flag("--all", "list every action, however many"))

    static let settingsFile = OptionDescription.value(
        "--settings", "FILE", "read these settings, not ~/.config/fsync-lite/settings.json")

    /// What decides about the actions of a plan.
    static let planning = guards + filters + comparison
    /// What settings may say: each option's key is its name with _ for -.
    static let settings = planning + exchange + integrity + speed + retention + output

    static let plan = CommandDescription(
        "plan", summary: "Show what apply would do. Writes nothing, anywhere.",
        discussion:
            "Lists one action per line: + create, ~ update, = attributes, > move, - delete, each with its causes.",
        arguments: sourceAndTarget,
        options: [
            .flag("--exit-code", "exit 2 when there is something to do"),
            .value("--explain", "PATH", "say which filter decides about a path, and nothing else"),
            .value("--out", "FILE", "save the plan, for apply --plan"),
            .value("--show", "FILE", "say what a saved plan is, in place of SOURCE and TARGET")
                .replacingArguments(),
            settingsFile,
        ] + settings + listing,
        examples: [
            ("fsync-lite plan photos /mnt/backup/photos", "See what a backup would do"),
            ("fsync-lite plan photos mirror --out photos.plan", "Save a plan to look at and apply later"),
            ("fsync-lite plan --json src mirror | jq '.summary'", "The totals, for a script"),
            (
                "fsync-lite plan src mirror --exclude '*.tmp' --explain a/b.tmp",
                "Which pattern decides about a path"
            ),
        ])

    static let apply = CommandDescription(
        "apply", summary: "Make TARGET the mirror of SOURCE, whole or not at all.",
        discussion: """
            The contents of SOURCE become the contents of TARGET. Until the commit nothing in the tree is \
            touched; a run that is killed leaves the old tree or the new one once the next command that \
            writes has run. What is replaced or deleted is kept in TARGET/.fsync-lite/history for a week, and of \
            the last three applies however old they are; where the disk has not the room for an apply, the oldest \
            go before. \
            Rules of retention that are given are kept with the target, hold until others are given, and never give \
            way to an apply.
            """,
        arguments: sourceAndTarget,
        options: [
            .value("--plan", "FILE", "do just what this saved plan says, in place of SOURCE and TARGET")
                .replacingArguments(),
            settingsFile,
        ] + settings + listing,
        examples: [
            ("fsync-lite apply photos /mnt/backup/photos", "Back up a directory"),
            (
                "fsync-lite apply --quiet --log-file /var/log/mirror.log /srv /mnt/backup/srv",
                "From cron: silent unless somebody has to look"
            ),
            ("fsync-lite apply --plan photos.plan", "Do just what a saved plan says"),
            (
                "fsync-lite apply home /mnt/home --ignore-file .gitignore --exclude-caches",
                "Leave out what can be made again"
            ),
        ])

    static let run = CommandDescription(
        "run", summary: "Apply the jobs that the settings name.",
        discussion: """
            Each job is an apply with its own source, target and options; what is given here goes before what \
            the settings say. A job that fails does not stop the next one; the exit code is the first that is \
            not 0. A job's commands run before and after it, with the report on standard input.
            """,
        arguments: [ArgumentDescription("JOB", "the name of a job", repeated: true)],
        options: [
            .flag("--all", "run every job, in the order of their names").replacingArguments(), settingsFile,
        ]
            + settings,
        examples: [
            ("fsync-lite run photos", "Run one job"),
            ("fsync-lite run --all --quiet", "All of them, from cron"),
        ])

    static let settingsShow = CommandDescription(
        "settings show", summary: "Show what the settings say, and where each value comes from.",
        arguments: [ArgumentDescription("JOB", "what holds for this job", optional: true)],
        options: [settingsFile],
        examples: [("fsync-lite settings show photos", "What holds for a job, and why")])

    static let settingsInit = CommandDescription(
        "settings init", summary: "Write a file of settings to begin with. Never replaces one.",
        options: [.flag("--plist", "as a property list, not as JSON"), settingsFile],
        examples: [("fsync-lite settings init", "Begin a file of settings")])

    static let recover = CommandDescription(
        "recover", summary: "End a commit that a crash interrupted.",
        discussion: "Every apply does this by itself first. Without an interrupted commit nothing happens.",
        arguments: [target],
        options: [
            .flag("--back", "take the commit back instead of finishing it"),
            .flag("--displace", "move what others put in the way to the history"),
        ],
        examples: [
            ("fsync-lite recover mirror", "Finish an interrupted commit"),
            ("fsync-lite recover --back mirror", "Go back to the old tree"),
        ])

    static let status = CommandDescription(
        "status", summary: "Show what a target holds and when it was last written.", arguments: [target],
        options: [
            json,
            .value(
                "--max-age", "AGE",
                "exit 2 when the last run is older, complete or not; AGE is such as 26h or 7d"),
        ],
        examples: [
            ("fsync-lite status mirror", "See how a mirror stands"),
            ("fsync-lite status --max-age 26h mirror", "Let monitoring know when it is late"),
        ])

    static let manifestCreate = CommandDescription(
        "manifest create", summary: "Write a manifest of a directory, to standard output unless -o is given.",
        arguments: [ArgumentDescription("TREE", "a directory")],
        options: [
            .value("--output", short: "-o", "FILE", "write it to this file"),
            .flag("--digest", "with the SHA-256 of every file"),
        ],
        examples: [("fsync-lite manifest create src -o before.json", "Record a directory")])

    private static let manifest = ArgumentDescription(
        "MANIFEST", "a manifest file, a target, a snapshot (TARGET@ID), or a directory")

    static let manifestShow = CommandDescription(
        "manifest show",
        summary:
            "Show what a manifest holds in all: by type and depth, the largest, newest and oldest files.",
        arguments: [manifest],
        options: [
            .value("--top", "N", "name so many files in each list (default: 5)"),
            json,
        ],
        examples: [("fsync-lite manifest show --top 20 mirror", "What takes the space")])

    static let manifestList = CommandDescription(
        "manifest list", summary: "List the entries of a manifest.",
        discussion: """
            A PATTERN means what it means in a .gitignore: a name at any depth, or a path where it holds a /. \
            What is in a directory that matches is listed with it, and ! before a pattern leaves out what \
            matches. An entry has to meet all conditions. Days and times are in UTC; ages are such as 12h, 7d, 2w \
            or 1y6mo, mo being a month of 30 days and m a minute.
            """,
        arguments: [
            manifest,
            ArgumentDescription("PATTERN", "only what matches one of these", optional: true, repeated: true),
        ],
        options: .section(
            "Conditions",
            .value(
                "--type", "TYPE", "only entries of this type", repeatable: true,
                choices: FileType.allCases.map(\.documentName).filter { $0 != "socket" }),
            .value("--min-size", "SIZE", "only files of this size or larger"),
            .value("--max-size", "SIZE", "only files of this size or smaller; SIZE is such as 10M"),
            .value("--newer", "TIME", "only what was modified at this time or later"),
            .value(
                "--older", "TIME",
                "only what was modified before this time, such as 2026-11-20 or, seven days ago, 7d"))
            + .section(
                "Output",
                .flag("--long", short: "-l", "with type, mode, owner, size and time"),
                .flag("--json", "one JSON object per line"),
                .flag("--null", short: "-0", "end each path with NUL, as it is")),
        examples: [
            ("fsync-lite manifest list mirror '*.jpg' --min-size 10M --long", "Large pictures"),
            (
                "fsync-lite manifest list src --older 2020-01-01 --type file -0 | xargs -0 ls -d",
                "Hand old files to another command"
            ),
        ])

    static let manifestDiff = CommandDescription(
        "manifest diff", summary: "Show what would make A into B. Exits 2 when there is a difference.",
        discussion: """
            Size, time, type, attributes and links are compared. What was renamed is found where both tell of \
            the same directory; between a tree and a copy of it, it is gone from one path and new at another.
            """,
        arguments: [
            ArgumentDescription("A", "a manifest file, a target, a snapshot (TARGET@ID), or a directory"),
            ArgumentDescription("B", "another"),
        ],
        options: [
            all, .flag("--summary", "write only the totals"),
            json,
        ],
        examples: [
            ("fsync-lite manifest diff before.json src", "What changed since a manifest was made"),
            ("fsync-lite manifest diff --summary mirror src", "How far a mirror is behind"),
            ("fsync-lite manifest diff mirror@2026-11-20 src", "What happened since a day in November"),
        ])

    static let manifestExport = CommandDescription(
        "manifest export", summary: "Write a manifest in the format of another tool.",
        discussion: """
            For mtree the digests are written that the manifest has. For sha256sum every file needs one: of a \
            directory or a target, files without are read; a manifest file has to be made with --digest.
            """,
        arguments: [manifest],
        options: [.value("--format", "FORMAT", "for which tool", choices: ["mtree", "sha256sum"])],
        examples: [
            ("fsync-lite manifest export src --format mtree | mtree -p copy", "Let mtree compare a copy")
        ])

    static let completions = CommandDescription(
        "completions", summary: "Write the completions for a shell.",
        discussion: "scripts/install puts them where the shells look.",
        arguments: [
            ArgumentDescription("SHELL", "for which shell", choices: Shell.allCases.map(\.rawValue))
        ],
        examples: [
            ("source <(fsync-lite completions bash)", "In bash, for this session"),
            ("fsync-lite completions fish > ~/.config/fish/completions/fsync-lite.fish", "In fish, for good"),
        ])

    static let manifestVerify = CommandDescription(
        "manifest verify",
        summary: "Compare a directory with a manifest. Exits 2 when there is a difference.",
        discussion: """
            A file whose size and time are as recorded and whose content is not has rotted, or was edited and \
            its time put back. With --source, content that is as recorded tells which of the two copies is good.
            """,
        arguments: [
            ArgumentDescription("MANIFEST", "a manifest file or a target"),
            ArgumentDescription("TREE", "the directory to look at"),
        ],
        options: [
            .flag("--digest", "read the files that have a digest, and compare"),
            .value("--part", "K/N", "read only the K-th of N parts of the files, such as 3/30"),
            .value("--source", "DIR", "read also the files of the directory that TREE is a mirror of"),
            .flag("--repair", "put the good copy in the place of a rotten one"),
            json,
        ],
        examples: [
            ("fsync-lite manifest verify --digest --part 3/30 mirror mirror", "A thirtieth a day"),
            (
                "fsync-lite manifest verify --digest --source photos --repair mirror mirror",
                "Mend what has rotted on either side"
            ),
        ])

    static let help = CommandDescription(
        "help", summary: "Show help for a command.",
        arguments: [ArgumentDescription("COMMAND", "the command", optional: true, repeated: true)],
        options: [.manualOption],
        examples: [
            ("fsync-lite help manifest list", "What a command takes"),
            ("fsync-lite help --man | man -l -", "Read it as a manual page"),
        ])
}
