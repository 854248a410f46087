import FileStorage
import FileSystem
import FsyncLite

/// A named apply from the settings.
struct Job {
    let name: String
    let source: [UInt8]
    let target: [UInt8]
    let options: SettingsLayer
    let hooks: [Hook]
    /// The location in the settings that says that the job is not to be run; nil if it may.
    let disabled: String?

    init(_ name: String, _ values: SettingValues, in file: SettingsFile<UserSettings>) throws {
        let path = ["jobs", name]
        func directory(_ key: String) throws -> [UInt8] {
            guard let value = values[key] else { throw file.error(path, "\"\(key)\" is missing.") }
            guard case .text(let text) = value, let directory = SettingsSources.path(text) else {
                throw file.error(path + [key], "A path from / or ~/ is needed.")
            }
            return directory
        }
        self.name = name
        source = try directory("source")
        target = try directory("target")
        let moments = Hook.Moment.allCases
        options = try SettingsLayer(
            values, .job, at: path, in: file,
            beside: ["source", "target", Job.disabled, Job.comment] + moments.map(\.rawValue))
        hooks = try moments.compactMap { moment in
            guard let value = values[moment.rawValue] else { return nil }
            return try file.locating(path + [moment.rawValue]) { try Hook(moment, value) }
        }
        switch values[Job.disabled] {
        case nil, .flag(false): disabled = nil
        case .flag(true): disabled = file.location(of: path + [Job.disabled])
        default: throw file.error(path + [Job.disabled], "The value does not fit; give true or false.")
        }
        switch values[Job.comment] {
        case nil, .text: break
        default: throw file.error(path + [Job.comment], "The value does not fit; give a text.")
        }
    }

    /// Keys of a job that are no options.
    static let disabled = "disabled"
    static let comment = "comment"

    /// A command line about this job, with the settings that it comes from.
    func command(_ verb: String, _ options: [String] = [], _ given: GivenOptions) -> String {
        let settings = given.value(.settingsFile).map {
            [OptionDescription.settingsFile.name, Shell.word($0)]
        }
        return (["fsync-lite", verb, Shell.word(Array(name.utf8))] + options + (settings ?? []))
            .joined(separator: " ")
    }

    func labelled(_ text: String) -> String { "\(escapedText(name.utf8)): \(text)" }
}
