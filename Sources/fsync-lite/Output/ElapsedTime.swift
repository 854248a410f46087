import FsyncLite

/// The age of something, in the largest unit of which it has at least two: `26 h`, `3 d`.
struct ElapsedTime: CustomStringConvertible {
    let seconds: Int64

    private static let units: [(name: String, seconds: Int64)] = [
        ("w", 604_800), ("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1),
    ]

    init(since time: Timestamp, now: Timestamp = .now) {
        seconds = max(0, now.fileTime.seconds(since: time.fileTime))
    }

    var description: String {
        let unit = ElapsedTime.units.first { seconds >= 2 * $0.seconds } ?? ("s", 1)
        return "\(seconds / unit.seconds) \(unit.name)"
    }
}
