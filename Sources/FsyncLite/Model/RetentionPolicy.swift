import FileSystem

/// The rules that decide which snapshots are kept. A snapshot is kept if at least one rule keeps it.
///
/// The present tree is always kept, and is the first snapshot of each calendar rule. The snapshot before it is kept
/// too, so that the last run can be undone, unless `keepLast` is 0 and there is no other rule. `keepLast` counts the
/// snapshots before the present one. Hours, days and months are those of the zone in which a snapshot's own run was
/// planned. Weeks begin on Monday. A calendar rule that is not used up also keeps the oldest snapshot with a time.
public struct RetentionPolicy: Hashable, Sendable {
    public var keepLast: Int?
    /// Keeps the newest snapshot of each of the last N hours, days and so on that have one.
    public var keepHourly: Int?
    public var keepDaily: Int?
    public var keepWeekly: Int?
    public var keepMonthly: Int?
    public var keepYearly: Int?
    /// Keeps all snapshots up to this age. The age is measured from the newest snapshot before the present run.
    public var keepWithin: Age?
    /// Keeps the newest snapshot of each hour, day and so on, up to this age.
    public var keepWithinHourly: Age?
    public var keepWithinDaily: Age?
    public var keepWithinWeekly: Age?
    public var keepWithinMonthly: Age?
    public var keepWithinYearly: Age?
    /// Keeps the snapshots with one of these labels.
    public var keepLabel: [String]?
    /// Keeps the snapshots with any label.
    public var keepsLabelled = false

    public init() {}

    /// A valid value of `keepWithin`. Minutes are refused, because `6m` means six months to users of restic.
    public static func within(_ text: String) -> Age? { Age(text).flatMap { $0.countsMinutes ? nil : $0 } }

    /// Whether it has no rules, not even the rule to keep nothing.
    public var isEmpty: Bool { withoutLabels == RetentionPolicy() }

    /// Whether it stores no history: `keepLast` is 0, and there is no other rule.
    var isOff: Bool {
        var off = RetentionPolicy()
        off.keepLast = 0
        return withoutLabels == off
    }

    /// The rules without labels. An empty list of labels remains, because it is a rule by itself.
    private var withoutLabels: RetentionPolicy {
        var rules = self
        (rules.keepLabel, rules.keepsLabelled) = (keepLabel == [] ? nil : keepLabel, false)
        return rules
    }

    /// Keeps all snapshots.
    static let everything = {
        var policy = RetentionPolicy()
        policy.keepLast = .max
        return policy
    }()

    /// The default.
    static let builtIn = {
        var policy = RetentionPolicy()
        (policy.keepWithin, policy.keepLast) = (Age("7d"), 3)
        return policy
    }()
}

extension RetentionPolicy {
    /// A rule: its key in settings and in a manifest's header, which its option has as well, and the option's help.
    package typealias Rule<Value> = (
        key: StaticString, path: WritableKeyPath<RetentionPolicy, Value?> & Sendable, help: String
    )

    package static let counts: [Rule<Int>] = [
        ("keep_last", \.keepLast, "keep the N trees before this one, to undo N runs"),
        ("keep_hourly", \.keepHourly, "keep the newest snapshot of each of the last N hours with one"),
        ("keep_daily", \.keepDaily, "keep the newest of each of the last N days with one"),
        ("keep_weekly", \.keepWeekly, "the same for weeks"),
        ("keep_monthly", \.keepMonthly, "the same for months"),
        ("keep_yearly", \.keepYearly, "the same for years"),
    ]

    package static let ages: [Rule<Age>] = [
        (
            "keep_within", \.keepWithin,
            "keep all of the last 30d (or 1y6mo), counted from the newest"
        ),
        ("keep_within_hourly", \.keepWithinHourly, "keep the newest of each hour up to this age"),
        ("keep_within_daily", \.keepWithinDaily, "the same for each day"),
        ("keep_within_weekly", \.keepWithinWeekly, "the same for each week"),
        ("keep_within_monthly", \.keepWithinMonthly, "the same for each month"),
        ("keep_within_yearly", \.keepWithinYearly, "the same for each year"),
    ]
}

extension RetentionPolicy: CustomStringConvertible {
    /// The rules in the form of settings, such as `keep_last 3, keep_within 7d`.
    public var description: String {
        if keepLast == .max { return "all snapshots are kept" }
        let label = keepLabel.map { $0.isEmpty ? "no labels" : "keep_label \($0.joined(separator: ", "))" }
        let counts = RetentionPolicy.counts.map { rule in self[keyPath: rule.path].map { "\(rule.key) \($0)" }
        }
        let ages = RetentionPolicy.ages.map { rule in self[keyPath: rule.path].map { "\(rule.key) \($0)" } }
        return (counts + ages + [label]).compactMap(\.self).joined(separator: ", ")
    }
}

extension RetentionPolicy: Codable {
    private enum CodingKeys: CodingKey {
        case keepLast, keepHourly, keepDaily, keepWeekly, keepMonthly, keepYearly, keepWithin,
            keepWithinHourly
        case keepWithinDaily, keepWithinWeekly, keepWithinMonthly, keepWithinYearly, keepLabel
    }

    /// - Throws: an error for a value that does not fit its key.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func count(_ key: CodingKeys) throws -> Int? {
            let count: Int?
            do {
                count = try values.decodeIfPresent(Int.self, forKey: key)
            } catch  where !(error is DecodingError) {
                // If a number is a fraction or beyond `Int`, the decoder reports neither key nor cause.
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: values, debugDescription: "The number is not whole, or too large.")
            }
            guard let count, count < 0 else { return count }
            throw DecodingError.dataCorruptedError(
                forKey: key, in: values, debugDescription: "\(count) is less than zero.")
        }
        (keepLast, keepHourly, keepDaily) = try (count(.keepLast), count(.keepHourly), count(.keepDaily))
        (keepWeekly, keepMonthly) = try (count(.keepWeekly), count(.keepMonthly))
        keepYearly = try count(.keepYearly)
        func age(_ key: CodingKeys) throws -> Age? {
            let age = try values.decodeIfPresent(Age.self, forKey: key)
            guard age?.countsMinutes ?? false else { return age }
            throw DecodingError.dataCorruptedError(
                forKey: key, in: values, debugDescription: "m is minutes; for months write mo.")
        }
        (keepWithin, keepWithinHourly) = try (age(.keepWithin), age(.keepWithinHourly))
        (keepWithinDaily, keepWithinWeekly) = try (age(.keepWithinDaily), age(.keepWithinWeekly))
        (keepWithinMonthly, keepWithinYearly) = try (age(.keepWithinMonthly), age(.keepWithinYearly))
        keepLabel = try values.decodeIfPresent([String].self, forKey: .keepLabel)
        if keepLabel?.contains("") ?? false {
            throw DecodingError.dataCorruptedError(
                forKey: .keepLabel, in: values, debugDescription: "A label is not empty.")
        }
    }
}
