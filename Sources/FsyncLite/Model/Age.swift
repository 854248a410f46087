/// A duration as text: `90m`, `26h`, `30d`, `1y6mo`. The units are seconds (`s`), minutes (`m`), hours, days, weeks,
/// months (`mo`) and years.
public struct Age: Hashable, Sendable, CustomStringConvertible {
    /// The text as the user gave it.
    public let description: String
    /// The part in months and years, and the rest in seconds.
    private let months, clock: Int64
    /// Whether it has minutes or seconds. In an age that decides about deletions, people usually mean months by `m`.
    let countsMinutes: Bool

    /// In seconds. Months and years are here only to limit the sum.
    private static let units: [String: Int64] = [
        "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400, "mo": 30 * 86_400, "y": 365 * 86_400,
    ]

    /// In months.
    private static let calendarUnits: [String: Int64] = ["mo": 1, "y": 12]

    /// The time this long before another, as in restic: months and years by the calendar of UTC, the rest by the clock.
    func before(_ time: Timestamp) -> Timestamp {
        time.earlier(months: months).advanced(bySeconds: -clock)
    }

    /// The duration; a month is 30 days here.
    package var duration: Duration { .seconds(clock + months * 30 * 86_400) }

    /// nil for invalid text.
    public init?(_ text: String) {
        let isDigit: (Character) -> Bool = { ("0"..."9").contains($0) }
        var (total, months, clock, countsMinutes) = (Int64(0), Int64(0), Int64(0), false)
        var rest = text[...]
        while !rest.isEmpty {
            let digits = rest.prefix(while: isDigit)
            let name = rest[digits.endIndex...].prefix { !isDigit($0) }
            guard let number = Int64(digits), number <= 1_000_000_000, let unit = Age.units[String(name)],
                number * unit <= Age.longest - total
            else { return nil }
            total += number * unit
            if let calendar = Age.calendarUnits[String(name)] {
                months += number * calendar
            } else {
                clock += number * unit
            }
            countsMinutes = countsMinutes || unit < 3600
            rest = rest[name.endIndex...]
        }
        guard total > 0 else { return nil }
        (description, self.countsMinutes) = (text, countsMinutes)
        (self.months, self.clock) = (months, clock)
    }

    private static let longest: Int64 = 1_000_000 * 365 * 86_400
}

extension Age: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let age = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "This is not a length of time such as 30d.")
        }
        self = age
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
