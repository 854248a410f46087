/// The most common words of rsync, cp, restic, borg and rclone.
extension ForeignWord {
    static let commands = [
        ForeignWord(
            "backup", "sync", "copy", "cp", "mirror", "rsync", "clone", "push", as: "apply",
            hint: "To preview it: fsync-lite plan ARGUMENTS"),
        ForeignWord("dry-run", "preview", as: "plan"),
        ForeignWord("snapshots", "history", "archives", as: "snapshot list"),
        ForeignWord(
            "forget", "expire", as: "snapshot prune",
            hint: "The rules are restic's, such as --keep-daily 14"),
        ForeignWord("ls", as: "manifest list", hint: "To list a snapshot: TARGET@ID"),
        ForeignWord(
            "restore", "extract", "dump", as: "snapshot restore", hasSameArguments: false,
            hint: "Add --to DIR, or --in-place"),
        ForeignWord(
            "diff",
            hint:
                "to compare snapshots: fsync-lite snapshot diff TARGET A B. To compare any trees: fsync-lite manifest diff A B"
        ),
        ForeignWord("check", "scrub", as: "verify"),
        ForeignWord(
            "init",
            hint: "no repository is needed: fsync-lite apply SOURCE TARGET. "
                + "To begin a settings file: fsync-lite settings init"
        ),
        ForeignWord("version", hint: "next: fsync-lite --version"),
    ]

    private static let mirroring = [PlanCommand.name, ApplyCommand.name, RunCommand.name]

    static let options =
        [
            ForeignWord(
                "-n", "--dry-run", hint: "leave it out: plan never writes"
            ).with([PlanCommand.name]),
            ForeignWord(
                "--explain",
                hint: "to see why a file is in the mirror, or is not: fsync-lite explain JOB|TARGET PATH"
            ).with([PlanCommand.name]),
            ForeignWord("-n", hint: "to preview the run: --dry-run, or fsync-lite plan").with(
                mirroring + [UndoCommand.name, SnapshotRestoreCommand.name, SnapshotPruneCommand.name]),
        ]
        + (RemovedOption.all.map { ForeignWord($0.name, hint: "leave it out: \($0.reason)") } + ofMirroring)
        .map { $0.with(mirroring) }

    private static let ofMirroring = [
        ForeignWord(
            "--delete", "--del", "--delete-before", "--delete-during", "--delete-delay", "--delete-after",
            hint:
                "leave it out: files that SOURCE no longer has are moved to the history. To delete nothing: --no-delete"
        ),
        ForeignWord(
            "-a", "--archive", "-r", "--recursive", "-H", "--hard-links", "-A", "--acls", "-X", "--xattrs",
            "-S", "--sparse", "-p", "--perms", "-t", "--times", "-o", "--owner", "-g", "--group", "-l",
            "--links", "-D", "--numeric-ids",
            hint:
                "leave it out: the whole tree is mirrored, with links, permissions, times and, as root, owners. To leave something out: --no-hard-links, --no-acls, --no-xattrs, --no-sparse, --no-owner"
        ),
        ForeignWord(
            "-u", "--update", "--ignore-existing", "--existing",
            hint:
                "leave it out: TARGET always becomes the mirror of SOURCE, and replaced files are moved to the history"
        ),
        ForeignWord(
            "-b", "--backup", "--backup-dir", "--link-dest", "--compare-dest",
            hint:
                "leave it out: old versions are always kept in the history. To list them: fsync-lite snapshot list TARGET"
        ),
        ForeignWord(
            "-f", "--force", "--ignore-errors",
            hint: "each refusal names the option that overrides it. To mirror the rest: --keep-going"),
        ForeignWord("--bwlimit", hint: "use --bandwidth RATE, such as --bandwidth 5M"),
        ForeignWord(
            "-z", "--compress",
            hint:
                "leave it out: files are not compressed. To compress the connection to another machine: --ssh 'ssh -C'"
        ),
        ForeignWord(
            "-c", "-I", "--ignore-times", "--size-only",
            hint: "to compare content: --checksum. The default compares size and time"
        ),
        ForeignWord(
            "-W", "--whole-file", "--inplace", "--partial", "--partial-dir", "-T", "--temp-dir",
            hint: "leave it out: new files are renamed when all are complete"),
        ForeignWord(
            "-P", "--progress", "--stats", "-i", "--itemize-changes",
            hint: "leave it out: a terminal shows the progress. To list each change: fsync-lite plan"
        ),
        ForeignWord("-x", hint: "use --one-file-system"),
        ForeignWord(
            "-F", "-C", "--filter", "--include-from", "--files-from", "--exclude-file",
            hint:
                "use --exclude PATTERN, --include PATTERN or --exclude-from FILE, with patterns as in a .gitignore. The last match decides"
        ),
        ForeignWord("-e", "--rsh", hint: "use --ssh COMMAND, with SOURCE or TARGET as host:path"),
    ]
}
