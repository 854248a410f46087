/// The command line, described once: help, parsing and whatever else tells of it come from here.
extension ProgramDescription {
    static let fsyncLite = ProgramDescription(
        name: "fsync-lite",
        summary: "Mirror a directory into another as one transaction.",
        version: "0.1.0",
        commands: [
            .plan, .apply, .run, .recover, .status, .manifestCreate, .manifestShow, .manifestList,
            .manifestDiff, .manifestVerify, .settingsShow, .settingsInit, .help,
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
        .flag(
            "--trust-source", "copy also what is not as recorded although its size and time are",
            section: "Guards"),
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

    private static let speed: [OptionDescription] = [
        .value(
            "--threads", "N", "work on N files at a time (default: one per processor, at most 8)",
            section: "Speed"),
        .value(
            "--bandwidth", "RATE", "copy at most so many bytes a second; RATE is such as 50M",
            section: "Speed"),
    ]

    private static let integrity: [OptionDescription] = [
        .flag("--digest", "record the SHA-256 of every file in the manifest", section: "Integrity"),
        .flag(
            "--verify", "read back what was written, from the disk, before it is committed",
            section: "Integrity"),
    ]

    private static let retention: [OptionDescription] = [
        .value("--keep-last", "N", "let the last N applies be undone (default: 1)", section: "Retention")
    ]

    private static let output: [OptionDescription] = [
        .flag("--json", "write one JSON document to standard output", section: "Output"),
        .flag("--quiet", short: "-q", "say nothing when all went well", section: "Output"),
        .flag("--verbose", short: "-v", "list the actions, also of an apply", section: "Output"),
        .value("--log-file", "FILE", "append a line for this run, and one per problem", section: "Output"),
    ]

    private static let listing = OptionDescription.flag(
        "--all", "list every action, however many", section: "Output")

    private static let settingsFile = OptionDescription.value(
        "--settings", "FILE", "read these settings, not ~/.config/fsync-lite/settings.json")

    /// What decides about the actions of a plan.
    static let planning = guards + filters + comparison
    /// What settings may say: each option's key is its name with _ for -.
    static let settings = planning + integrity + speed + retention + output

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
        ] + settings + [listing])

    static let apply = CommandDescription(
        "apply", summary: "Make TARGET the mirror of SOURCE, whole or not at all.",
        discussion: """
            The contents of SOURCE become the contents of TARGET. Until the commit nothing in the tree is \
            touched; a run that is killed leaves the old tree or the new one once the next command that \
            writes has run. What is replaced or deleted is kept in TARGET/.fsync-lite/history.
            """,
        arguments: sourceAndTarget,
        options: [
            .value("--plan", "FILE", "do just what this saved plan says, in place of SOURCE and TARGET")
                .replacingArguments(),
            settingsFile,
        ] + settings + [listing])

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
            + settings)

    static let settingsShow = CommandDescription(
        "settings show", summary: "Show what the settings say, and where each value comes from.",
        arguments: [ArgumentDescription("JOB", "what holds for this job", optional: true)],
        options: [settingsFile])

    static let settingsInit = CommandDescription(
        "settings init", summary: "Write a file of settings to begin with. Never replaces one.",
        options: [.flag("--plist", "as a property list, not as JSON"), settingsFile])

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
        options: [
            .flag("--json", "write one JSON document to standard output"),
            .value("--max-age", "AGE", "exit 2 when the last good run is older; AGE is such as 26h or 7d"),
        ])

    static let manifestCreate = CommandDescription(
        "manifest create", summary: "Write a manifest of a directory, to standard output unless -o is given.",
        arguments: [ArgumentDescription("TREE", "a directory")],
        options: [
            .value("--output", short: "-o", "FILE", "write it to this file"),
            .flag("--digest", "with the SHA-256 of every file"),
        ])

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
            .flag("--json", "write one JSON document to standard output"),
        ])

    static let help = CommandDescription(
        "help", summary: "Show help for a command.",
        arguments: [ArgumentDescription("COMMAND", "the command", optional: true, repeated: true)])
}
