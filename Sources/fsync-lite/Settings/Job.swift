import FileStorage
import FileSystem
import FsyncLite

/// A named apply from the settings.
struct Job {
    let name: String
    let source: MirrorSource
    let target: [UInt8]
    let options: SettingsLayer
    let hooks: [Hook]
    /// The job's commands receive the report as JSON, not as text.
    let reportsJSON: Bool
    /// The location in the settings that disables the job; nil if it is enabled.
    let disabled: String?

    init(_ name: String, _ values: SettingValues, in file: SettingsFile<UserSettings>) throws {
        let path = ["jobs", name]
        func directory(_ value: SettingValue?, _ keys: [String]) throws -> [UInt8] {
            guard case .string(let text)? = value, let directory = try SettingsSources.path(text) else {
                throw file.error(path + keys, "A path from / or ~/ is needed.")
            }
            guard !directory.contains(0) else {
                throw file.error(path + keys, "A path without NUL is needed.")
            }
            return directory
        }
        /// The directory on another machine that a value names; nil for any other value.
        func endpoint(_ value: SettingValue, _ keys: [String]) throws -> Endpoint? {
            guard case .string(let text) = value else { return nil }
            do throws(Endpoint.Fault) {
                return try Endpoint(Array(text.utf8))
            } catch {
                throw file.error(path + keys, "This names another machine, but \(error.reason).")
            }
        }
        func source() throws -> MirrorSource {
            guard let sources = values[Job.sources] else {
                guard let value = values[Job.source] else {
                    throw file.error(path, "\"\(Job.source)\" or \"\(Job.sources)\" is missing.")
                }
                if let endpoint = try endpoint(value, [Job.source]) {
                    return .remote(endpoint, RemoteAccess())
                }
                return .directory(try directory(value, [Job.source]))
            }
            guard values[Job.source] == nil else {
                throw file.error(
                    path + [Job.sources],
                    "A job has \"\(Job.source)\" or \"\(Job.sources)\", not both.")
            }
            guard case .object(let named) = sources, !named.isEmpty else {
                throw file.error(path + [Job.sources], "An object is needed: each source by a name.")
            }
            return .named(
                try named.reduce(into: [:]) { paths, source in
                    let keys = [Job.sources, source.key]
                    if let fault = MirrorSource.fault(ofName: source.key) {
                        throw file.error(path + keys, "\(fault.prefix(1).uppercased())\(fault.dropFirst()).")
                    }
                    guard try endpoint(source.value, keys) == nil else {
                        throw file.error(
                            path + keys,
                            "Several sources are of this machine; make a job of each that is on another one.")
                    }
                    paths[source.key] = try directory(source.value, keys)
                })
        }
        guard !name.isEmpty, !name.hasPrefix("-") else {
            throw file.error(path, "The name of a job is a word that does not begin with -.")
        }
        self.name = name
        self.source = try source()
        guard let value = values[Job.target] else { throw file.error(path, "\"\(Job.target)\" is missing.") }
        target =
            if case .string(let text) = value, try endpoint(value, [Job.target]) != nil {
                Array(text.utf8)
            } else {
                try directory(value, [Job.target])
            }
        let moments = Hook.Moment.allCases
        options = try SettingsLayer(
            values, .job, at: path, in: file,
            beside: [Job.source, Job.sources, Job.target, Job.disabled, Job.comment, Job.report]
                + moments.map(\.rawValue)
        )
        hooks = try moments.compactMap { moment in
            guard let value = values[moment.rawValue] else { return nil }
            return try file.locating(path + [moment.rawValue]) { try Hook(moment, value) }
        }
        switch values[Job.disabled] {
        case nil, .bool(false): disabled = nil
        case .bool(true): disabled = file.location(of: path + [Job.disabled])
        default: throw file.error(path + [Job.disabled], "The value does not fit; give true or false.")
        }
        switch values[Job.report] {
        case nil, .string("text"): reportsJSON = false
        case .string("json"): reportsJSON = true
        default: throw file.error(path + [Job.report], "The value does not fit; give \"text\" or \"json\".")
        }
        switch values[Job.comment] {
        case nil, .string: break
        default: throw file.error(path + [Job.comment], "The value does not fit; give a text.")
        }
    }

    /// A client's job, whose target is on this machine.
    init(
        _ name: String, _ source: MirrorSource, target: [UInt8], _ options: [RemoteCommand.Option]
    ) throws {
        (self.name, self.source, self.target) = (name, source, target)
        self.options = try SettingsLayer(options, .job)
        (hooks, disabled, reportsJSON) = ([], nil, false)
    }

    /// The keys of a job that are not options.
    static let source = "source"
    static let sources = "sources"
    static let target = "target"
    static let disabled = "disabled"
    static let comment = "comment"
    static let report = "report"

    /// A command line about this job, with the option for its settings file.
    func command(_ verb: String, _ options: [String] = [], _ given: GivenOptions) -> String {
        let settings = given.value(.settingsFile).map {
            [OptionDescription.settingsFile.name, Shell.word($0)]
        }
        return (["fsync-lite", verb, Shell.word(Array(name.utf8))] + options + (settings ?? []))
            .joined(separator: " ")
    }

    func labelled(_ text: String) -> String { "\(escapedText(name.utf8)): \(text)" }
}
