import FsyncLite

/// The command line. Help, parser and completions are made from it.
extension ProgramDescription {
    static let fsyncLite = ProgramDescription(
        name: "fsync-lite",
        summary: "Mirror a directory into another as one transaction.",
        discussion: """
            The contents of a directory become the contents of another: after a failure, a kill or a power cut the \
            target is the old tree or the new one once the next command that writes has run, never a mixture. What \
            was renamed is recognized instead of copied again. What the last apply displaced is kept in \
            TARGET/.fsync-lite/history, and TARGET/.fsync-lite/manifest.json says what the target holds.
            The target may be on ext4, xfs, btrfs or tmpfs, and on zfs, f2fs and bcachefs where a probe finds what a \
            commit needs; the source may be anywhere, \
            also a directory of another machine, host:path, over ssh.
            A line of output stands for an action: + create, ~ update, = attributes, > move, - delete, with its \
            causes in brackets. It is coloured on a terminal, unless NO_COLOR is set. While a run goes on, a \
            terminal shows on standard error how far it is.
            """,
        version: "0.2.0",
        released: "2026-11-23",
        sections: sections,
        exitCodes: ExitCode.allCases.map { ($0.rawValue, $0.meaning, $0.isRare) },
        files: files, environment: environment,
        pages: [("settings", { SettingsManualPage(program: $0).text })],
        foreignCommands: ForeignWord.commands, foreignOptions: ForeignWord.options)

    private static let files = [
        (
            "~/.config/fsync-lite/settings.json",
            "your settings, or settings.plist; under XDG_CONFIG_HOME where that is set. help settings init explains them."
        ),
        (
            "~/.local/state/fsync-lite/targets.json",
            "the targets that you have written to; under XDG_STATE_HOME where that is set. root's are in /var/lib/fsync-lite."
        ),
        (
            "~/.local/state/fsync-lite/attempts/",
            "the last 100 runs on each target, for status; root's are in /var/lib/fsync-lite/attempts."
        ),
        ("TARGET/.fsync-lite/manifest.json", "what the target holds, one entry per line"),
        ("TARGET/.fsync-lite/history/", "what the applies displaced, for undo and snapshots"),
        (
            "TARGET/.fsync-lite/settings.json",
            "retention of this target, and defaults of its runs; written by you"
        ),
        (".NAME.fsync-lite/", "beside a target of that name: its state, after an exchange"),
    ]

    private static let environment =
        SettingsManualPage.environment + [
            (
                RemoteAccess.variable,
                "the command that reaches another machine, in place of ssh; --ssh goes before it"
            ),
            (
                KnownTargets.variable,
                "the directory of the records of your targets and runs, in place of ~/.local/state/fsync-lite; if it is empty, none is kept"
            ),
            ("NO_COLOR", "no colours, unless it is empty"),
            ("TERM", "no colours and no line of progress where it is empty or dumb"),
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
