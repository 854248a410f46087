import FileStorage
import FsyncLite

enum SettingsInitCommand: Command {
    private static let plist = OptionDescription.flag("--plist", "write a property list, not JSON")

    static let description = CommandDescription(
        name: "settings init", summary: "Write a settings file to begin with. Never replaces one.",
        discussion: """
            A key is an option's name with _ for -, such as keep_daily for --keep-daily; settings show --all lists them \
            all. "defaults" are for every run. Each of the "jobs" has a name. The new file has one job to \
            change. It is disabled, so nothing runs by itself.
            A job has more keys: "source" and "target" are paths from / or ~/, and one of them may be host:path. \
            "sources", in place of "source", is an object of several by name, each a directory of the target. \
            "disabled": true makes run leave the job out. "comment" is a text.
            "before" runs first; if it fails, nothing is copied. "after" runs after a run that completed the mirror. \
            "on_failure" runs before any exit code other than 0. Each is a list of words, such as \
            ["mountpoint", "-q", "/mnt/backup"], found by the PATH and run without a shell. For a shell, write \
            ["sh", "-c", "LINE"]. The last two get the report on standard input: a text for a mail, or JSON with \
            "report": "json". They also get the variables FSYNC_LITE_JOB, _TARGET, _OUTCOME, _EXIT_CODE and _MESSAGE.
            Retention: "keep_last", "keep_hourly", "keep_daily", "keep_weekly", "keep_monthly" and "keep_yearly" have \
            numbers. "keep_within" has an age such as "30d", "keep_label" a list of labels.
            """,
        options: [plist, .settingsFile],
        examples: [("fsync-lite settings init", "Begin a file of settings")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let named = invocation.options.value(.settingsFile).map { LocalFile(bytes: $0) }
        let isPropertyList = invocation.options.has(plist)
        // It fails only if there is no home directory.
        guard let directory = named?.parent ?? (try? SettingsSources.directory) else {
            throw UsageError(
                "no home directory is known: XDG_CONFIG_HOME and HOME are not set, and the password database has none",
                hint: "use --settings FILE")
        }
        let file = named ?? directory + (isPropertyList ? "settings.plist" : "settings.json")
        if let named, named.name.hasSuffix(".plist") != isPropertyList {
            throw UsageError(
                "a property list needs a name in .plist, and JSON another name",
                hint: "give --plist and a name in .plist, or neither")
        }
        if named == nil, let other = try SettingsFile<UserSettings>.readIfPresent(in: directory) {
            throw SyncError(.refused, path: other.file.bytes, "already exists, and is left unchanged")
        }
        try SettingsFile.create(UserSettings.sample, at: file)
        try console.line(
            "wrote \(file), with a disabled job to change. To see all keys: fsync-lite settings show --all")
        return .done
    }
}
