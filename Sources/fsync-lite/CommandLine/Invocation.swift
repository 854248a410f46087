/// A command with the values given to it.
///
/// The parser guarantees that every required argument has a value and that an option which is not
/// repeatable has at most one. Values are bytes exactly as given; only `text` and `integer` decode.
struct Invocation: Sendable {
    var command: CommandDescription
    /// By argument name. An argument that was left out has no entry.
    var argumentValues: [String: [[UInt8]]]
    /// By long option name. A flag that was given has an empty list.
    var optionValues: [String: [[UInt8]]]
    /// Each option with a value, in the order given: where options of several names make one list.
    var sequence: [(option: String, value: [UInt8])]

    func has(_ option: String) -> Bool {
        optionValues[option] != nil
    }

    func value(_ option: String) -> [UInt8]? {
        optionValues[option]?.last
    }

    /// Every value of a repeatable option, in the order given.
    func values(_ option: String) -> [[UInt8]] {
        optionValues[option] ?? []
    }

    func text(_ option: String) throws(UsageError) -> String? {
        guard let value = value(option) else { return nil }
        return try Self.decode(value, of: option)
    }

    /// The value of an option as `read` makes it out of the text; nil where the option was not given.
    ///
    /// - Throws: with the way out, where `read` makes nothing of it.
    func value<Value>(
        _ option: String, _ hint: String, _ read: (String) -> Value?
    ) throws(UsageError) -> Value? {
        guard let bytes = value(option) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self), let value = read(text) else {
            throw UsageError("\(quoted(bytes)) is not a value for \(option)", hint: hint)
        }
        return value
    }

    func integer(_ option: String, in range: ClosedRange<Int> = 0...Int.max) throws(UsageError) -> Int? {
        let limits =
            range.upperBound == .max
            ? "\(range.lowerBound) or more" : "from \(range.lowerBound) to \(range.upperBound)"
        return try value(option, "give \(option) a whole number, \(limits)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// The value of a required argument.
    ///
    /// - Throws: only when the argument was left out, so never for one the description requires.
    func argument(_ name: String) throws(UsageError) -> [UInt8] {
        guard let value = optionalArgument(name) else {
            throw UsageError("\(name) is missing", hint: "give '\(command.name)' a value for \(name)")
        }
        return value
    }

    func optionalArgument(_ name: String) -> [UInt8]? {
        argumentValues[name]?.first
    }

    /// Every value of a repeated argument, in the order given.
    func arguments(_ name: String) -> [[UInt8]] {
        argumentValues[name] ?? []
    }

    /// The value of a required argument that is a word rather than a path.
    func argumentText(_ name: String) throws(UsageError) -> String {
        try Self.decode(try argument(name), of: name)
    }

    private static func decode(_ value: [UInt8], of name: String) throws(UsageError) -> String {
        guard let text = String(validating: value, as: UTF8.self) else {
            throw UsageError(
                "the value of \(name) is not valid UTF-8: \(quoted(value))",
                hint: "give \(name) plain text")
        }
        return text
    }
}
