import FileSystem
import Synchronization

/// A value that is changed in memory and saved automatically, as JSON under a key of a storage: some time after a
/// change, and at once on request.
///
/// Saves never overlap. A change during a save is not lost: it is saved after the next interval. A failed save is
/// reported and tried again. An unchanged value is not saved.
///
/// `change` waits for no save. No call needs Swift's cooperative pool: pauses and saves run on a thread of the buffer,
/// which starts with the first change and ends with the buffer.
public final class AutosavingBuffer<Value: Encodable & Sendable, Base: Storage>: Sendable {
    private struct State {
        var value: Value
        var isDirty = false
        /// A pause and a save are queued on the thread.
        var isScheduled = false
        var isClosed = false
        /// The duration of the last save.
        var lastSave = Duration.zero

        /// Returns whether the next save has to be queued.
        mutating func schedule() -> Bool {
            guard isDirty, !isScheduled, !isClosed else { return false }
            isScheduled = true
            return true
        }
    }

    private let storage: CodableStorage<Base>
    private let key: String
    private let interval: Duration
    private let beforeSave: @Sendable () throws -> Void
    private let onFailure: @Sendable (StorageError) -> Void
    private let wait: @Sendable (Duration) -> Bool
    private let state: Mutex<State>
    /// Held during a save.
    private let saving = Mutex(())
    private let thread = WorkerThread()
    private let closing: Alarm

    /// - Parameters:
    ///   - initial: the first value, which counts as saved.
    ///   - interval: from a change to its save; at least ten times the duration of the last save.
    ///   - beforeSave: runs on the saving thread after the value to be saved has been read, to make other data durable
    ///     first. If it throws, nothing is saved.
    ///   - onFailure: receives the errors of automatic saves, on the buffer's thread.
    public convenience init(
        _ storage: Base, key: String, initial: Value, interval: Duration,
        beforeSave: @escaping @Sendable () throws -> Void = {},
        onFailure: @escaping @Sendable (StorageError) -> Void
    ) {
        let closing = Alarm()
        self.init(
            storage, key: key, initial: initial, interval: interval, beforeSave: beforeSave,
            onFailure: onFailure, closing: closing, wait: { closing.wait($0) })
    }

    /// - Parameter wait: pauses; true if the buffer was closed meanwhile. Tests supply their own.
    package init(
        _ storage: Base, key: String, initial: Value, interval: Duration,
        beforeSave: @escaping @Sendable () throws -> Void = {},
        onFailure: @escaping @Sendable (StorageError) -> Void,
        closing: Alarm = Alarm(), wait: @escaping @Sendable (Duration) -> Bool
    ) {
        self.storage = CodableStorage(storage)
        (self.key, self.interval, self.beforeSave, self.onFailure) = (key, interval, beforeSave, onFailure)
        (self.closing, self.wait) = (closing, wait)
        state = Mutex(State(value: initial))
    }

    deinit {
        closing.ring()
    }

    /// The present value.
    public var value: Value { state.withLock { $0.value } }

    /// Changes the value and schedules a save. Other calls wait for `body`, so it must be short.
    public func change(_ body: (inout Value) -> Void) {
        let isDue = state.withLock { state in
            body(&state.value)
            state.isDirty = true
            return state.schedule()
        }
        if isDue { beginPause() }
    }

    /// Saves unsaved changes now, on the calling thread.
    public func save() throws(StorageError) {
        // RACE: if this save fails, the thread may have found the value clean meanwhile and ended its work.
        defer { schedule() }
        try saving.withLock { _ throws(StorageError) in try saveNow() }
    }

    /// Saves unsaved changes now.
    public func save() async throws(StorageError) {
        try await storage.base.perform { [self] () throws(StorageError) in try save() }
    }

    /// Ends automatic saves and waits for one that is running. Unsaved changes stay unsaved unless `save` is called.
    public func close() {
        state.withLock { $0.isClosed = true }
        closing.ring()
        saving.withLock { _ in }
    }

    /// See the blocking `close`.
    public func close() async {
        state.withLock { $0.isClosed = true }
        closing.ring()
        await thread.run { [self] in close() }
    }

    private func schedule() {
        if state.withLock({ $0.schedule() }) { beginPause() }
    }

    private func beginPause() {
        do {
            try thread.start { [weak self, wait] in
                guard let pause = self?.pause, !wait(pause) else { return }
                self?.saveByItself()
            }
        } catch {
            // The next change queues it again.
            state.withLock { $0.isScheduled = false }
            onFailure(.cannotWrite(key, cause: SyncError(error)))
        }
    }

    private var pause: Duration { max(interval, state.withLock { $0.lastSave } * 10) }

    private func saveByItself() {
        do {
            try saving.withLock { _ throws(StorageError) in
                if !state.withLock({ $0.isClosed }) { try saveNow() }
            }
        } catch {
            onFailure(error)
        }
        state.withLock { $0.isScheduled = false }
        schedule()
    }

    /// Requires `saving`.
    private func saveNow() throws(StorageError) {
        let value = state.withLock { state -> Value? in
            defer { state.isDirty = false }
            return state.isDirty ? state.value : nil
        }
        guard let value else { return }
        let start = ContinuousClock.now
        let result = Result { () throws(StorageError) in
            do {
                try beforeSave()
            } catch {
                throw .cannotWrite(key, cause: error)
            }
            try storage.store(value, for: key)
        }
        state.withLock { state in
            state.lastSave = start.duration(to: .now)
            if case .failure = result { state.isDirty = true }
        }
        try result.get()
    }
}

extension AutosavingBuffer where Value: Decodable {
    /// Starts with the value stored under the key, or with `initial` if there is none.
    public convenience init(
        _ storage: Base, key: String, storedOr initial: Value, interval: Duration,
        beforeSave: @escaping @Sendable () throws -> Void = {},
        onFailure: @escaping @Sendable (StorageError) -> Void
    ) throws(StorageError) {
        let stored: Value? = try CodableStorage(storage).valueIfPresent(for: key)
        self.init(
            storage, key: key, initial: stored ?? initial, interval: interval, beforeSave: beforeSave,
            onFailure: onFailure)
    }
}
