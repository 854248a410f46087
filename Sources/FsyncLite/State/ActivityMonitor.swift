import FileStorage
import FileSystem

/// Updates the document `activity` once a second while a run stages and commits, and forwards all calls to another
/// monitor. A run of less than a second writes none. A failure is only a warning, because it must not fail the run.
final class ActivityMonitor: Monitor {
    private let base: any Monitor
    private let state: StateDirectory
    /// nil if the boot ID is unknown.
    private let buffer: AutosavingBuffer<Activity>?

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
                initial: try Activity(began: began), keys: .snakeCase, interval: interval, onFailure: warn)
        } catch {
            buffer = nil
            warn(error)
        }
    }

    func report(_ progress: SyncProgress) {
        buffer?.change { $0.update(progress) }
        // Saves now, so that there is no save between the writes of the commit.
        if progress.phase == .committing {
            buffer?.discard()
            do {
                if try state.has(.activity) { try buffer?.save() }
            } catch {
                base.warn("what this run is doing cannot be shown by status: \(error)")
            }
        }
        base.report(progress)
    }

    var isCancelled: Bool { base.isCancelled }
    func warn(_ message: String) { base.warn(message) }

    func end() {
        buffer?.discard()
        do {
            try state.remove(.activity)
        } catch {
            base.warn("status may still show this run, which has ended: \(error)")
        }
    }
}
