import FileSystem

/// The names of transactions. A time makes them sortable, and a random part makes them unique.
enum TransactionID {
    /// For example `20261121T090000.123456Z-3f2a`.
    ///
    /// - Parameters:
    ///   - last: the newest name so far. The new one sorts after it even if the clock was set back, because the newest
    ///     snapshot must not depend on the clock.
    ///   - isSecret: nobody can guess the name.
    static func next(after last: String? = nil, isSecret: Bool = false, now: Timestamp = .now) -> String {
        var microseconds = microseconds(now)
        if let last, let previous = time(of: last), previous >= microseconds { microseconds = previous + 1 }
        let (seconds, fraction) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let date = Timestamp(seconds: seconds, nanoseconds: 0) ?? now
        let digits = date.description.filter { !"-:Z".contains($0) }
        return
            "\(digits).\(String(1_000_000 + fraction).dropFirst())Z-\(RandomID.hexadecimal(bytes: isSecret ? 16 : 2))"
    }

    /// Whether a name has the form of a transaction's.
    static func isName(_ name: FileName) -> Bool { time(of: name.description) != nil }

    /// The time at which a transaction was named, before its first action; nil for any other name.
    static func time(of name: FileName) -> FileTime? {
        time(of: name.description).map {
            let (seconds, fraction) = $0.quotientAndRemainder(dividingBy: 1_000_000)
            return FileTime(seconds: seconds, nanoseconds: Int32(fraction) * 1000)
        }
    }

    /// Microseconds since 1970; nil for any other name.
    private static func time(of name: String) -> Int64? {
        var text = Array(name.utf8.prefix { $0 != UInt8(ascii: "-") })
        guard text.count == 23 else { return nil }
        for (index, separator) in [(4, "-"), (7, "-"), (13, ":"), (16, ":")] {
            text.insert(contentsOf: separator.utf8, at: index)
        }
        text.insert(contentsOf: "000".utf8, at: text.count - 1)
        // Whole seconds have only one valid text, without a fraction.
        if text.suffix(11).elementsEqual(".000000000Z".utf8) {
            text.replaceSubrange((text.count - 11)..., with: "Z".utf8)
        }
        guard let time = Timestamp(iso8601: text[...]) else { return nil }
        return microseconds(time)
    }

    /// Microseconds since 1970, or the nearest number that exists.
    private static func microseconds(_ time: Timestamp) -> Int64 {
        time.rawSeconds.saturatingMultiply(1_000_000).saturatingAdd(Int64(time.nanoseconds / 1000))
    }
}
