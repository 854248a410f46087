/// The most common words of rsync, cp, restic, borg and rclone.
extension ForeignWord {
    static let commands = [
        ForeignWord(
            "backup", "sync", "copy", "cp", "mirror", "rsync", "clone", "push", as: "apply",
            hint: "plan shows before what it does"),
        ForeignWord("dry-run", "preview", as: "plan"),
        ForeignWord("snapshots", "history", "archives", as: "snapshot list"),
        ForeignWord(
            "forget", "expire", as: "snapshot prune", hint: "the rules are restic's, such as --keep-daily 14"),
        ForeignWord("ls", as: "manifest list", hint: "TARGET@ID lists a snapshot"),
        ForeignWord(
            "restore", "extract", "dump", as: "snapshot restore", hasSameArguments: false,
            hint: "give --to DIR, or --in-place"),
        ForeignWord(
            "diff",
            hint:
                "fsync-lite snapshot diff TARGET A B compares snapshots, fsync-lite manifest diff A B any trees"
        ),
        ForeignWord("check", "scrub", as: "verify"),
        ForeignWord(
            "init",
            hint: "no repository is needed: fsync-lite apply SOURCE TARGET begins one; "
                + "fsync-lite settings init writes settings"),
        ForeignWord("version", hint: "fsync-lite --version"),
    ]

    private static let mirroring = [PlanCommand.name, ApplyCommand.name, RunCommand.name]

    static let options =
        [
            ForeignWord(
                "-n", "--dry-run", hint: "leave it out: plan only shows what fsync-lite apply would do"
            ).with([PlanCommand.name]),
            ForeignWord(
                "--explain",
                hint: "fsync-lite explain JOB|TARGET PATH says why a file is in the mirror, or is not"
            ).with([PlanCommand.name]),
            ForeignWord("-n", hint: "--dry-run shows what would be done, and so does fsync-lite plan").with(
                mirroring + [UndoCommand.name, SnapshotRestoreCommand.name, SnapshotPruneCommand.name]),
        ]
        + (RemovedOption.all.map { ForeignWord($0.name, hint: "leave it out: \($0.reason)") } + ofMirroring)
        .map { $0.with(mirroring) }

    private static let ofMirroring = [
        ForeignWord(
            "--delete", "--del", "--delete-before", "--delete-during", "--delete-delay", "--delete-after",
            hint:
                "leave it out: what SOURCE no longer has is deleted, and kept in the history; --no-delete deletes nothing"
        ),
        ForeignWord(
            "-a", "--archive", "-r", "--recursive", "-H", "--hard-links", "-A", "--acls", "-X", "--xattrs",
            "-S", "--sparse", "-p", "--perms", "-t", "--times", "-o", "--owner", "-g", "--group", "-l",
            "--links", "-D", "--numeric-ids",
            hint:
                "leave it out: the whole tree is mirrored, with links, permissions, times and, as root, owners; "
                + "--no-hard-links, --no-acls, --no-xattrs, --no-sparse and --no-owner leave something alone"),
        ForeignWord(
            "-u", "--update", "--ignore-existing", "--existing",
            hint:
                "TARGET becomes the mirror of SOURCE in any case; what is replaced there is kept in the history"
        ),
        ForeignWord(
            "-b", "--backup", "--backup-dir", "--link-dest", "--compare-dest",
            hint:
                "leave it out: what is replaced or deleted is kept; fsync-lite snapshot list TARGET shows it"
        ),
        ForeignWord(
            "-f", "--force", "--ignore-errors",
            hint: "a refusal names the one option that goes ahead; --keep-going mirrors what can be read"),
        ForeignWord("--bwlimit", hint: "--bandwidth RATE, such as --bandwidth 5M"),
        ForeignWord(
            "-z", "--compress",
            hint:
                "leave it out: files are not compressed. To compress what goes to another machine: --ssh 'ssh -C'"
        ),
        ForeignWord(
            "-c", "-I", "--ignore-times", "--size-only",
            hint: "--checksum compares content; without it, files of which size or a time "
                + "differs are compared or copied"),
        ForeignWord(
            "-W", "--whole-file", "--inplace", "--partial", "--partial-dir", "-T", "--temp-dir",
            hint: "leave it out: what is new is staged in TARGET/.fsync-lite, and renamed when all is there"),
        ForeignWord(
            "-P", "--progress", "--stats", "-i", "--itemize-changes",
            hint: "leave it out: a terminal shows how far the run is, and the last line the totals; "
                + "fsync-lite plan lists each change"),
        ForeignWord("-x", hint: "--one-file-system"),
        ForeignWord(
            "-F", "-C", "--filter", "--include-from", "--files-from", "--exclude-file",
            hint:
                "--exclude PATTERN, --include PATTERN and --exclude-from FILE, with patterns as in a .gitignore; "
                + "the last match decides"),
        ForeignWord("-e", "--rsh", hint: "--ssh COMMAND, with SOURCE or TARGET as host:path"),
    ]
}
