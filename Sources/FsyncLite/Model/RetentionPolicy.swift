import FileSystem

/// Which snapshots stay. Rules are joined by *or*: a snapshot that one of them keeps stays.
///
/// The present tree always stays and is the first of each calendar rule; `keepLast` counts those before it, which
/// is how many applies can be undone. Calendar days are those of UTC, weeks begin on Monday. A calendar rule that
/// has counts left at the oldest snapshot keeps that one too.
public struct RetentionPolicy: Hashable, Sendable {
    public var keepLast: Int?
    /// The newest of each of so many hours, days and so on that have a snapshot.
    public var keepHourly: Int?
    public var keepDaily: Int?
    public var keepWeekly: Int?
    public var keepMonthly: Int?
    public var keepYearly: Int?
    /// All that are no older than this, counted from the newest snapshot before the run that asks.
    public var keepWithin: Age?
    /// Those that have one of these labels.
    public var keepLabel: [String]?
    /// Those that have a label at all.
    public var keepsLabelled = false

    public init() {}

    /// What `keepWithin` takes: no minutes, for `6m` is six months to users of restic.
    public static func within(_ text: String) -> Age? { Age(text).flatMap { $0.countsMinutes ? nil : $0 } }

    /// It says of no snapshot that it stays, nor that none does.
    public var isEmpty: Bool {
        var rules = self
        (rules.keepLabel, rules.keepsLabelled) = (keepLabel == [] ? nil : keepLabel, false)
        return rules == RetentionPolicy()
    }

    /// What holds where nobody says anything else.
    static let builtIn = {
        var policy = RetentionPolicy()
        (policy.keepWithin, policy.keepLast) = (Age("7d"), 3)
        return policy
    }()
}

extension RetentionPolicy: CustomStringConvertible {
    /// The rules as settings have them, such as `keep_last 3, keep_within 7d`.
    public var description: String {
        let counts = [
            ("keep_last", keepLast), ("keep_hourly", keepHourly), ("keep_daily", keepDaily),
            ("keep_weekly", keepWeekly), ("keep_monthly", keepMonthly), ("keep_yearly", keepYearly),
        ].compactMap { name, count in count.map { "\(name) \($0)" } }
        let others = [
            keepWithin.map { "keep_within \($0)" },
            keepLabel.map { $0.isEmpty ? "no labels" : "keep_label \($0.joined(separator: ", "))" },
        ].compactMap(\.self)
        return (counts + others).joined(separator: ", ")
    }
}

extension RetentionPolicy: Codable {
    private enum CodingKeys: CodingKey, CaseIterable {
        case keepLast, keepHourly, keepDaily, keepWeekly, keepMonthly, keepYearly, keepWithin, keepLabel
    }

    /// The keys of its rules in a document.
    static var keys: [any CodingKey] { CodingKeys.allCases }

    /// - Throws: for a value that does not fit its key.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func count(_ key: CodingKeys) throws -> Int? {
            let count: Int?
            do {
                count = try values.decodeIfPresent(Int.self, forKey: key)
            } catch  where !(error is DecodingError) {
                // For a fraction, or a number beyond `Int`, the decoder tells neither key nor cause.
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
        keepWithin = try values.decodeIfPresent(Age.self, forKey: .keepWithin)
        if keepWithin?.countsMinutes ?? false {
            throw DecodingError.dataCorruptedError(
                forKey: .keepWithin, in: values, debugDescription: "m is minutes; for months write mo.")
        }
        keepLabel = try values.decodeIfPresent([String].self, forKey: .keepLabel)
    }
}
