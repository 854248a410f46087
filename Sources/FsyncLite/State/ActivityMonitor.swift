import FileSystem
import Synchronization

/// Keeps the document `activity` current while an apply stages and commits, once a second, and passes on what it is told.
/// A run of less than a second writes none. It must not fail a run: what goes wrong is a warning.
final class ActivityMonitor: Monitor {
    private let base: any Monitor
    private let state: StateDirectory
    /// nil where the machine does not tell of its boot.
    private let buffer: ActivityBuffer?

    init(
        in state: StateDirectory, began: Timestamp, telling base: any Monitor,
        interval: Duration = .seconds(1)
    ) {
        (self.state, self.base) = (state, base)
        @Sendable func warn(_ error: any Error) {
            base.warn("what this run is doing cannot be shown by status: \(error)")
        }
        do {
            buffer = ActivityBuffer(
                state, initial: try Activity(began: began), interval: interval, onFailure: warn)
        } catch {
            buffer = nil
            warn(error)
        }
    }

    func report(_ progress: SyncProgress) {
        buffer?.change { $0.update(progress) }
        // The commit's own order of writes is not disturbed.
        if progress.phase == .committing { buffer?.close(saving: true) }
        base.report(progress)
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

/// A value that is saved on a thread of its own, a while after it has changed.
final class ActivityBuffer: Sendable {
    private struct Content {
        var value: Activity
        var isDirty = false
        var hasThread = false
        var isSaved = false
    }

    private let state: StateDirectory
    private let interval: Duration
    private let onFailure: @Sendable (any Error) -> Void
    private let content: Mutex<Content>
    /// Held while the value is saved; true from the end on.
    private let saving = Mutex(false)
    private let thread = WorkerThread()
    private let closing = Alarm()

    /// - Parameter onFailure: is told once why the value cannot be saved; it is not tried again.
    init(
        _ state: StateDirectory, initial: Activity, interval: Duration,
        onFailure: @escaping @Sendable (any Error) -> Void
    ) {
        (self.state, self.interval, self.onFailure) = (state, interval, onFailure)
        content = Mutex(Content(value: initial))
    }

    deinit {
        closing.ring()
    }

    func change(_ body: (inout Activity) -> Void) {
        let isFirst = content.withLock { content in
            body(&content.value)
            content.isDirty = true
            defer { content.hasThread = true }
            return !content.hasThread
        }
        if isFirst { beginThread() }
    }

    /// Saves no more; a save that is under way ends first.
    ///
    /// - Parameter saving: what is not saved yet is saved, where anything was before.
    func close(saving isSaved: Bool = false) {
        closing.ring()
        if isSaved, content.withLock(\.isSaved) { save() }
        saving.withLock { $0 = true }
    }

    private func save() {
        saving.withLock { isOver in
            let value = content.withLock { content -> Activity? in
                defer { content.isDirty = false }
                return content.isDirty ? content.value : nil
            }
            guard !isOver, let value else { return }
            do {
                try state.replace(.activity, Array(JSONDocument.encode(value)))
                content.withLock { $0.isSaved = true }
            } catch {
                isOver = true
                onFailure(error)
            }
        }
    }

    private func beginThread() {
        do {
            try thread.start { [weak self, closing, interval] in
                while !closing.wait(interval) {
                    guard let self else { return }
                    self.save()
                }
            }
        } catch {
            onFailure(error)
        }
    }
}
