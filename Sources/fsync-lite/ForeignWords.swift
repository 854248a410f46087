/// Words of rsync, cp, restic, borg and rclone.
extension ForeignWord {
    static let commands = [
        ForeignWord(
            "backup", "sync", "copy", "cp", "mirror", "rsync", "clone", "push", "save", "create", as: "apply",
            hint: "plan shows before what it does"),
        ForeignWord("dry-run", "dryrun", "preview", as: "plan"),
        ForeignWord("snapshots", "history", "archives", as: "snapshot list"),
        ForeignWord(
            "forget", "expire", as: "snapshot prune", hint: "the rules are restic's, such as --keep-daily 14"),
        ForeignWord("ls", as: "manifest list", hint: "TARGET@ID lists a snapshot"),
        ForeignWord(
            "restore", "extract", "dump", as: "snapshot restore", hasSameArguments: false,
            hint: "give --to DIR, or --in-place"),
        ForeignWord("rollback", "revert", as: "undo"),
        ForeignWord("info", as: "status"),
        ForeignWord("stats", "du", as: "manifest show"),
        ForeignWord("tag", as: "snapshot create", hasSameArguments: false, hint: "give --label L"),
        ForeignWord(
            "mount", as: "snapshot restore", hasSameArguments: false,
            hint: "give --to DIR --link for a copy to look at that takes no room"),
        ForeignWord(
            "list",
            hint: "fsync-lite snapshot list TARGET lists snapshots, fsync-lite manifest list MANIFEST entries"
        ),
        ForeignWord(
            "diff",
            hint:
                "fsync-lite snapshot diff TARGET A B compares snapshots, fsync-lite manifest diff A B any trees"
        ),
        ForeignWord(
            "check", "verify", "scrub",
            hint:
                "fsync-lite manifest verify MANIFEST TREE reads the tree, fsync-lite snapshot verify TARGET the history"
        ),
        ForeignWord(
            "init",
            hint: "no repository is needed: fsync-lite apply SOURCE TARGET begins one; "
                + "fsync-lite settings init writes settings"),
        ForeignWord(
            "unlock", hint: "no lock is left behind; fsync-lite recover TARGET ends an interrupted commit"),
        ForeignWord("config", "configure", hint: "fsync-lite settings show, or fsync-lite settings init"),
        ForeignWord(
            "jobs",
            hint: "fsync-lite status --all shows how each job stands, fsync-lite settings show what it says"),
        ForeignWord("version", hint: "fsync-lite --version"),
    ]

    /// The commands that mirror.
    private static let mirroring = [PlanCommand.name, ApplyCommand.name, RunCommand.name]

    static let options =
        dryRun + (tree + attributes + copying + output + selection + others).map { $0.with(mirroring) }

    private static let dryRun = [
        ForeignWord(
            "-n", "--dry-run", hint: "leave it out: plan only shows what fsync-lite apply would do"
        ).with([PlanCommand.name]),
        ForeignWord("-n", hint: "--dry-run shows what would be done, and so does fsync-lite plan").with(
            mirroring + [UndoCommand.name, SnapshotRestoreCommand.name, SnapshotPruneCommand.name]),
    ]

    private static let tree = [
        ForeignWord(
            "--delete", "--del", "--delete-before", "--delete-during", "--delete-delay", "--delete-after",
            hint:
                "leave it out: what SOURCE no longer has is deleted, and kept in the history; --no-delete deletes nothing"
        ),
        ForeignWord(
            "-a", "--archive", "-r", "--recursive", "-R", "-d", "--dirs",
            hint:
                "leave it out: the whole tree is mirrored, with links, permissions, times and, as root, owners"
        ),
        ForeignWord(
            "-u", "--update", "--ignore-existing", "--existing", "--ignore-non-existing", "--no-clobber",
            hint:
                "TARGET becomes the mirror of SOURCE in any case; what is replaced there is kept in the history"
        ),
        ForeignWord(
            "-b", "--backup", "--backup-dir", "--suffix", "--link-dest", "--compare-dest", "--copy-dest",
            hint:
                "leave it out: what is replaced or deleted is kept; fsync-lite snapshot list TARGET shows it"
        ),
        ForeignWord(
            "-f", "--force", "--ignore-errors",
            hint: "a refusal names the one option that goes ahead; --keep-going mirrors what can be read"),
    ]

    private static let attributes = [
        ForeignWord(
            "-H", "--hard-links", hint: "leave it out: hard links are kept; --no-hard-links copies each name"
        ),
        ForeignWord("-A", "--acls", hint: "leave it out: ACLs are mirrored; --no-acls leaves them alone"),
        ForeignWord(
            "-X", "--xattrs",
            hint: "leave it out: extended attributes are mirrored; --no-xattrs leaves them alone"),
        ForeignWord(
            "-S", "--sparse", hint: "leave it out: holes stay holes; --no-sparse writes them as zeros"),
        ForeignWord(
            "-p", "-t", "-o", "-g", "-l", "-D", "--perms", "--times", "--owner", "--group", "--links",
            "--devices",
            "--specials", "--preserve", "--numeric-ids",
            hint:
                "leave it out: permissions, times, links and, as root, owners by their numbers are mirrored; "
                + "--no-owner leaves owners alone"),
        ForeignWord(
            "-L", "-k", "--copy-links", "--copy-dirlinks", "--copy-unsafe-links", "--safe-links",
            "--dereference",
            hint: "a symlink is mirrored as a symlink; only SOURCE itself may be one that is followed"),
        ForeignWord(
            "--chmod", "--chown", "--usermap", "--groupmap", "-U", "-N", "--atimes", "--crtimes",
            hint:
                "there is nothing like it: the mirror has what SOURCE has, without times of access and birth"),
    ]

    private static let copying = [
        ForeignWord(
            "--bwlimit", "--limit-upload", "--limit-download",
            hint: "--bandwidth RATE, such as --bandwidth 5M"),
        ForeignWord(
            "-z", "--compress", "--compress-level", "--compression",
            hint: "leave it out: SOURCE and TARGET are on this machine, and nothing is compressed"),
        ForeignWord(
            "-c", "-I", "--ignore-times",
            hint: "--checksum compares content; without it, files of which size or a time "
                + "differs are compared or copied"),
        ForeignWord(
            "--size-only", "--modify-window",
            hint: "there is nothing like it: any other time counts as a change"),
        ForeignWord(
            "-W", "--whole-file", "--inplace", "--append", "--append-verify", "--no-whole-file",
            "--delay-updates",
            "-T", "--temp-dir", "-y", "--fuzzy", "--partial-dir",
            hint: "leave it out: what is new is staged in TARGET/.fsync-lite, and renamed when all is there"),
        ForeignWord(
            "--partial", hint: "leave it out: what an interrupted run has copied is used by the next one"),
        ForeignWord("-j", "--jobs", "--transfers", "--checkers", hint: "--threads N"),
        ForeignWord(
            "--preallocate", "--fsync", hint: "leave it out: exit code 0 means that the new tree is durable"),
    ]

    private static let output = [
        ForeignWord(
            "-P", "--progress", "--info", "--human-readable",
            hint: "leave it out: a terminal shows how far the run is, and an interrupted one is resumed"),
        ForeignWord(
            "--stats", "--summary",
            hint: "leave it out: the last line has the totals; --json has them for scripts"),
        ForeignWord(
            "-i", "--itemize-changes",
            hint: "fsync-lite plan lists each change and why; fsync-lite apply --verbose, too"),
    ]

    private static let selection = [
        ForeignWord("-x", hint: "--one-file-system"),
        ForeignWord(
            "-F", "-C", "--filter", "--cvs-exclude", "--include-from", "--files-from", "--exclude-file",
            "--iexclude",
            hint:
                "--exclude PATTERN, --include PATTERN and --exclude-from FILE, with patterns as in a .gitignore; "
                + "the last match decides"),
        ForeignWord(
            "--exclude-if-present",
            hint: "--exclude-caches, or --ignore-file NAME for patterns in each directory"),
        ForeignWord("--exclude-larger-than", hint: "--max-size SIZE"),
        ForeignWord(
            "-m", "--prune-empty-dirs", hint: "there is nothing like it: empty directories are mirrored"),
    ]

    private static let others = [
        ForeignWord(
            "-e", "--rsh", hint: "--ssh COMMAND, with SOURCE as host:path"),
        ForeignWord(
            "--host", "--timeout",
            hint: "leave it out; SOURCE may be a directory of another machine, host:path"),
        ForeignWord("--rsync-path", hint: "--remote-command PATH"),
        ForeignWord(
            "--repo", "--repository-file",
            hint: "what restic calls a repository is TARGET, a directory of plain files"),
        ForeignWord(
            "--password-file", "--password-command", "--encryption",
            hint: "leave it out: nothing is encrypted"),
        ForeignWord(
            "--tag", "--keep-tag", hint: "fsync-lite snapshot create TARGET --label L, and --keep-label L"),
        ForeignWord(
            "--prune",
            hint:
                "leave it out: each apply lets go of what no rule keeps; fsync-lite snapshot prune TARGET does now"
        ),
        ForeignWord("--read-data", hint: "fsync-lite manifest verify MANIFEST TREE reads all files"),
    ]
}
