import FileStorage
import FileSystem

/// Keeps the document `activity` current while an apply stages and commits, once a second, and passes on what it is told.
/// A run of less than a second writes none. It must not fail a run: what goes wrong is a warning.
final class ActivityMonitor: Monitor {
    private let base: any Monitor
    private let state: StateDirectory
    /// nil where the machine does not tell of its boot.
    private let buffer: AutosavingBuffer<Activity, DiskStorage>?

    init(
        in state: StateDirectory, began: Timestamp, telling base: any Monitor,
        interval: Duration = .seconds(1)
    ) {
        (self.state, self.base) = (state, base)
        @Sendable func warn(_ error: any Error) {
            base.warn("what this run is doing cannot be shown by status: \(error)")
        }
        do {
            buffer = AutosavingBuffer(
                DiskStorage(state.directory, isDurable: false), key: StateEntry.activity.rawValue,
                initial: try Activity(began: began), interval: interval, onFailure: warn)
        } catch {
            buffer = nil
            warn(error)
        }
    }

    func report(_ progress: SyncProgress) {
        buffer?.change { $0.update(progress) }
        // The commit's own order of writes is not disturbed.
        if progress.phase == .committing { showLast() }
        base.report(progress)
    }

    private func showLast() {
        buffer?.close()
        do {
            if try state.has(.activity) { try buffer?.save() }
        } catch {
            base.warn("what this run is doing cannot be shown by status: \(error)")
        }
    }

    var isCancelled: Bool { base.isCancelled }
    func warn(_ message: String) { base.warn(message) }

    /// The run is over, or shows nothing more.
    func end() {
        buffer?.close()
        do {
            try state.remove(.activity)
        } catch {
            base.warn("what this run was doing is still written down: \(error)")
        }
    }
}
