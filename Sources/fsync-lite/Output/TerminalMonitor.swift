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

    /// nil where standard error is no terminal that can show it: a pipe gets nothing.
    init?() {
        guard StandardStream.error.understandsEscapes else { return nil }
    }

    func report(_ progress: Progress) {
        state.withLock { state in
            let now = ContinuousClock.now
            if state.phase != progress.phase {
                state.phase = progress.phase
                state.started = now
            } else if let last = state.last, now - last < .milliseconds(100) {
                return
            }
            state.last = now
            // Asked each time: the window may have another size by now.
            let width = StandardStream.error.columns ?? 80
            show(
                "\r\u{1B}[K"
                    + ProgressLine(progress: progress, elapsed: now - state.started).text(width: width))
        }
    }

    /// Takes the line away, so that something else can be written.
    func clear() {
        state.withLock { state in
            if state.last != nil { show("\r\u{1B}[K") }
            state.last = nil
        }
    }

    private func show(_ text: String) {
        // A terminal that has gone away is no reason to stop.
        _ = Result { try StandardStream.error.write(Array(text.utf8)) }
    }
}
