import FsyncLite

/// How long ago something was, as a person says it.
struct Age: Comparable, CustomStringConvertible {
    let seconds: Int64

    private static let units: [(letter: Character, seconds: Int64)] = [
        ("w", 604_800), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1),
    ]

    init(since time: Timestamp, now: Timestamp = .now) {
        seconds = max(0, now.seconds - time.seconds)
    }

    /// `90m`, `26h`, `7d`; nil for anything else, and for more than fits.
    init?(_ text: String) {
        guard let unit = Age.units.first(where: { $0.letter == text.last }),
            let number = UInt32(text.dropLast()), !text.hasPrefix("+")
        else { return nil }
        seconds = Int64(number) * unit.seconds
    }

    /// In the largest unit of which there are two.
    var description: String {
        let unit = Age.units.first { seconds >= 2 * $0.seconds } ?? ("s", 1)
        return "\(seconds / unit.seconds) \(unit.letter == "m" ? "min" : String(unit.letter))"
    }

    static func < (left: Age, right: Age) -> Bool { left.seconds < right.seconds }
}
