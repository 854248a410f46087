import FileStorage
import FsyncLite

enum SettingsInitCommand: Command {
    private static let plist = OptionDescription.flag("--plist", "as a property list, not as JSON")

    static let description = CommandDescription(
        "settings init", summary: "Write a file of settings to begin with. Never replaces one.",
        options: [plist, .settingsFile],
        examples: [("fsync-lite settings init", "Begin a file of settings")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let named = invocation.options.value(.settingsFile).map { LocalFile(bytes: $0) }
        let isPropertyList = invocation.options.has(plist)
        guard let directory = named?.parent ?? SettingsSources.directory else {
            throw UsageError(
                "neither XDG_CONFIG_HOME nor HOME says where settings belong", hint: "use --settings FILE")
        }
        let file = named ?? directory + (isPropertyList ? "settings.plist" : "settings.json")
        if let named, named.name.hasSuffix(".plist") != isPropertyList {
            throw UsageError(
                "what a file of settings is, its name says",
                hint: "give a name in .plist with --plist, and only then")
        }
        // An option without a default value is left out.
        let defaults = OptionDescription.settable.filter { !$0.takesValue || $0.isRepeatable }
            .map { ($0.key, $0.takesValue ? SettingValue.list([]) : .flag(false)) }
        let settings = UserSettings(defaults: Dictionary(uniqueKeysWithValues: defaults))
        if named == nil, let other = try SettingsFile<UserSettings>.readIfPresent(in: directory) {
            throw SyncError(.refused, path: other.file.bytes, "is there already, and stays as it is")
        }
        try SettingsFile.create(settings, at: file)
        try console.line("wrote \(file); fsync-lite settings show lists what else can stand in it")
        return .done
    }
}
