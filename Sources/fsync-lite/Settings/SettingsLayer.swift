import FileStorage
import FsyncLite

extension SettingsFile {
    /// Adds to an error the location of an invalid value in the file.
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
    var key: String { String(name.dropFirst(2)).replacing("-", with: "_") }
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

    /// - Parameters:
    ///   - path: the keys that lead to the values in the file.
    ///   - others: keys at that level that are no options.
    /// - Throws: `SyncError` with file, line and key for an unknown key and an invalid value.
    init<Content>(
        _ settings: SettingValues, _ origin: Origin, at path: [String], in file: SettingsFile<Content>,
        beside others: [String] = []
    ) throws {
        self.origin = origin
        for (key, value) in settings.sorted(by: { $0.key < $1.key }) where !others.contains(key) {
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

    private static func words(_ value: SettingValue, for option: OptionDescription) throws -> [[UInt8]]? {
        switch value {
        case .flag(let flag) where !option.takesValue: return flag ? [] : nil
        case .list(let list) where option.isRepeatable: return try list.map { try text($0, for: option) }
        case .text, .number:
            guard option.takesValue, !option.isRepeatable else { break }
            let words = [try text(value, for: option)]
            var given = GivenOptions()
            given.append(option, words[0])
            // The options check their values.
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
        case .text(let text):
            guard !text.utf8.contains(0) else {
                throw UsageError("The value contains a NUL", hint: "give a text without \\u0000")
            }
            guard !text.isEmpty || option.placeholder != "PATTERN" else {
                throw UsageError("A pattern is empty", hint: "take it out, it can match nothing")
            }
            guard option.placeholder == "FILE" else { return Array(text.utf8) }
            guard let path = SettingsSources.path(text) else {
                throw UsageError(
                    "\"\(text)\" depends on the working directory", hint: "give the path from / or ~/")
            }
            return path
        case .number(let number) where !option.isRepeatable: return Array(String(number).utf8)
        default: throw UsageError("The value does not fit", hint: "give a list of texts")
        }
    }
}
