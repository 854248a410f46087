import FileSystem
import FsyncLite
import Synchronization

/// Stops a run when a signal came, and shows on a terminal's standard error how far it has got, ten times a second at
/// most.
final class RunMonitor: Monitor {
    private struct State {
        var started = ContinuousClock.now
        var last: ContinuousClock.Instant?
        var phase: SyncProgress.Phase?
    }

    private let state = Mutex(State())
    private let isShown: Bool

    /// A pipe, or a terminal that cannot show it, gets nothing.
    init(isQuiet: Bool) {
        isShown = !isQuiet && StandardStream.error.understandsEscapes
    }

    func report(_ progress: SyncProgress) {
        guard isShown else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            if state.phase != progress.phase {
                (state.phase, state.started) = (progress.phase, now)
            } else if let last = state.last, now - last < .milliseconds(100) {
                return
            }
            state.last = now
            // Asked each time: the window may have another size by now.
            let width = StandardStream.error.columns ?? 80
            show(ProgressLine(progress: progress, elapsed: now - state.started).text(width: width))
        }
    }

    func warn(_ message: String) {
        clear()
        Console.complain(message)
    }

    var isCancelled: Bool { TerminationSignal.signal != nil }

    /// Takes the line away, so that something else can be written.
    func clear() {
        state.withLock { state in
            if state.last != nil { show("") }
            state.last = nil
        }
    }

    private func show(_ line: String) {
        // A terminal that has gone away is no reason to stop.
        _ = Result { try StandardStream.error.write(Array("\r\u{1B}[K\(line)".utf8)) }
    }
}
