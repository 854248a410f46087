import FileSystem

/// Which snapshots stay. Rules are joined by *or*: a snapshot that one of them keeps stays.
///
/// The present tree always stays and is the first of each calendar rule; `keepLast` counts those before it, which
/// is how many applies can be undone. Calendar days are those of UTC, weeks begin on Monday.
public struct RetentionPolicy: Hashable, Sendable {
    public var keepLast: Int?
    /// The newest of each of so many hours, days and so on that have a snapshot.
    public var keepHourly: Int?
    public var keepDaily: Int?
    public var keepWeekly: Int?
    public var keepMonthly: Int?
    public var keepYearly: Int?
    /// All that are no older than this, counted from the newest snapshot.
    public var keepWithin: Age?
    /// Those that have one of these labels.
    public var keepLabel: [String]?
    /// Those that have a label at all.
    public var keepsLabelled = false

    public init() {}

    /// What `keepWithin` takes: no minutes, for `6m` is six months to users of restic.
    public static func within(_ text: String) -> Age? { Age(text).flatMap { $0.countsMinutes ? nil : $0 } }

    /// It would keep nothing but the present tree, which nobody asks for by leaving everything out.
    public var isEmpty: Bool { self == RetentionPolicy() }

    /// Why each of these snapshots stays; nothing for one that goes.
    ///
    /// - Parameter snapshots: the newest, which is the present tree, first.
    public func reasons(for snapshots: [Snapshot]) -> [[String]] {
        var reasons = snapshots.indices.map { $0 == 0 ? ["present"] : [] }
        for index in snapshots.indices.dropFirst().prefix(keepLast ?? 0) { reasons[index].append("last") }
        let rules: [(count: Int?, name: String, bucket: (Timestamp) -> String)] = [
            (keepHourly, "hourly", { String("\($0)".prefix(13)) }),
            (keepDaily, "daily", { String("\($0)".prefix(10)) }),
            // 1970 began on a Thursday.
            (keepWeekly, "weekly", { "\((($0.seconds + 3 * 86_400) / 86_400) / 7)" }),
            (keepMonthly, "monthly", { String("\($0)".prefix(7)) }),
            (keepYearly, "yearly", { String("\($0)".prefix(4)) }),
        ]
        for (count, name, bucket) in rules {
            var last: String?
            var left = count ?? 0
            for index in snapshots.indices where left > 0 {
                guard let own = snapshots[index].created.map(bucket), own != last else { continue }
                last = own
                left -= 1
                reasons[index].append(name)
            }
        }
        if let keepWithin, let newest = snapshots.first?.created {
            for (index, snapshot) in snapshots.enumerated() {
                guard let created = snapshot.created,
                    created
                        >= Timestamp(
                            FileTime(
                                seconds: newest.seconds - keepWithin.seconds, nanoseconds: newest.nanoseconds)
                        )
                else { continue }
                reasons[index].append("within \(keepWithin)")
            }
        }
        for (index, snapshot) in snapshots.enumerated() {
            guard let label = snapshot.label else { continue }
            if keepsLabelled || keepLabel?.contains(label) ?? false {
                reasons[index].append("label \(label)")
            }
        }
        return reasons
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
