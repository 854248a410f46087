import FileStorage
import FsyncLite

enum SettingsInitCommand: Command {
    private static let plist = OptionDescription.flag("--plist", "as a property list, not as JSON")

    static let description = CommandDescription(
        name: "settings init", summary: "Write a file of settings to begin with. Never replaces one.",
        discussion: """
            A key is an option's name with _ for -, such as keep_daily for --keep-daily; settings show --all lists them all. \
            "defaults" are for every run, and each of the "jobs" is an apply with a name. The file that is written has a \
            job to change; it is disabled, so nothing runs by itself.
            Keys of a job besides the options: "source" and "target", paths from / or ~/; one of them may \
            be on another machine, host:path; "sources", in place of a source, \
            an object of several by name, each a directory of the target; "disabled", true for a job that \
            run leaves out; "comment", a text; and commands.
            Commands: "before" runs before anything is read, and if it fails nothing is applied; "after" runs after an \
            apply that completed the mirror; "on_failure" before any other exit code than 0. Each is a list of words, \
            such as ["mountpoint", "-q", "/mnt/backup"], found by the PATH and run without a shell; a line for a shell is \
            ["sh", "-c", "LINE"]. The last two get the report on standard input, as text for a mail, or with "report": \
            "json" as apply --json writes it; and the variables FSYNC_LITE_JOB, _TARGET, _OUTCOME, _EXIT_CODE and _MESSAGE.
            Retention: "keep_last", "keep_hourly", "keep_daily", "keep_weekly", "keep_monthly" and "keep_yearly" with \
            numbers, "keep_within" with an age such as "30d", "keep_label" with a list of labels. Rules of a job are kept \
            with its target.
            """,
        options: [plist, .settingsFile],
        examples: [("fsync-lite settings init", "Begin a file of settings")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let named = invocation.options.value(.settingsFile).map { LocalFile(bytes: $0) }
        let isPropertyList = invocation.options.has(plist)
        // It fails only if there is no home directory.
        guard let directory = named?.parent ?? (try? SettingsSources.directory) else {
            throw UsageError(
                "neither XDG_CONFIG_HOME nor HOME says where settings belong, nor does the password database",
                hint: "use --settings FILE")
        }
        let file = named ?? directory + (isPropertyList ? "settings.plist" : "settings.json")
        if let named, named.name.hasSuffix(".plist") != isPropertyList {
            throw UsageError(
                "what a file of settings is, its name says",
                hint: "give a name in .plist with --plist, and only then")
        }
        if named == nil, let other = try SettingsFile<UserSettings>.readIfPresent(in: directory) {
            throw SyncError(.refused, path: other.file.bytes, "is there already, and stays as it is")
        }
        try SettingsFile.create(UserSettings.sample, at: file)
        try console.line(
            "wrote \(file), with a job to change that is disabled; fsync-lite help settings init explains it")
        return .done
    }
}
