import FsyncLite

/// The retention options of restic.
extension RetentionPolicy {
    private static let label = OptionDescription.value(
        "--keep-label", "L", "keep those with this label (default: with any)", repeatable: true
    ).rare

    private static let fields: [OptionField<RetentionPolicy>] = [
        .count(
            "--keep-last", "keep the N trees before this one, to undo N runs"
        ) { $0.keepLast = $1 },
        .count("--keep-hourly", "keep the newest of each of the last N hours with one") {
            $0.keepHourly = $1
        }.rare,
        .count("--keep-daily", "keep the newest of each of the last N days with one") {
            $0.keepDaily = $1
        },
        .count("--keep-weekly", "likewise of weeks") { $0.keepWeekly = $1 }.rare,
        .count("--keep-monthly", "of months") { $0.keepMonthly = $1 }.rare,
        .count("--keep-yearly", "of years") { $0.keepYearly = $1 }.rare,
        age("--keep-within", "keep those no older than this before the newest, such as 30d or 1y6mo") {
            $0.keepWithin = $1
        }.rare,
        age("--keep-within-hourly", "keep the newest of each hour up to that age") {
            $0.keepWithinHourly = $1
        }.rare,
        age("--keep-within-daily", "likewise of each day") { $0.keepWithinDaily = $1 }.rare,
        age("--keep-within-weekly", "of each week") { $0.keepWithinWeekly = $1 }.rare,
        age("--keep-within-monthly", "of each month") { $0.keepWithinMonthly = $1 }.rare,
        age("--keep-within-yearly", "of each year") { $0.keepWithinYearly = $1 }.rare,
        OptionField(option: label) { given, policy in
            guard given.has(label) else { return }
            policy.keepLabel = try given.values(label).map { value in
                guard let text = String(validating: value, as: UTF8.self), !text.isEmpty else {
                    throw UsageError("\(quoted(value)) is no label", hint: "give \(label.name) plain text")
                }
                return text
            }
        },
    ]

    private static func age(
        _ name: String, _ help: String, set: @escaping @Sendable (inout RetentionPolicy, Age) -> Void
    ) -> OptionField<RetentionPolicy> {
        .value(
            name, "AGE", help,
            "give one in h, d, w, mo or y, such as 30d or 1y6mo; m would be minutes, months are mo",
            { RetentionPolicy.within($0) }, set: set)
    }

    static let options = fields.map(\.option)

    init(_ given: GivenOptions) throws {
        self.init()
        for field in RetentionPolicy.fields { try field.read(given, &self) }
    }
}

extension RetentionOptions {
    fileprivate static let retention = OptionDescription.value(
        "--retention", "WORD", "forget the rules that are kept", choices: ["default"]
    ).rare

    /// The rules of a command line, or of one settings file.
    init(_ given: GivenOptions) throws {
        self.init()
        let rules = try RetentionPolicy(given)
        forgetsKept = given.has(RetentionOptions.retention)
        guard !forgetsKept || rules.isEmpty else {
            throw UsageError(
                "--retention default goes with no other rule of retention",
                hint: "leave it, or the rules, out")
        }
        if !rules.isEmpty { self.given = rules }
    }
}

extension OptionDescription {
    static let retention: [OptionDescription] = .section(
        "Retention: kept with TARGET until others are given (built in: 7d, and the last 3)",
        RetentionPolicy.options + [RetentionOptions.retention])
}
