extension RetentionPolicy {
    /// The rules in a manifest's header, with the same keys as in settings.
    ///
    ///     "retention":{"keep_last":3,"keep_within":"30d","keep_label":["before-upgrade"]}
    static let fields: [Field<RetentionPolicy>] = [
        count("keep_last", \.keepLast), count("keep_hourly", \.keepHourly), count("keep_daily", \.keepDaily),
        count("keep_weekly", \.keepWeekly), count("keep_monthly", \.keepMonthly),
        count("keep_yearly", \.keepYearly),
        Field("keep_within", .age, \.keepWithin), Field("keep_within_hourly", .age, \.keepWithinHourly),
        Field("keep_within_daily", .age, \.keepWithinDaily),
        Field("keep_within_weekly", .age, \.keepWithinWeekly),
        Field("keep_within_monthly", .age, \.keepWithinMonthly),
        Field("keep_within_yearly", .age, \.keepWithinYearly), Field("keep_label", .texts, \.keepLabel),
    ]

    private static func count(
        _ key: StaticString, _ path: WritableKeyPath<RetentionPolicy, Int?> & Sendable
    ) -> Field<RetentionPolicy> {
        Field(key, .integer, path).requiring("a number below zero") { $0[keyPath: path] ?? 0 >= 0 }
    }
}

extension FieldFormat<Age> {
    fileprivate static var age: FieldFormat {
        FieldFormat(
            write: { $0.field($1, $2.description) },
            read: { reader in
                let text = String(decoding: try reader.string(), as: UTF8.self)
                guard let age = RetentionPolicy.within(text) else {
                    throw reader.error("this is no length of time")
                }
                return age
            })
    }
}
