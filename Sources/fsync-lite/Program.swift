import FsyncLite

/// The command line. Help, parser and completions are made from it.
extension ProgramDescription {
    static let fsyncLite = ProgramDescription(
        name: "fsync-lite",
        summary: "Mirror a directory into another as one transaction.",
        discussion: """
            The target becomes a copy of the source, completely or not at all. After a failure, a kill or a power cut, \
            the next command that writes restores the old tree or completes the new one. A renamed file is moved, not \
            copied again. Old versions are in TARGET/.fsync-lite/history, and the list of all files is \
            TARGET/.fsync-lite/manifest.json.
            The target may be on ext4, xfs, btrfs or tmpfs. It may be on zfs, f2fs and bcachefs if a probe finds the \
            functions that a commit needs. The source may be on any file system, or on another machine over ssh: \
            host:path.
            Each line of output is an action: + create, ~ update, = attributes, > move, - delete, with its causes in \
            brackets. A terminal shows colours, unless NO_COLOR is set, and the progress on standard error.
            """,
        version: "0.2.0",
        released: "2026-11-23",
        sections: sections,
        exitCodes: ExitCode.allCases.map { ($0.rawValue, $0.meaning, $0.isRare) },
        main: ApplyCommand.self, files: files, environment: environment,
        pages: [("settings", { SettingsManualPage(program: $0).text })],
        foreignCommands: ForeignWord.commands, foreignOptions: ForeignWord.options)

    private static let files = [
        (
            "~/.config/fsync-lite/settings.json",
            "your settings, or settings.plist; under XDG_CONFIG_HOME if that is set. help settings init explains them."
        ),
        (
            "~/.local/state/fsync-lite/targets.json",
            "the targets that you have written to; under XDG_STATE_HOME if that is set. root's are in /var/lib/fsync-lite."
        ),
        (
            "~/.local/state/fsync-lite/attempts/",
            "the last 100 runs on each target, for status; root's are in /var/lib/fsync-lite/attempts."
        ),
        ("TARGET/.fsync-lite/manifest.json", "the list of the target's files and directories, one per line"),
        ("TARGET/.fsync-lite/history/", "the old versions, for undo and snapshots"),
        (
            "TARGET/.fsync-lite/settings.json",
            "rules of retention for this target, and defaults of its runs; written by you"
        ),
        (".NAME.fsync-lite/", "beside a target of that name: its state, after an exchange"),
    ]

    private static let environment =
        SettingsManualPage.environment + [
            (
                RemoteAccess.variable,
                "the command that reaches another machine, in place of ssh; --ssh overrides it"
            ),
            (
                KnownTargets.variable,
                "the directory of the records of your targets and runs, in place of ~/.local/state/fsync-lite; if it is empty, nothing is recorded"
            ),
            ("NO_COLOR", "no colours, unless it is empty"),
            ("TERM", "if it is empty or dumb: no colours and no line of progress"),
            ("TZ", "the time zone of times that are shown or given without one"),
        ]

    private static let sections = [
        CommandSection(
            "Every day",
            [PlanCommand.self, ApplyCommand.self, RunCommand.self, StatusCommand.self, UndoCommand.self]),
        CommandSection(
            "Old versions",
            [
                SnapshotListCommand.self, SnapshotShowCommand.self, SnapshotDiffCommand.self,
                SnapshotFindCommand.self, SnapshotRestoreCommand.self, SnapshotMountCommand.self,
                SnapshotPruneCommand.self,
            ]),
        CommandSection(
            "Check", [VerifyCommand.self, ExplainCommand.self]),
        CommandSection("Set up", [SettingsInitCommand.self, SettingsShowCommand.self]),
        CommandSection(
            "Rarely needed",
            [
                RecoverCommand.self, CommitCommand.self, AbandonCommand.self, ServeCommand.self,
                SnapshotLogCommand.self, SnapshotCreateCommand.self, SnapshotRemoveCommand.self,
                SnapshotPurgeCommand.self, ManifestShowCommand.self,
                ManifestListCommand.self, ManifestDiffCommand.self, ManifestCreateCommand.self,
                ManifestExportCommand.self, ManifestVerifyCommand.self, SnapshotVerifyCommand.self,
                CompletionsCommand.self, HelpCommand.self,
            ], isRare: true),
    ]
}
