import FileStorage
import FileSystem
import FsyncLite

enum SettingsShowCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let settings = try SettingsSources(invocation)
        let jobs = try settings.jobs()
        var layers = settings.defaults
        let place = settings.own.map { "\($0.file)" } ?? "none"
        try console.line("settings     \(place)")
        if let name = invocation.optionalArgument("JOB"), let job = try settings.jobs(named: [name]).first {
            layers = try settings.layers(target: job.target, job: job)
            try console.line("source       \(LocalFile(bytes: job.source))")
            try console.line("target       \(LocalFile(bytes: job.target))")
            for hook in job.hooks { try console.line("\(pad(hook.moment.rawValue, 12)) \(hook)") }
        } else {
            for job in jobs {
                try console.line(
                    "job          \(escapedText(job.name.utf8)): \(LocalFile(bytes: job.source)) to \(LocalFile(bytes: job.target))"
                )
            }
        }
        // Of rules of retention one place counts whole.
        let ruling = layers.last { $0.rulesRetention }
        for option in CommandDescription.settings {
            let isRule = CommandDescription.retention.contains { $0.name == option.name }
            let given = (isRule ? ruling.map { [$0] } ?? [] : layers).compactMap { $0.values[option.name] }
            let counting = option.isRepeatable ? given[...] : given.suffix(1)
            if counting.isEmpty {
                try console.line("\(pad(option.key, 20)) \(pad(text(nil, option), 12)) default")
            }
            for value in counting {
                try console.line("\(pad(option.key, 20)) \(pad(text(value, option), 12)) \(value.place)")
            }
        }
        return .done
    }

    private static func text(_ value: SettingsLayer.Value?, _ option: OptionDescription) -> String {
        guard option.takesValue else { return value?.values == nil ? "false" : "true" }
        let words = (value?.values ?? []).map { Shell.word($0) }
        return words.isEmpty ? "-" : words.joined(separator: " ")
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

enum SettingsInitCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let named = invocation.value("--settings").map { LocalFile(bytes: $0) }
        let isPropertyList = invocation.has("--plist")
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
        // What has no value until somebody gives one is left out.
        let defaults = CommandDescription.settings.filter { !$0.takesValue || $0.isRepeatable }
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
