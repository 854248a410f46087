import FileSystem

/// `retention` in a manifest's header: the rules, by the keys that settings have for them.
///
///     "retention":{"keep_last":3,"keep_within":"30d","keep_label":["before-upgrade"]}
private let countRules: [(key: StaticString, path: WritableKeyPath<RetentionPolicy, Int?> & Sendable)] = [
    ("keep_last", \.keepLast), ("keep_hourly", \.keepHourly), ("keep_daily", \.keepDaily),
    ("keep_weekly", \.keepWeekly), ("keep_monthly", \.keepMonthly), ("keep_yearly", \.keepYearly),
]

extension JSONText {
    mutating func retention(_ policy: RetentionPolicy) {
        key("retention")
        beginObject()
        for (key, path) in countRules {
            if let count = policy[keyPath: path] { field(key, count) }
        }
        if let age = policy.keepWithin { field("keep_within", age.description) }
        if let labels = policy.keepLabel { field("keep_label", labels) }
        endObject()
    }
}

extension DocumentReader {
    mutating func retention() throws -> RetentionPolicy {
        var policy = RetentionPolicy()
        try object { reader, key in
            func once<Value>(_ path: WritableKeyPath<RetentionPolicy, Value?>, _ value: Value) throws {
                guard policy[keyPath: path] == nil else {
                    throw reader.error("the key \"\(escapedText(key))\" twice")
                }
                policy[keyPath: path] = value
            }
            if let (_, path) = countRules.first(where: { key.elementsEqual($0.key.description.utf8) }) {
                let count: Int = try reader.integer()
                guard count >= 0 else { throw reader.error("a number below zero") }
                try once(path, count)
            } else if key.elementsEqual("keep_within".utf8) {
                let text = String(decoding: try reader.string(), as: UTF8.self)
                guard let age = RetentionPolicy.within(text) else {
                    throw reader.error("this is no length of time")
                }
                try once(\.keepWithin, age)
            } else if key.elementsEqual("keep_label".utf8) {
                var labels: [String] = []
                try reader.array { labels.append(String(decoding: try $0.string(), as: UTF8.self)) }
                try once(\.keepLabel, labels)
            } else {
                return false
            }
            return true
        }
        guard !policy.isEmpty else { throw error("no rule of retention") }
        return policy
    }
}
