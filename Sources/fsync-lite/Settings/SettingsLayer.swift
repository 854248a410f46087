import FileStorage
import FsyncLite

extension SettingsFile {
    /// Adds the location of an invalid value in the file to an error.
    func locating<Result>(_ path: [String], _ read: () throws -> Result) throws -> Result {
        do {
            return try read()
        } catch let error as UsageError {
            throw self.error(path, "\(error.message); \(error.hint)")
        }
    }
}

extension OptionDescription {
    /// The option's key in settings: `max_delete` for `--max-delete`.
    var key: String { OptionDescription.key(of: name) }

    static func key(of name: String) -> String { String(name.dropFirst(2)).replacing("-", with: "_") }
}

/// The options of one part of the settings, checked like a command line.
struct SettingsLayer {
    struct Value {
        /// nil for a flag that is off; empty for one that is on.
        let values: [[UInt8]]?
        /// File and line.
        let location: String
    }

    /// The origin of a layer, weakest first.
    enum Origin {
        /// The `defaults` of the user's settings.
        case defaults
        /// The `defaults` of the target's settings.
        case target
        case job
    }

    let origin: Origin
    /// By long option name.
    private(set) var values: [String: Value] = [:]
    /// Notes on keys that have no effect any more.
    private(set) var notes: [String] = []

    /// - Parameters:
    ///   - path: the keys that lead to the values in the file.
    ///   - others: keys at that level that are not options.
    /// - Throws: `SyncError` with file, line and key for an unknown key and an invalid value.
    init<Content>(
        _ settings: SettingValues, _ origin: Origin, at path: [String], in file: SettingsFile<Content>,
        beside others: [String] = []
    ) throws {
        self.origin = origin
        for (key, value) in settings.sorted(by: { $0.key < $1.key }) where !others.contains(key) {
            if let removed = RemovedOption.all.first(where: { OptionDescription.key(of: $0.name) == key }) {
                notes.append(
                    "\(file.location(of: path + [key])): remove \"\(key)\", which changes nothing: \(removed.reason)"
                )
                continue
            }
            guard let option = OptionDescription.settable.first(where: { $0.key == key }) else {
                let known = OptionDescription.settable.map(\.key) + others
                let closest = EditDistance.closest(to: Array(key.utf8)[...], among: known)
                throw file.error(
                    path + [key], "The key is unknown" + (closest.map { "; did you mean \($0)?" } ?? "."))
            }
            values[option.name] = Value(
                values: try file.locating(path + [key]) { try SettingsLayer.words(value, for: option) },
                location: file.location(of: path + [key]))
        }
        _ = try file.locating(path) { try RetentionOptions(retention) }
    }

    /// Options that another machine sent.
    init(_ sent: [RemoteCommand.Option], _ origin: Origin) throws {
        self.origin = origin
        for option in sent {
            let description = OptionDescription.settable.first { $0.name == option.name }
            // Not a log file of this machine, because the client may have no right to write it.
            let isOfClient =
                option.name == OptionDescription.logFile.name && option.values == [RunLog.ofClient]
            let fits =
                switch description {
                case let known? where known.isOfThisMachine: isOfClient
                case let known? where known.isRepeatable: option.values != nil
                case let known?: option.values.map(known.takes) ?? !known.takesValue
                case nil: false
                }
            let value = Value(values: option.values, location: "the client's settings")
            guard fits, values.updateValue(value, forKey: option.name) == nil else {
                throw UsageError(
                    "the other machine's fsync-lite does not accept the option \(quoted(Array(option.name.utf8))) of settings",
                    hint: "install the same version on both machines")
            }
        }
    }

    /// The options for another machine. Patterns are one list, in the order in which they are joined.
    func sent() throws -> [RemoteCommand.Option] {
        let patterns = SyncOptions.patterns
        var given = GivenOptions()
        for option in patterns { given.append(option, values: self) }
        let rules = try SyncOptions.filters(given).rules.map(\.text)
        let logFile = OptionDescription.logFile.name
        let others = values.sorted { $0.key < $1.key }
            .filter { value in !patterns.contains(where: { $0.name == value.key }) }
            .map { RemoteCommand.Option($0.key, $0.key == logFile ? [RunLog.ofClient] : $0.value.values) }
        return others
            + (rules.isEmpty ? [] : [RemoteCommand.Option(SyncOptions.exclude.name, rules)])
    }

    private static func words(_ value: SettingValue, for option: OptionDescription) throws -> [[UInt8]]? {
        switch value {
        case .bool(let flag) where !option.takesValue: return flag ? [] : nil
        case .string(let word) where option.choices.contains(word) && !option.takesValue:
            return [Array(word.utf8)]
        case .array(let list) where option.isRepeatable: return try list.map { try text($0, for: option) }
        case .string, .int:
            guard option.takesValue, !option.isRepeatable else { break }
            let words = [try text(value, for: option)]
            var given = GivenOptions()
            given.append(option, words[0])
            // Reading the options checks their values.
            _ = try (SyncOptions(given), RetentionOptions(given))
            return words
        default: break
        }
        let wanted =
            !option.takesValue
            ? "true or false" : option.isRepeatable ? "a list of texts" : "a text or a number"
        throw UsageError("The value does not fit", hint: "give \(wanted)")
    }

    private static func text(_ value: SettingValue, for option: OptionDescription) throws -> [UInt8] {
        switch value {
        case .string(let text):
            guard !text.utf8.contains(0) else {
                throw UsageError("The value contains a NUL", hint: "give a text without \\u0000")
            }
            guard !text.isEmpty || option.valueKind != .pattern else {
                throw UsageError("A pattern is empty", hint: "remove it, it can match nothing")
            }
            guard option.placeholder == "FILE" else { return Array(text.utf8) }
            guard let path = try SettingsSources.path(text) else {
                throw UsageError(
                    "\"\(text)\" depends on the working directory", hint: "give the path from / or ~/")
            }
            return path
        case .int(let number) where !option.isRepeatable: return Array(String(number).utf8)
        default: throw UsageError("The value does not fit", hint: "give a list of texts")
        }
    }
}
