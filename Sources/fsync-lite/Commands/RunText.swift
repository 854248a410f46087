import FileSystem
import FsyncLite

/// The words for a run.
extension RecordedRun {
    /// How it ended, in one word or two.
    var result: String {
        guard let outcome else { return isCutOff ? "did not end" : "goes on" }
        return switch ExitCode(rawValue: outcome.exitCode) {
        case .done: "complete"
        case .committedWithOmissions: "incomplete"
        case .refused: "refused"
        case .interrupted, .terminated: "stopped"
        default: "failed"
        }
    }

    /// How it ended, and why, as far as this user may know.
    var resultAndReason: String {
        let reason = outcome?.message ?? outcome?.reason.map { $0.replacing("_", with: " ") }
        return reason.map { "\(result): \(singleLine($0))" } ?? result
    }

    /// Its changes; empty if there are none.
    var work: [String] {
        guard let outcome, isGood else { return [] }
        let changes = outcome.changes > 0 ? [Amount.of(outcome.changes, "change")] : []
        return changes + (outcome.copied > 0 ? ["\(Amount.bytes(outcome.copied)) copied"] : [])
    }
}

extension Timestamp {
    /// The local time to the minute, with a word for a near day.
    func nearText(now: Timestamp = .now) -> String {
        let (text, hour) = (localText, localText.dropFirst(11).prefix(5))
        let yesterday = Timestamp(now.fileTime.advanced(bySeconds: -86_400))
        if text.prefix(10) == now.localText.prefix(10) { return "today \(hour)" }
        return text.prefix(10) == yesterday.localText.prefix(10)
            ? "yesterday \(hour)" : String(text.prefix(16))
    }

    /// How long ago it was. A time in the future means that a clock is wrong.
    func ageText(now: Timestamp = .now) -> String {
        isAhead(of: now) ? "in the future: is the clock right?" : "\(elapsed(now: now)) ago"
    }

    private static let ageUnits: [(name: String, seconds: Int64)] = [
        ("w", 604_800), ("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1),
    ]

    /// Its age in the largest unit of which it has at least two: `26 h`, `3 d`.
    func elapsed(now: Timestamp = .now) -> String {
        let seconds = max(0, now.fileTime.seconds(since: fileTime))
        let unit = Timestamp.ageUnits.first { seconds >= 2 * $0.seconds } ?? ("s", 1)
        return "\(seconds / unit.seconds) \(unit.name)"
    }
}
