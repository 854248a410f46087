import FileSystem
import FsyncLite

/// An option and the property that it sets. Its name is written only here.
struct OptionField<Owner>: Sendable {
    let option: OptionDescription
    /// Does nothing if the option is not given.
    let read: @Sendable (GivenOptions, inout Owner) throws -> Void

    /// The same field with a rare option.
    var rare: OptionField { OptionField(option: option.rare, read: read) }

    static func flag(
        _ name: String, _ help: String, set: @escaping @Sendable (inout Owner) -> Void
    ) -> OptionField {
        let option = OptionDescription.flag(name, help)
        return OptionField(option: option) { given, owner in
            if given.has(option) { set(&owner) }
        }
    }

    /// - Parameter hint: shown if `parse` returns nil.
    static func value<Value>(
        _ name: String, _ placeholder: String, _ help: String, _ hint: String,
        _ parse: @escaping @Sendable (String) -> Value?,
        set: @escaping @Sendable (inout Owner, Value) -> Void
    ) -> OptionField {
        let option = OptionDescription.value(name, placeholder, help)
        return OptionField(option: option) { given, owner in
            if let value = try given.value(option, hint, parse) { set(&owner, value) }
        }
    }

    static func count(
        _ name: String, _ help: String, in range: ClosedRange<Int> = 0...Int.max,
        set: @escaping @Sendable (inout Owner, Int) -> Void
    ) -> OptionField {
        let option = OptionDescription.value(name, "N", help)
        return OptionField(option: option) { given, owner in
            if let value = try given.integer(option, in: range) { set(&owner, value) }
        }
    }

    static func time(
        _ name: String, _ help: String, set: @escaping @Sendable (inout Owner, TimeSpan) -> Void
    ) -> OptionField {
        value(name, "TIME", help, "give \(TimeSpan.forms)", { TimeSpan($0) }, set: set)
    }

    /// A file size in bytes.
    static func size(
        _ name: String, _ help: String, set: @escaping @Sendable (inout Owner, ByteCount) -> Void
    ) -> OptionField {
        let hint = "give a number of bytes, or one such as 10M"
        return value(name, "SIZE", help, hint, { ByteCount($0) }, set: set)
    }
}

extension GivenOptions {
    /// A time: an age, a day, or a time of day.
    func time(_ option: OptionDescription) throws(UsageError) -> TimeSpan? {
        try value(option, "give \(TimeSpan.forms)", { TimeSpan($0) })
    }
}

extension [OptionDescription] {
    /// The options of fields, under one heading.
    static func section<Owner>(_ heading: String, _ fields: [OptionField<Owner>]) -> [OptionDescription] {
        section(heading, fields.map(\.option))
    }
}
