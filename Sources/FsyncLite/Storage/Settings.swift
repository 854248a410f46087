/// What a target's `.fsync-lite/settings.json` or `settings.plist` says. Whatever is left out has its default elsewhere.
public struct Settings: Codable, Hashable, Sendable, FileReadable, FileWritable {
    public static let fileName = "settings.json"
    /// In bytes: far more than settings need.
    public static var sizeLimit: Int { 1 << 20 }

    /// `keep_last`: how many applies can be undone, zero or more. nil for the default.
    public var keepLast: Int?
    /// `keep_hourly` and so on: the newest snapshot of each of so many hours, days, weeks, months and years.
    public var keepHourly: Int?
    public var keepDaily: Int?
    public var keepWeekly: Int?
    public var keepMonthly: Int?
    public var keepYearly: Int?
    /// `keep_within`: all snapshots that are no older than the newest by more than this, such as `30d`.
    public var keepWithin: String?
    /// `keep_label`: snapshots with these labels. nil for all that have one.
    public var keepLabel: [String]?
    /// `defaults`: options for each run on this target, by their keys.
    public var defaults: SettingValues?

    public init(keepLast: Int? = nil) {
        self.keepLast = keepLast
    }

    private enum CodingKeys: CodingKey, CaseIterable {
        case keepLast, keepHourly, keepDaily, keepWeekly, keepMonthly, keepYearly, keepWithin, keepLabel
        case defaults
    }

    /// - Throws: for a key that is unknown, and a value that does not fit its key.
    public init(from decoder: any Decoder) throws {
        try JSONDocument.refuseUnknownKeys(in: decoder, knowing: CodingKeys.allCases)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        keepLast = try Settings.count(.keepLast, values)
        keepHourly = try Settings.count(.keepHourly, values)
        keepDaily = try Settings.count(.keepDaily, values)
        keepWeekly = try Settings.count(.keepWeekly, values)
        keepMonthly = try Settings.count(.keepMonthly, values)
        keepYearly = try Settings.count(.keepYearly, values)
        keepLabel = try values.decodeIfPresent([String].self, forKey: .keepLabel)
        keepWithin = try values.decodeIfPresent(String.self, forKey: .keepWithin)
        if let keepWithin, RetentionPolicy.Age(keepWithin) == nil {
            throw Settings.mismatch(.keepWithin, "This is no length of time such as 30d.", values)
        }
        defaults = try values.decodeIfPresent(SettingValues.self, forKey: .defaults)
    }

    private static func count(
        _ key: CodingKeys, _ values: KeyedDecodingContainer<CodingKeys>
    ) throws -> Int? {
        let count: Int?
        do {
            count = try values.decodeIfPresent(Int.self, forKey: key)
        } catch  where !(error is DecodingError) {
            // For a fraction, or a number beyond `Int`, the decoder tells neither key nor cause.
            throw mismatch(key, "The number is not whole, or too large.", values)
        }
        if let count, count < 0 { throw mismatch(key, "\(count) is less than zero.", values) }
        return count
    }

    private static func mismatch(
        _ key: CodingKeys, _ cause: String, _ values: KeyedDecodingContainer<CodingKeys>
    ) -> DecodingError {
        .dataCorruptedError(forKey: key, in: values, debugDescription: cause)
    }
}
