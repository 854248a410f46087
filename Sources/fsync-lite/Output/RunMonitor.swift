import FileSystem
import FsyncLite
import Synchronization

/// Stops a run after a signal, and shows its progress on a terminal's standard error, at most ten times a second.
final class RunMonitor: Monitor {
    private struct State {
        var started = ContinuousClock.now
        var last: ContinuousClock.Instant?
        var phase: SyncProgress.Phase?
    }

    private let state = Mutex(State())
    private let isShown: Bool
    /// The machine that has the source, where that is the one that has this run carried out here.
    private let client: Client?
    /// Asked several times for each file, by many threads, which a lock would hold up.
    private let hasLostClient = Atomic(false)

    /// Shows nothing on a pipe, or on a terminal without the needed controls.
    init(isQuiet: Bool, client: Client? = nil) {
        self.client = client
        isShown = !isQuiet && StandardStream.error.understandsEscapes
    }

    func report(_ progress: SyncProgress) {
        TerminationSignal.finishes(progress.phase == .committing)
        // The client must know when it is too late to say for certain that nothing has changed.
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
            // Read each time, as the window may have been resized.
            let width = StandardStream.error.columns ?? 80
            show(ProgressLine(progress: progress, elapsed: now - state.started).text(width: width))
        }
    }

    func warn(_ message: String) {
        clear()
        Console.complain(message)
    }

    var isCancelled: Bool { TerminationSignal.signal != nil || hasLostClient.load(ordering: .relaxed) }

    /// Clears the line, so that something else can be written.
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
