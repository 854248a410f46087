/// The options given by a command line or settings.
struct GivenOptions: Sendable {
    /// In the order given, because several options can add to one list. A flag has no value.
    private(set) var list: [(name: String, value: [UInt8]?)] = []

    static func + (first: GivenOptions, second: GivenOptions) -> GivenOptions {
        GivenOptions(list: first.list + second.list)
    }

    mutating func append(_ option: OptionDescription, _ value: [UInt8]? = nil) {
        list.append((option.name, value))
    }

    mutating func remove(_ option: OptionDescription) {
        list.removeAll { $0.name == option.name }
    }

    /// Each option as one word of a command line, with its value.
    var words: [[UInt8]] {
        list.map { name, value in Array(name.utf8) + (value.map { Array("=".utf8) + $0 } ?? []) }
    }

    /// These options as words of a command line.
    ///
    /// - Parameter known: their descriptions. Other options are left out.
    func words(of known: [OptionDescription]) -> [[UInt8]] {
        list.flatMap { given in known.first { $0.name == given.name }?.words(given.value) ?? [] }
    }

    func has(_ option: OptionDescription) -> Bool {
        list.contains { $0.name == option.name }
    }

    func value(_ option: OptionDescription) -> [UInt8]? {
        values(option).last
    }

    /// Every value of a repeatable option, in the order given.
    func values(_ option: OptionDescription) -> [[UInt8]] {
        list.compactMap { $0.name == option.name ? $0.value : nil }
    }

    func text(_ option: OptionDescription) throws(UsageError) -> String? {
        guard let value = value(option) else { return nil }
        return try decoded(value, of: option.name)
    }

    /// The value of an option as converted by `read`; nil if the option was not given.
    ///
    /// - Throws: an error with the hint, if `read` returns nil.
    func value<Value>(
        _ option: OptionDescription, _ hint: String, _ read: (String) -> Value?
    ) throws(UsageError) -> Value? {
        guard let bytes = value(option) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self), let value = read(text) else {
            throw UsageError("\(quoted(bytes)) is not a value for \(option.name)", hint: hint)
        }
        return value
    }

    func integer(
        _ option: OptionDescription, in range: ClosedRange<Int> = 0...Int.max
    ) throws(UsageError) -> Int? {
        let limits =
            range.upperBound == .max
            ? "\(range.lowerBound) or more" : "from \(range.lowerBound) to \(range.upperBound)"
        return try value(option, "give \(option.name) a whole number, \(limits)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

/// The text of a value.
func decoded(_ value: [UInt8], of name: String) throws(UsageError) -> String {
    guard let text = String(validating: value, as: UTF8.self) else {
        throw UsageError(
            "the value of \(name) is not valid UTF-8: \(quoted(value))", hint: "give \(name) plain text")
    }
    return text
}
