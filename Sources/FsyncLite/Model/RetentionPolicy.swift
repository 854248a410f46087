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

    /// Why each of these snapshots stays; nothing for one that goes.
    ///
    /// - Parameters:
    ///   - snapshots: the newest, which is the present tree, first.
    ///   - before: the newest that was there before the run that asks.
    ///   - began: when that run began, where its clock counts. Nothing goes for a run that is older than what was
    ///     there: one of the two had a wrong clock.
    public func reasons(
        for snapshots: [Snapshot], newestBefore before: Int = 0, began: Timestamp? = nil
    ) -> [[String]] {
        var reasons = snapshots.indices.map { $0 == 0 ? ["present"] : [] }
        addLast(to: &reasons, snapshots)
        addCalendar(to: &reasons, snapshots)
        let newest = RetentionPolicy.time(of: before, in: snapshots)
        if let keepWithin, let newest {
            let start = keepWithin.before(newest)
            for index in snapshots.indices {
                guard let time = RetentionPolicy.time(of: index, in: snapshots), time >= start else {
                    continue
                }
                reasons[index].append("within \(keepWithin)")
            }
        }
        for (index, snapshot) in snapshots.enumerated() {
            guard let label = snapshot.label else { continue }
            if keepsLabelled || keepLabel?.contains(label) ?? false {
                reasons[index].append("label \(label)")
            }
        }
        guard let began, let newest, began < newest else { return reasons }
        return reasons.map { $0.isEmpty ? ["clock"] : $0 }
    }

    private func addLast(to reasons: inout [[String]], _ snapshots: [Snapshot]) {
        var left = keepLast ?? 0
        for index in snapshots.indices.dropFirst() where left > 0 {
            reasons[index].append("last")
            // An apply that displaced and created nothing leads to the same content.
            if snapshots[index - 1].summary?.actions != 0 { left -= 1 }
        }
    }

    private func addCalendar(to reasons: inout [[String]], _ snapshots: [Snapshot]) {
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
                let own = snapshots[index].created.map(bucket)
                if let own, own != last {
                    reasons[index].append(name)
                } else if index > 0, index == snapshots.count - 1 {
                    reasons[index].append("oldest \(name)")
                } else {
                    continue
                }
                last = own
                left -= 1
            }
        }
    }

    /// When a tree came to be; of what the first apply found, when that displaced it.
    private static func time(of index: Int, in snapshots: [Snapshot]) -> Timestamp? {
        guard snapshots.indices.contains(index) else { return nil }
        return snapshots[index].created ?? (index > 0 ? snapshots[index - 1].created : nil)
    }
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
