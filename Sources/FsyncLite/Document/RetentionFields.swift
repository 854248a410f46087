extension RetentionPolicy {
    /// The rules in a manifest's header, with the same keys as in settings.
    ///
    ///     "retention":{"keep_last":3,"keep_within":"30d","keep_label":["before-upgrade"]}
    static let fields: [Field<RetentionPolicy>] =
        counts.map { rule in
            Field(rule.key, .integer, rule.path)
                .requiring("a number below zero") { $0[keyPath: rule.path] ?? 0 >= 0 }
        } + ages.map { Field($0.key, .age, $0.path) } + [Field("keep_label", .texts, \.keepLabel)]
}

extension FieldFormat<Age> {
    fileprivate static var age: FieldFormat {
        FieldFormat(
            write: { $0.field($1, $2.description) },
            read: { reader in
                let text = String(decoding: try reader.string(), as: UTF8.self)
                guard let age = RetentionPolicy.within(text) else {
                    throw reader.error("this is not a length of time")
                }
                return age
            })
    }
}
