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
            values, .job, at: path, in: file, beside: ["source", "target"] + moments.map(\.rawValue))
        hooks = try moments.compactMap { moment in
            guard let value = values[moment.rawValue] else { return nil }
            guard let hook = Hook(moment, value) else {
                throw file.error(
                    path + [moment.rawValue], "A command is needed, alone or with its words in a list.")
            }
            return hook
        }
    }

    func labelled(_ text: String) -> String { "\(escapedText(name.utf8)): \(text)" }
}
