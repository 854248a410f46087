import FileSystem
import FsyncLite
import Synchronization

/// Stops a run after a signal. Shows its progress on a terminal's standard error, at most ten times a second.
final class RunMonitor: Monitor {
    private struct State {
        var started = ContinuousClock.now
        var last: ContinuousClock.Instant?
        var phase: SyncProgress.Phase?
    }

    private let state = Mutex(State())
    private let isShown: Bool
    /// The machine that has the source, if it sent this command.
    private let client: Client?
    /// An atomic value, because many threads read it several times for each file.
    private let hasLostClient = Atomic(false)

    /// Progress is not shown on a pipe, or on a terminal without the needed controls.
    init(isQuiet: Bool, client: Client? = nil) {
        self.client = client
        isShown = !isQuiet && StandardStream.error.understandsEscapes
    }

    func report(_ progress: SyncProgress) {
        TerminationSignal.finishes(progress.phase == .committing)
        // From here on, the client can no longer be sure that nothing has changed. So it must agree.
        if progress.beginsCommit, let client, !client.agreesToCommit() {
            hasLostClient.store(true, ordering: .relaxed)
        }
        guard isShown else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            if state.phase != progress.phase {
                (state.phase, state.started) = (progress.phase, now)
            } else if let last = state.last, now - last < .milliseconds(100) {
                return
            }
            state.last = now
            // Read it each time, because the window may have been resized.
            let width = StandardStream.error.columns ?? 80
            show(ProgressLine(progress: progress, elapsed: now - state.started).text(width: width))
        }
    }

    func warn(_ message: String) {
        clear()
        Console.complain(message)
    }

    var isCancelled: Bool { TerminationSignal.signal != nil || hasLostClient.load(ordering: .relaxed) }

    /// Clears the progress line before other output.
    func clear() {
        state.withLock { state in
            if state.last != nil { show("") }
            state.last = nil
        }
    }

    private func show(_ line: String) {
        // A closed terminal does not stop the run.
        _ = Result { try StandardStream.error.write(Array("\r\u{1B}[K\(line)".utf8)) }
    }
}
