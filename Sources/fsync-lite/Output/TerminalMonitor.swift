import FileSystem
import FsyncLite
import Synchronization

/// Shows on a terminal's standard error how far a run has got, ten times a second at most.
final class TerminalMonitor: Monitor {
    private struct State {
        var started = ContinuousClock.now
        var last: ContinuousClock.Instant?
        var phase: Progress.Phase?
    }

    private let state = Mutex(State())

    func report(_ progress: Progress) {
        let line: String? = state.withLock { state in
            let now = ContinuousClock.now
            if state.phase != progress.phase {
                state.phase = progress.phase
                state.started = now
            } else if let last = state.last, now - last < .milliseconds(100) {
                return nil
            }
            state.last = now
            return text(progress, after: now - state.started)
        }
        if let line { show("\r\u{1B}[K" + line) }
    }

    /// Takes the line away.
    func finish() {
        show("\r\u{1B}[K")
    }

    private func text(_ progress: Progress, after elapsed: Duration) -> String {
        var text = progress.phase.rawValue
        guard let total = progress.totalEntries, total > 0 else { return text }
        text += " \(progress.entries) of \(total)"
        guard let bytes = progress.totalBytes, bytes > 0 else { return text }
        text += ", \(ActionText.byteCount(progress.bytes)) of \(ActionText.byteCount(bytes))"
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        guard seconds > 0.5, progress.bytes > 0 else { return text }
        let rate = Double(progress.bytes) / seconds
        let left = Int(Double(bytes - progress.bytes) / rate)
        return text
            + ", \(ActionText.byteCount(Int64(rate)))/s, \(left / 60):\(left % 60 < 10 ? "0" : "")\(left % 60) left"
    }

    private func show(_ text: String) {
        // A terminal that has gone away is no reason to stop.
        _ = Result { try StandardStream.error.write(Array(text.utf8)) }
    }
}
