import FileStorage
import FileSystem
import FoundationEssentials

/// A point in time in nanoseconds, over the whole range of file systems.
///
/// `Date` has 53 bits and cannot distinguish neighbouring nanoseconds of today, so it is for display only.
public struct Timestamp: Hashable, Comparable, Sendable {
    package let fileTime: FileTime

    /// Whole seconds since 1970-01-01T00:00:00Z, negative before. They may have any value, so use them only for codecs
    /// and the calendar.
    public var rawSeconds: Int64 { fileTime.rawSeconds }
    /// The fraction, 0 to 999,999,999. Before 1970 it is positive, too.
    public var nanoseconds: Int32 { fileTime.nanoseconds }

    /// nil if `nanoseconds` is outside of 0..<1,000,000,000.
    public init?(seconds: Int64, nanoseconds: Int32) {
        guard (0..<1_000_000_000).contains(nanoseconds) else { return nil }
        self.init(FileTime(seconds: seconds, nanoseconds: nanoseconds))
    }

    package init(_ time: FileTime) { fileTime = time }

    /// See `FileTime.advanced`.
    func advanced(bySeconds seconds: Int64) -> Timestamp { Timestamp(fileTime.advanced(bySeconds: seconds)) }

    /// The number of the week. Weeks begin on Monday; 1970 began on a Thursday.
    var week: Int64 { advanced(bySeconds: 3 * 86_400).rawSeconds.flooredDivision(by: 7 * 86_400).quotient }

    /// The present time of the clock for time stamps of files.
    public static var now: Timestamp { Timestamp(.now) }

    /// The most seconds by which the clocks of several machines may differ.
    private static let slack: Int64 = 60

    /// Whether it is further in the future than clocks differ. Then a clock was or is wrong, and the age is unknown.
    public func isAhead(of now: Timestamp = .now) -> Bool { self > now.advanced(bySeconds: Timestamp.slack) }

    /// Whether its age is known and within a limit.
    public func isYoung(by limit: TimeSpan) -> Bool { self >= limit.start && !isAhead() }

    /// The nearest `Date`, off by a fraction of a microsecond.
    public var date: Date {
        fileTime.date
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.fileTime < right.fileTime
    }
}

extension Timestamp: CustomStringConvertible {
    /// ISO 8601 in UTC, such as `2026-11-20T10:00:00.123456789Z`.
    public var description: String {
        var text: [UInt8] = []
        appendISO8601(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends ISO 8601: no fraction for whole seconds, else nine digits. A year outside 0...9999 has a sign and as
    /// many digits as needed.
    package func appendISO8601(to text: inout [UInt8]) {
        let (days, secondOfDay) = rawSeconds.flooredDivision(by: 86_400)
        let (year, month, day) = civilDate(daysSince1970: days)
        if (0...9999).contains(year) {
            text.appendDecimal(UInt64(year), digits: 4)
        } else {
            text.append(UInt8(ascii: year < 0 ? "-" : "+"))
            text.appendDecimal(year.magnitude, digits: 4)
        }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 26) { buffer in
            var count = 0
            func append(_ separator: Unicode.Scalar, _ number: Int64, digits: Int) {
                buffer[count] = UInt8(ascii: separator)
                var rest = number
                for index in stride(from: count + digits, to: count, by: -1) {
                    buffer[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                count += 1 + digits
            }
            append("-", month, digits: 2)
            append("-", day, digits: 2)
            append("T", secondOfDay / 3600, digits: 2)
            append(":", secondOfDay / 60 % 60, digits: 2)
            append(":", secondOfDay % 60, digits: 2)
            if nanoseconds != 0 { append(".", Int64(nanoseconds), digits: 9) }
            buffer[count] = UInt8(ascii: "Z")
            text.append(contentsOf: buffer[...count])
        }
    }

    /// See `init(iso8601: ArraySlice<UInt8>)`.
    package init?(iso8601 text: String) {
        self.init(iso8601: Array(text.utf8)[...])
    }

    /// Parses exactly the output of `appendISO8601`, so that each time has one text.
    package init?(iso8601 text: ArraySlice<UInt8>) {
        var rest = text
        guard let year = rest.takeYear(), rest.take("-"),
            let month = rest.takeDecimal(digits: 2), (1...12).contains(month), rest.take("-"),
            let day = rest.takeDecimal(digits: 2), day >= 1, day <= daysInMonth(month, year: year),
            rest.take("T"),
            let hour = rest.takeDecimal(digits: 2), hour < 24, rest.take(":"),
            let minute = rest.takeDecimal(digits: 2), minute < 60, rest.take(":"),
            let second = rest.takeDecimal(digits: 2), second < 60
        else { return nil }
        var nanoseconds: Int32 = 0
        if rest.take(".") {
            // Whole seconds have no fraction.
            guard let fraction = rest.takeDecimal(digits: 9), fraction > 0 else { return nil }
            nanoseconds = Int32(fraction)
        }
        guard rest.take("Z"), rest.isEmpty else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        // The day of the earliest second begins before the range of `Int64`.
        let (scaled, overflow) = (days + (days < 0 ? 1 : 0)).multipliedReportingOverflow(by: 86_400)
        let rising = hour * 3600 + minute * 60 + second - (days < 0 ? 86_400 : 0)
        let (sum, overflowAgain) = scaled.addingReportingOverflow(rising)
        guard !overflow, !overflowAgain else { return nil }
        self.init(FileTime(seconds: sum, nanoseconds: nanoseconds))
    }
}

extension Timestamp {
    /// The same day of an earlier month, in UTC, or that month's last day.
    func earlier(months: Int64) -> Timestamp {
        let days = rawSeconds.flooredDivision(by: 86_400).quotient
        let (year, month, day) = civilDate(daysSince1970: days)
        let (earlierYear, earlierMonth) = (year * 12 + month - 1 - months).flooredDivision(by: 12)
        let earlierDay = min(day, daysInMonth(earlierMonth + 1, year: earlierYear))
        let earlier = daysSince1970(year: earlierYear, month: earlierMonth + 1, day: earlierDay)
        return advanced(bySeconds: (earlier - days) * 86_400)
    }
}

// The conversions are `civil_from_days` and `days_from_civil` of Howard Hinnant's "chrono-Compatible Low-Level Date
// Algorithms": exact for the proleptic Gregorian calendar.

private func civilDate(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
}

func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
    let (era, yearOfEra) = (month <= 2 ? year - 1 : year).flooredDivision(by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}

func daysInMonth(_ month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
}

extension Int64 {
    func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension [UInt8] {
    /// Appends a number with at least `digits` digits.
    package mutating func appendDecimal(_ number: UInt64, digits: Int = 1) {
        // The longest number has twenty digits.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { buffer in
            var (rest, start) = (number, buffer.count)
            repeat {
                start -= 1
                buffer[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0 || buffer.count - start < digits
            append(contentsOf: UnsafeBufferPointer(rebasing: buffer[start...]))
        }
    }
}

extension ArraySlice<UInt8> {
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard first == UInt8(ascii: character) else { return false }
        removeFirst()
        return true
    }

    /// Four digits for 0 to 9999; else a sign and at least four digits.
    fileprivate mutating func takeYear() -> Int64? {
        guard first == UInt8(ascii: "-") || first == UInt8(ascii: "+") else { return takeDecimal(digits: 4) }
        let isNegative = removeFirst() == UInt8(ascii: "-")
        let digits = prefix { $0 != UInt8(ascii: "-") }.count
        let hasLeadingZero = first == UInt8(ascii: "0")
        guard (4...12).contains(digits), !hasLeadingZero || digits == 4,
            let year = takeDecimal(digits: digits),
            isNegative ? year > 0 : year > 9999
        else { return nil }
        return isNegative ? -year : year
    }

    mutating func takeDecimal(digits: Int) -> Int64? {
        guard count >= digits else { return nil }
        var number: Int64 = 0
        for _ in 0..<digits {
            let digit = removeFirst()
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }
}
