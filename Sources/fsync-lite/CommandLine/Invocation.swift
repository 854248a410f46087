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

    func integer(_ option: String, in range: ClosedRange<Int> = 0...Int.max) throws(UsageError) -> Int? {
        guard let value = value(option) else { return nil }
        guard let text = String(validating: value, as: UTF8.self), let number = Int(text),
            range.contains(number)
        else {
            let accepted =
                range.upperBound == .max
                ? "\(range.lowerBound) or more" : "from \(range.lowerBound) to \(range.upperBound)"
            throw UsageError(
                "\(QuotedBytes(value)) is not a value for \(option)",
                wayOut: "give \(option) a whole number, \(accepted)")
        }
        return number
    }

    /// The value of a required argument.
    ///
    /// - Throws: only when the argument was left out, so never for one the description requires.
    func argument(_ name: String) throws(UsageError) -> [UInt8] {
        guard let value = optionalArgument(name) else {
            throw UsageError("\(name) is missing", wayOut: "give '\(command.name)' a value for \(name)")
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
                "the value of \(name) is not valid UTF-8: \(QuotedBytes(value))",
                wayOut: "give \(name) plain text")
        }
        return text
    }
}
