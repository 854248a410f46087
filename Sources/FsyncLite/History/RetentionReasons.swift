import FileSystem

extension RetentionPolicy {
    /// The clock of a run that adds no snapshot. Without a rule of age it does not matter.
    var clock: Timestamp? {
        RetentionPolicy.ages.contains { self[keyPath: $0.path] != nil } ? .now : nil
    }

    /// The reasons why each of these snapshots is kept; empty for one to be removed.
    ///
    /// - Parameters:
    ///   - snapshots: newest first, beginning with the present tree.
    ///   - before: the index of the newest snapshot that is older than the asking run.
    ///   - began: when that run began, if its clock is used. A run older than the existing snapshots removes none,
    ///     because one of the two had a wrong clock.
    public func reasons(
        for snapshots: [Snapshot], newestBefore before: Int = 0, began: Timestamp? = nil
    ) -> [[String]] {
        var reasons = snapshots.indices.map { $0 == 0 ? ["present"] : [] }
        for index in snapshots.indices.dropFirst().prefix(keepLast ?? 0) { reasons[index].append("last") }
        let newest = RetentionPolicy.time(of: before, in: snapshots)
        addCalendar(to: &reasons, snapshots, newest)
        for index in snapshots.indices where isWithin(keepWithin, index, snapshots, newest) {
            reasons[index].append("within \(keepWithin.map(\.description) ?? "")")
        }
        for (index, snapshot) in snapshots.enumerated() {
            guard let label = snapshot.label else { continue }
            if keepsLabelled || keepLabel?.contains(label) ?? false {
                reasons[index].append("label \(label)")
            }
        }
        if !isOff, snapshots.count > 1, reasons[1].isEmpty { reasons[1].append("before the present") }
        // The record that leads to the present tree has its label, and the previous tree.
        if let label = snapshots.first?.label, snapshots.count > 1, reasons.dropFirst().allSatisfy(\.isEmpty)
        {
            reasons[1].append("before label \(label)")
        }
        guard let began, let newest, began < newest else { return reasons }
        return reasons.map { $0.isEmpty ? ["clock"] : $0 }
    }

    private func addCalendar(
        to reasons: inout [[String]], _ snapshots: [Snapshot], _ newest: Timestamp?
    ) {
        let rules: [(count: Int?, age: Age?, name: String, bucket: (LocalTime) -> String)] = [
            (keepHourly, keepWithinHourly, "hourly", { "\($0.civil)".prefix(13) + " \($0.offset)" }),
            (keepDaily, keepWithinDaily, "daily", { String("\($0.civil)".prefix(10)) }),
            (keepWeekly, keepWithinWeekly, "weekly", { "\($0.civil.week)" }),
            (keepMonthly, keepWithinMonthly, "monthly", { String("\($0.civil)".prefix(7)) }),
            (keepYearly, keepWithinYearly, "yearly", { String("\($0.civil)".prefix(4)) }),
        ]
        let times = snapshots.map(LocalTime.init)
        let oldest = times.lastIndex { $0 != nil }
        for (count, age, name, bucket) in rules {
            var last: String?
            for index in snapshots.indices where isWithin(age, index, snapshots, newest) {
                let own = times[index].map(bucket)
                if let own, own != last {
                    reasons[index].append("\(name) within \(age.map(\.description) ?? "")")
                }
                last = own ?? last
            }
            last = nil
            var left = count ?? 0
            for index in snapshots.indices where left > 0 {
                let own = times[index].map(bucket)
                if let own, own != last {
                    reasons[index].append(name)
                } else if index > 0, index == oldest {
                    reasons[index].append("oldest \(name)")
                } else {
                    continue
                }
                last = own
                left -= 1
            }
        }
    }

    /// Whether a snapshot is no older than this, counted from the newest before the run.
    private func isWithin(_ age: Age?, _ index: Int, _ snapshots: [Snapshot], _ newest: Timestamp?) -> Bool {
        guard let age, let newest, let time = RetentionPolicy.time(of: index, in: snapshots) else {
            return false
        }
        return time >= age.before(newest)
    }

    /// The time when a tree was made. For the tree that the first run found, it is when that run replaced it.
    private static func time(of index: Int, in snapshots: [Snapshot]) -> Timestamp? {
        guard snapshots.indices.contains(index) else { return nil }
        return snapshots[index].created ?? (index > 0 ? snapshots[index - 1].created : nil)
    }
}

/// The local time when the run that made a snapshot was planned. The hour that occurs twice in autumn has two offsets.
private struct LocalTime {
    /// The local time, as if it were UTC.
    let civil: Timestamp
    /// Seconds east of UTC.
    let offset: Int64

    init?(_ snapshot: Snapshot) {
        guard let created = snapshot.created else { return nil }
        offset = snapshot.utcOffset ?? LocalZone.offset(at: created.rawSeconds)
        civil = created.advanced(bySeconds: offset)
    }
}
