import FileStorage
import FileSystem
import FsyncLite

enum SettingsShowCommand: Command {
    private static let job = ArgumentDescription("JOB", "the name of a job", optional: true)

    private static let names = OptionDescription.flag("--jobs", "only the names of the jobs, one per line")

    private static let all = OptionDescription.flag("--all", "also the options with their defaults")

    static let description = CommandDescription(
        name: "settings show", summary: "Show the settings, and where each value comes from.",
        arguments: [job],
        options: [names, all, .settingsFile],
        examples: [("fsync-lite settings show photos", "See the settings of a job, and their files")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let settings = try SettingsSources(invocation.options)
        let jobs = try settings.jobs()
        guard !invocation.options.has(names) else {
            for job in jobs { try console.line(escapedText(job.name.utf8)) }
            return .done
        }
        var layers = settings.defaults
        try console.line("settings     \(settings.own.map { "\($0.file)" } ?? "none")")
        if let name = invocation.values(job).first, let job = try settings.jobs(named: [name]).first {
            let isHere = try Endpoint(argument: job.target) == nil
            layers = try settings.layers(target: isHere ? job.target : nil, job: job)
            for source in job.source.directories {
                try console.line("source       \(MirrorSource.text(source.name, source.path))")
            }
            try console.line("target       \(LocalFile(bytes: job.target))")
            for hook in job.hooks { try console.line("\(hook.moment.rawValue.padded(to: 12)) \(hook)") }
        } else {
            for job in jobs {
                let sources = job.source.directories.map { "\(LocalFile(bytes: $0.path))" }
                let trees = "\(sources.joined(separator: ", ")) to \(LocalFile(bytes: job.target))"
                try console.line(
                    "job          \(job.labelled(trees))\(job.disabled == nil ? "" : " (disabled)")")
            }
        }
        // All retention rules come from one layer.
        let ruling = layers.last { !$0.retention.list.isEmpty }
        for option in OptionDescription.settable {
            let isRule = OptionDescription.retention.contains { $0.name == option.name }
            let given = (isRule ? ruling.map { [$0] } ?? [] : layers).compactMap { $0.values[option.name] }
            let counting = option.isRepeatable ? given[...] : given.suffix(1)
            let key = option.key.padded(to: 20)
            if counting.isEmpty, invocation.options.has(all) {
                try console.line("\(key) \(text(nil, option).padded(to: 12)) default")
            }
            for value in counting {
                try console.line("\(key) \(text(value, option).padded(to: 12)) \(value.location)")
            }
        }
        return .done
    }

    private static func text(_ value: SettingsLayer.Value?, _ option: OptionDescription) -> String {
        let words = (value?.values ?? []).map { Shell.word($0) }
        guard option.takesValue || !words.isEmpty else { return value?.values == nil ? "false" : "true" }
        return words.isEmpty ? "-" : words.joined(separator: " ")
    }
}
