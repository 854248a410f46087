import FsyncLite

/// The manual page of the settings, in section 5. Its keys are those of the options.
struct SettingsManualPage: Sendable {
    let program: ProgramDescription

    var text: String {
        let name = ManualMarkup.escaped(program.name)
        var lines = [
            ".TH \(name.uppercased())\\-SETTINGS 5 \(program.released) \"\(name) \(program.version)\" \"File Formats\"",
            ".SH NAME", "\(name)\\-settings \\- defaults and jobs of \(name)",
        ]
        lines += [".SH DESCRIPTION"] + ManualMarkup.paragraphs(SettingsManualPage.discussion)
        lines += [".SH KEYS OF A JOB"] + SettingsManualPage.jobKeys.flatMap(ManualMarkup.boldItem)
        lines += [".SH HOOKS"] + ManualMarkup.paragraphs(SettingsManualPage.hooks)
        lines += SettingsManualPage.hookKeys.flatMap(ManualMarkup.boldItem)
        lines += [".SH KEYS OF OPTIONS"] + ManualMarkup.text(SettingsManualPage.options)
        for section in OptionDescription.settable.sections {
            let heading = section.heading.prefix { $0 != ":" }
            lines += [".SS \(ManualMarkup.escaped(String(heading)))"] + section.options.flatMap(optionLines)
        }
        lines +=
            [".SH EXAMPLES", ".nf"]
            + SettingsManualPage.example.split(separator: "\n").map { line in
                ManualMarkup.escaped(String(line))
            }
        lines += [".fi", ".SH FILES"] + SettingsManualPage.files.flatMap(ManualMarkup.boldItem)
        lines += [".SH ENVIRONMENT"] + SettingsManualPage.environment.flatMap(ManualMarkup.boldItem)
        lines += [".SH EXIT STATUS"] + ManualMarkup.text(SettingsManualPage.exitStatus)
        lines += [".SH SEE ALSO", "\\fB\(name)\\fR(1)"]
        return lines.joined(separator: "\n") + "\n"
    }

    private func optionLines(_ option: OptionDescription) -> [String] {
        let words = ["true", "false"] + option.choices.map { "\"\($0)\"" }
        let value =
            option.isRepeatable
            ? "list of texts"
            : option.placeholder.map { $0 == "N" ? "number" : $0 }
                ?? "\(words.dropLast().joined(separator: ", ")) or \(words.last ?? "")"
        return ManualMarkup.item(
            "\\fB\(ManualMarkup.escaped(option.key))\\fR: \\fI\(ManualMarkup.escaped(value))\\fR",
            option.wholeHelp)
    }

    private static let discussion = """
        Settings are a JSON object, or a property list with the same keys. "defaults" are for every run. Each of the \
        "jobs" has a name and is run with "fsync-lite run NAME".
        If a value is set twice, the command line wins, then the job. Next are the "defaults" in the target's own \
        settings, and last the user's "defaults". Lists of patterns are joined, and the patterns of the first place \
        decide. "fsync-lite settings show" prints all values, with file and line.
        Rules of retention are not joined: the first place with a rule wins. The order is the command line or the job, \
        then the target's own settings, then the rules that the target has stored. Then follow the user's "defaults", \
        and last a week and the last three runs.
        An unknown key, a key given twice or a wrong value is an error with file, line, column and key.
        """

    private static let jobKeys = [
        (Job.source, "the directory whose contents are mirrored: a path from / or ~/, or host:path"),
        (
            Job.sources,
            """
            in place of a source, several with names, such as {"etc": "/etc", "home": "/home"}. Each is mirrored to the \
            directory of its name in the target, all in one transaction. A name has at most 255 bytes; .fsync-lite and \
            lost+found are reserved. Patterns are paths in the target, such as /home/*/.cache. The guards check each \
            source by itself
            """
        ),
        (Job.target, "the directory that becomes the mirror: a path from / or ~/, or host:path"),
        (Job.disabled, "true: run leaves this job out"), (Job.comment, "a text, for people"),
        (
            Job.report,
            "\"text\", the default, or \"json\": the form of the report that the hooks get on standard input. json is the same as with apply --json"
        ),
    ]

    private static let hooks = """
        Each command of a job is a word or a list of words, such as ["mountpoint", "-q", "/mnt/backup"]. It is found \
        by the PATH and run without a shell. For a shell, write ["sh", "-c", "LINE"]. \(Hook.variable) is the job's name.
        "after" and "on_failure" get the report on standard input: a text for a mail, or JSON with "\(Job.report)": "json". \
        They have these variables, too. FSYNC_LITE_TARGET is the path of the target. FSYNC_LITE_OUTCOME is committed, \
        unchanged, refused, failed or pending. FSYNC_LITE_EXIT_CODE is the exit code. FSYNC_LITE_MESSAGE says in one line \
        why the exit code is not 0; else it is empty.
        """

    private static let hookKeys = [
        (
            Hook.Moment.before.rawValue,
            "before anything is read. If it fails, nothing is copied, and the exit code is 1"
        ),
        (
            Hook.Moment.after.rawValue,
            "after a run that completed the mirror. If it fails, the exit code is 3"
        ),
        (Hook.Moment.onFailure.rawValue, "before any exit code other than 0"),
    ]

    private static let options = """
        In "defaults", in jobs and in a target's own settings, each option below is a key, with _ for -. A value in \
        capitals is a text. max_delete also takes a text, such as "20%".
        """

    private static let example = """
        {
          "defaults": {"exclude_caches": true},
          "jobs": {
            "photos": {
              "source": "/srv/photos",
              "target": "/mnt/backup/photos",
              "exclude": ["*.tmp", "!keep.tmp"],
              "max_delete": "20%",
              "keep_daily": 14,
              "keep_within": "30d",
              "before": ["mountpoint", "-q", "/mnt/backup"],
              "on_failure": ["mail", "-s", "photos were not mirrored", "root"]
            }
          }
        }
        """

    private static let files = [
        ("~/.config/fsync-lite/settings.json", "the user's settings, or settings.plist"),
        (
            "/etc/fsync-lite/settings.json",
            "settings for the systemd units and the crontab of the program, which give it with --settings"
        ),
        (
            "TARGET/.fsync-lite/settings.json",
            "the \"defaults\" of a target, and its rules of retention; it has no jobs"
        ),
    ]

    static let environment = [
        ("XDG_CONFIG_HOME", "where fsync-lite/settings.json is, in place of ~/.config"),
        (
            "HOME",
            "the home directory, for ~/ in paths of settings; without it, that of the password database"
        ),
        ("PATH", "the directories of the hooks' programs"),
    ]

    private static let exitStatus =
        "Invalid settings end a command with 65, and nothing is done. An unknown job ends it with 64."
}
