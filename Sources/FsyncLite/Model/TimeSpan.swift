import FileSystem

/// A time that the user wrote: from its first moment to the first moment after it.
///
///     90m  2h  7d  1y6mo             an age: this long before now
///     today  yesterday  2026-11-22   a day
///     tuesday                        the last one, which may be today
///     2026-11-22 07:17               a minute; also with seconds, and with T for the space
///     2026-11-22T07:17:00+01:00      the same in a zone, such as Z for UTC
///
/// Without a zone, days and times are local. If the clock shows a time twice, the span covers both. If the clock skips
/// a time, the span is later by the length of the gap.
public struct TimeSpan: Hashable, Sendable {
    public let start: Timestamp
    /// For an age, which is a moment, `end` is the same as `start`.
    public let end: Timestamp

    /// The accepted forms, for messages.
    public static let forms =
        "an age such as 7d (s, m, h, d, w, mo, y), today, yesterday, tuesday, 2026-11-22, '2026-11-22 07:17' (local time) or 2026-11-22T07:17:00Z"

    /// nil for text of another form.
    public init?(_ text: String, now: Timestamp = .now) {
        if let age = Age(text) {
            let moment = age.before(now)
            self.init(start: moment, end: moment)
            return
        }
        let civil = now.civilSeconds
        let midnight = civil.saturatingSubtract(civil.flooredDivision(by: TimeSpan.day).remainder)
        switch text {
        case "today": self.init(localDay: midnight)
        case "yesterday": self.init(localDay: midnight.saturatingSubtract(TimeSpan.day))
        default:
            guard let weekday = TimeSpan.weekdays.firstIndex(of: text.lowercased()) else {
                self.init(date: Array(text.utf8)[...])
                return
            }
            // The first day of 1970 was a Thursday.
            let today = (midnight.flooredDivision(by: TimeSpan.day).quotient + 3) % 7
            let back = (today - Int64(weekday) + 7) % 7
            self.init(localDay: midnight.saturatingSubtract(back * TimeSpan.day))
        }
    }

    private static let weekdays = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]

    private static let day: Int64 = 86_400

    private init(start: Timestamp, end: Timestamp) {
        (self.start, self.end) = (start, end)
    }

    /// - Parameter midnight: in seconds of a local clock.
    private init(localDay midnight: Int64) {
        self.init(
            start: Timestamp.moments(showing: midnight).first,
            end: Timestamp.moments(showing: midnight.saturatingAdd(TimeSpan.day)).first)
    }

    private init?(date text: ArraySlice<UInt8>) {
        var rest = text
        guard let year = rest.takeDecimal(digits: 4), rest.take("-"),
            let month = rest.takeDecimal(digits: 2), (1...12).contains(month), rest.take("-"),
            let day = rest.takeDecimal(digits: 2), day >= 1, day <= daysInMonth(month, year: year)
        else { return nil }
        var civil = daysSince1970(year: year, month: month, day: day) * TimeSpan.day
        var (length, fraction) = (TimeSpan.day, nil as Int32?)
        if rest.take("T") || rest.take(" ") {
            guard let hour = rest.takeDecimal(digits: 2), hour < 24, rest.take(":"),
                let minute = rest.takeDecimal(digits: 2), minute < 60
            else { return nil }
            (civil, length) = (civil + hour * 3600 + minute * 60, 60)
            if rest.take(":") {
                guard let second = rest.takeDecimal(digits: 2), second < 60 else { return nil }
                (civil, length) = (civil + second, 1)
                if rest.take(".") {
                    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
                    guard (1...9).contains(digits), let number = rest.takeDecimal(digits: digits) else {
                        return nil
                    }
                    fraction = Int32((digits..<9).reduce(number) { number, _ in number * 10 })
                }
            }
        }
        let moments: (first: Timestamp, last: Timestamp)
        if rest.isEmpty {
            guard length < TimeSpan.day else {
                self.init(localDay: civil)
                return
            }
            moments = Timestamp.moments(showing: civil)
        } else {
            guard let offset = TimeSpan.takeOffset(&rest), rest.isEmpty else { return nil }
            let moment = Timestamp(FileTime(seconds: civil - offset, nanoseconds: 0))
            moments = (moment, moment)
        }
        var (start, end) = moments
        if let fraction {
            start = Timestamp(FileTime(seconds: start.rawSeconds, nanoseconds: fraction))
            end = Timestamp(seconds: end.rawSeconds, nanoseconds: fraction + 1) ?? end.later(by: 1)
        } else {
            end = end.later(by: length)
        }
        self.init(start: start, end: end)
    }

    /// Reads a zone such as `Z`, `+01:00`, `-0530` or ` +01`.
    ///
    /// - Returns: the seconds east of UTC.
    private static func takeOffset(_ text: inout ArraySlice<UInt8>) -> Int64? {
        if text.take("Z") { return 0 }
        _ = text.take(" ")
        let isEast = text.take("+")
        guard isEast || text.take("-"), let hours = text.takeDecimal(digits: 2), hours < 24 else {
            return nil
        }
        var offset = hours * 3600
        if !text.isEmpty {
            _ = text.take(":")
            guard let minutes = text.takeDecimal(digits: 2), minutes < 60 else { return nil }
            offset += minutes * 60
        }
        return isEast ? offset : -offset
    }
}

extension Timestamp {
    /// The time that is this number of seconds later.
    fileprivate func later(by seconds: Int64) -> Timestamp {
        Timestamp(FileTime(seconds: rawSeconds.saturatingAdd(seconds), nanoseconds: 0))
    }

    /// The time of a local clock, in seconds since its own beginning of 1970.
    fileprivate var civilSeconds: Int64 { rawSeconds.saturatingAdd(LocalZone.offset(at: rawSeconds)) }

    /// The first and the last moment at which a local clock shows these seconds. If it skips them, as if it did not.
    fileprivate static func moments(showing civil: Int64) -> (first: Timestamp, last: Timestamp) {
        // No zone changes its offset twice in two days.
        let offsets = [-86_400, 86_400].map { LocalZone.offset(at: civil.saturatingAdd($0)) }
        let found = offsets.filter { LocalZone.offset(at: civil.saturatingSubtract($0)) == $0 }
        func moment(_ offset: Int64?) -> Timestamp {
            Timestamp(FileTime(seconds: civil.saturatingSubtract(offset ?? offsets[0]), nanoseconds: 0))
        }
        return (moment(found.max()), moment(found.min()))
    }

    /// The local time to the second, for people: `2026-11-20 11:00:00`.
    public var localText: String {
        var text: [UInt8] = []
        appendLocal(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// The local time to the second with its offset, for logs: `2026-11-20T11:00:00+01:00`.
    public var localISO8601: String {
        let minutes = LocalZone.offset(at: rawSeconds) / 60
        var zone: [UInt8] = [UInt8(ascii: minutes < 0 ? "-" : "+")]
        zone.appendDecimal(minutes.magnitude / 60, digits: 2)
        zone.append(UInt8(ascii: ":"))
        zone.appendDecimal(minutes.magnitude % 60, digits: 2)
        return localText.replacing(" ", with: "T") + String(decoding: zone, as: UTF8.self)
    }

    /// Appends `localText`.
    package func appendLocal(to text: inout [UInt8]) {
        let civil = Timestamp(FileTime(seconds: civilSeconds, nanoseconds: 0))
        civil.appendISO8601(to: &text)
        // Without Z, and with a space for T.
        text.removeLast()
        text[text.count - 9] = UInt8(ascii: " ")
    }
}
