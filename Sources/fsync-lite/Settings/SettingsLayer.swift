import FileStorage
import FsyncLite

extension OptionDescription {
    /// What settings call it: `max_delete` for `--max-delete`.
    var key: String { String(name.dropFirst(2)).replacing("-", with: "_") }
}

/// The options that settings give in one place, checked, as a command line would have them.
struct SettingsLayer {
    struct Value {
        /// nil for a flag that is off; none for one that is on.
        let values: [[UInt8]]?
        /// The file and the line.
        let place: String
    }

    /// Where the options stand, the weakest first.
    enum Place {
        /// The `defaults` of a person's own settings.
        case defaults
        /// The `defaults` of the target's settings.
        case target
        case job
    }

    let place: Place
    /// By long option name.
    private(set) var values: [String: Value] = [:]

    /// - Parameters:
    ///   - path: the names that lead to the values in the file.
    ///   - others: keys that stand there too and are no options.
    /// - Throws: `SyncError` with file, line and key for an unknown key and a value that the option does not take.
    init<Content>(
        _ settings: SettingValues, _ place: Place, at path: [String], in file: SettingsFile<Content>,
        beside others: [String] = []
    ) throws {
        self.place = place
        for (key, value) in settings.sorted(by: { $0.key < $1.key }) where !others.contains(key) {
            guard let option = CommandDescription.settings.first(where: { $0.key == key }) else {
                let known = CommandDescription.settings.map(\.key) + others
                let closest = EditDistance.closest(to: Array(key.utf8)[...], among: known)
                throw file.error(
                    path + [key], "The key is unknown" + (closest.map { "; did you mean \($0)?" } ?? "."))
            }
            do {
                values[option.name] = Value(
                    values: try SettingsLayer.words(value, for: option), place: file.place(of: path + [key]))
            } catch let error as UsageError {
                throw file.error(path + [key], "\(error.message); \(error.hint)")
            }
        }
        do {
            _ = try RetentionOptions(retention)
        } catch let error as UsageError {
            throw file.error(path, "\(error.message); \(error.hint)")
        }
    }

    /// The rules of retention, as a command line would have them.
    var retention: Invocation {
        var rules: [String: [[UInt8]]] = [:]
        for option in CommandDescription.retention { rules[option.name] = values[option.name]?.values }
        return Invocation(command: .apply, argumentValues: [:], optionValues: rules, sequence: [])
    }

    /// Whether it has rules of retention, or forgets those that are kept.
    var rulesRetention: Bool { !retention.optionValues.isEmpty }

    private static func words(_ value: SettingValue, for option: OptionDescription) throws -> [[UInt8]]? {
        switch value {
        case .flag(let flag) where !option.takesValue: return flag ? [] : nil
        case .list(let list) where option.isRepeatable: return try list.map { try text($0, for: option) }
        case .text, .number:
            guard option.takesValue, !option.isRepeatable else { break }
            let words = [try text(value, for: option)]
            // The option's own judgement.
            _ = try SyncOptions(
                Invocation(
                    command: .apply, argumentValues: [:], optionValues: [option.name: words], sequence: []))
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

extension Invocation {
    /// The same with what settings say where the command line says nothing. Lists are joined, so that of
    /// patterns the stronger ones decide.
    ///
    /// - Parameters:
    ///   - layers: the weakest first.
    ///   - options: those that settings may give here.
    func over(_ layers: [SettingsLayer], _ options: [OptionDescription]) -> Invocation {
        var result = self
        var sequence: [(option: String, value: [UInt8])] = []
        for option in options {
            let given = layers.compactMap { $0.values[option.name] }
            if option.isRepeatable {
                let values = given.flatMap { $0.values ?? [] } + values(option.name)
                if !values.isEmpty { result.optionValues[option.name] = values }
            } else if optionValues[option.name] == nil, let values = given.last?.values {
                result.optionValues[option.name] = values
            }
        }
        for layer in layers {
            for option in options where option.isRepeatable {
                sequence += (layer.values[option.name]?.values ?? []).map { (option.name, $0) }
            }
        }
        result.sequence = sequence + self.sequence
        return result
    }
}
