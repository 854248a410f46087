import FsyncLite

/// The progress of a run, as one line that fits a terminal of any width.
struct ProgressLine {
    let progress: SyncProgress
    let elapsed: Duration

    /// - Parameter width: columns of the terminal. The last one is left empty: some terminals wrap after it.
    func text(width: Int) -> String {
        let space = max(0, width - 1)
        // The most important parts come first. If a part does not fit, it and all later ones are left out.
        let parts: [(position: Int, text: String?)] = [
            (0, String(progress.phase.rawValue.prefix(space))), (2, percentage), (6, timeLeft), (3, bytes),
            (5, rate), (4, entries),
        ]
        var chosen: [(position: Int, text: String)] = []
        var length = 0
        for (position, text) in parts {
            guard let text else { continue }
            let needed = text.count + (chosen.isEmpty ? 0 : 2)
            guard length + needed <= space else { break }
            length += needed
            chosen.append((position, text))
        }
        if let fraction, space - length >= 14 {
            chosen.append((1, bar(fraction, length: min(space - length - 4, 30))))
        }
        return chosen.sorted { $0.position < $1.position }.map(\.text).joined(separator: "  ")
    }

    /// The fraction of bytes; if there are none, the fraction of entries.
    private var fraction: Double? {
        if let total = progress.totalBytes, total > 0 {
            return min(1, Double(progress.bytes.rawCount) / Double(total.rawCount))
        }
        guard let total = progress.totalEntries, total > 0 else { return nil }
        return min(1, Double(progress.entries) / Double(total))
    }

    private var percentage: String? {
        fraction.map { "\(Int($0 * 100))%".rightAligned(to: 4) }
    }

    private var bytes: String? {
        let done = Amount.bytes(progress.bytes)
        guard let total = progress.totalBytes else { return progress.bytes > 0 ? done : nil }
        return total > 0 ? "\(done) of \(Amount.bytes(total))" : nil
    }

    private var entries: String? {
        guard let total = progress.totalEntries else {
            return progress.entries > 0 ? Amount.of(progress.entries, "file") : nil
        }
        return "\(progress.entries) of \(Amount.of(total, "file"))"
    }

    /// nil at the beginning, because nothing can be estimated then.
    private var seconds: Double? {
        let seconds = elapsed / .seconds(1)
        return seconds > 0.5 ? seconds : nil
    }

    private var rate: String? {
        guard let seconds, progress.bytes > 0 else { return nil }
        return "\(Amount.bytes(progress.bytes.per(seconds)))/s"
    }

    private var timeLeft: String? {
        guard let seconds, let fraction, fraction > 0 else { return nil }
        let left = Int(min(seconds / fraction * (1 - fraction), 359_999).rounded())
        let (hours, minutes) = (left / 3600, left / 60 % 60)
        func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let clock = hours > 0 ? "\(hours):\(twoDigits(minutes))" : "\(minutes)"
        return "\(clock):\(twoDigits(left % 60)) left"
    }

    private func bar(_ fraction: Double, length: Int) -> String {
        let filled = Int(fraction * Double(length))
        return "[\(String(repeating: "#", count: filled))\(String(repeating: "-", count: length - filled))]"
    }
}
