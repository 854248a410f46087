import FileSystem
import FoundationEssentials
import Observation
import Synchronization

/// A value that is changed in memory and saved automatically: some time after a change, on request, and when it ends.
///
/// Saves never overlap. A change during a save is saved after the next interval. A failed save is reported and tried
/// again. An unchanged value is not saved.
///
/// `change` waits for no save. Pauses and automatic saves run on a thread of the buffer, which starts with the first
/// change and ends with the buffer. The last change is saved when the buffer is deinitialized, on the thread that does
/// so. Use `close` if that must not wait, or if its errors must be seen.
///
/// `withObservationTracking` reports changes of `value` and `isDirty`, on the thread that makes them.
public final class AutosavingBuffer<Value: Encodable & Sendable>: Sendable, Observable {
    private let name: String
    private let state: Mutex<State>
    /// Locked during a save.
    private let saving = Mutex(())
    private let store: @Sendable (Value) throws -> Void
    private let onFailure: @Sendable (StorageError) -> Void
    private let interval: Duration
    private let wait: @Sendable (Duration) -> Bool
    private let thread = WorkerThread()
    private let closing: Alarm
    private let registrar = ObservationRegistrar()

    private struct State {
        var value: Value
        var changes = 0
        /// The number of changes that are stored.
        var stored = 0
        /// Whether a pause and a save are queued on the thread.
        var isScheduled = false
        var isClosed = false
        var isDiscarded = false
        /// The changes that observers have not been notified of.
        var unreported: Set<Observed> = []
        /// Whether a thread is notifying observers.
        var isNotifying = false
        /// The duration of the last save.
        var lastSave = Duration.zero

        var isDirty: Bool { changes != stored }

        /// Returns the changes to notify of. If there are none, notifying ends.
        mutating func takeUnreported() -> Set<Observed> {
            defer { unreported = [] }
            isNotifying = !unreported.isEmpty
            return unreported
        }
    }

    private enum Observed { case value, isDirty }

    /// - Parameters:
    ///   - initial: the first value, which is treated as saved.
    ///   - keys: the spelling of the names of properties in the document.
    ///   - interval: the time from a change to its save; at least ten times the duration of the last save.
    ///   - onFailure: receives the errors of automatic saves, and of the last save.
    public convenience init(
        _ storage: any Storage, key: String, initial: Value, keys: JSONKeys = .asDeclared, interval: Duration,
        onFailure: @escaping @Sendable (StorageError) -> Void
    ) {
        let documents = CodableStorage(storage, keys: keys)
        self.init(key, initial: initial, interval: interval, onFailure: onFailure) {
            try documents.store($0, for: key)
        }
    }

    /// - Parameters:
    ///   - name: the name of the stored value, for errors.
    ///   - wait: pauses, and returns true if the buffer was closed meanwhile. Tests supply their own.
    package init(
        _ name: String, initial: Value, interval: Duration,
        onFailure: @escaping @Sendable (StorageError) -> Void, closing: Alarm = Alarm(),
        wait: (@Sendable (Duration) -> Bool)? = nil,
        store: @escaping @Sendable (Value) throws -> Void
    ) {
        (self.name, self.interval, self.onFailure, self.store) = (name, interval, onFailure, store)
        (self.closing, self.wait) = (closing, wait ?? { closing.wait($0) })
        state = Mutex(State(value: initial))
    }

    deinit {
        closing.ring()
        guard !state.withLock({ $0.isDiscarded }) else { return }
        do throws(StorageError) {
            try storeUnsaved()
        } catch {
            onFailure(error)
        }
    }

    /// The present value. Inside `change`, use the value that it passes: a second lock would trap.
    public var value: Value {
        registrar.access(self, keyPath: \.value)
        return state.withLock { $0.value }
    }

    /// Whether a change is not stored yet.
    public var isDirty: Bool {
        registrar.access(self, keyPath: \.isDirty)
        return state.withLock { $0.isDirty }
    }

    /// Changes the value and schedules a save. Returns and throws what `body` does. Other calls wait, so it must be
    /// short.
    public func change<Outcome, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Outcome
    ) throws(Failure) -> Outcome {
        var result: Result<Outcome, Failure>?
        state.withLock { state in
            state.unreported.formUnion(state.isDirty ? [.value] : [.value, .isDirty])
            // A body that throws may have changed the value before.
            state.changes += 1
            result = Result { () throws(Failure) in try body(&state.value) }
        }
        notifyObservers()
        schedule()
        guard let result else { preconditionFailure("the lock did not run its body") }
        return try result.get()
    }

    /// Saves unsaved changes now, on the calling thread.
    public func save() throws(StorageError) {
        // RACE: if this save fails, the thread may have found the value unchanged meanwhile, and ended its work.
        defer { schedule() }
        try storeUnsaved()
        notifyObservers()
    }

    /// Saves unsaved changes now.
    public func save() async throws(StorageError) {
        try await LocalFile.perform { [self] () throws(StorageError) in try save() }
    }

    /// Ends automatic saves, and saves unsaved changes.
    public func close() throws(StorageError) {
        state.withLock { $0.isClosed = true }
        closing.ring()
        try save()
    }

    /// See the blocking `close`.
    public func close() async throws(StorageError) {
        try await LocalFile.perform { [self] () throws(StorageError) in try close() }
    }

    /// Ends the buffer without saving, and waits for a running save. A call of `save` still saves.
    public func discard() {
        state.withLock { ($0.isClosed, $0.isDiscarded) = (true, true) }
        closing.ring()
        saving.withLock { _ in }
    }

    private func schedule() {
        let isDue = state.withLock { state in
            guard state.isDirty, !state.isScheduled, !state.isClosed else { return false }
            state.isScheduled = true
            return true
        }
        guard isDue else { return }
        do {
            try thread.start { [weak self, wait] in
                guard let pause = self?.pause, !wait(pause) else { return }
                self?.saveByItself()
            }
        } catch {
            // The next change queues a save again.
            state.withLock { $0.isScheduled = false }
            onFailure(.cannotWrite(name, cause: SyncError(error)))
        }
    }

    private var pause: Duration { max(interval, state.withLock { $0.lastSave } * 10) }

    private func saveByItself() {
        do throws(StorageError) {
            try storeUnsaved(unlessClosed: true)
            notifyObservers()
        } catch {
            onFailure(error)
        }
        state.withLock { $0.isScheduled = false }
        schedule()
    }

    private func storeUnsaved(unlessClosed: Bool = false) throws(StorageError) {
        try saving.withLock { _ throws(StorageError) in
            let unsaved = state.withLock { state in
                state.isDirty && !(unlessClosed && state.isClosed) ? (state.value, state.changes) : nil
            }
            guard let (value, changes) = unsaved else { return }
            let start = ContinuousClock.now
            defer { state.withLock { $0.lastSave = start.duration(to: .now) } }
            do {
                try store(value)
            } catch {
                throw error as? StorageError ?? .cannotWrite(name, cause: error)
            }
            state.withLock { state in
                state.stored = changes
                if !state.isDirty { state.unreported.insert(.isDirty) }
            }
        }
    }

    /// Notifies observers after the lock is released, because they may read the value and change it. An observer's own
    /// change is reported after it returns. Until then it is still registered, and would be notified of that change.
    private func notifyObservers() {
        var next = state.withLock { $0.isNotifying ? [] : $0.takeUnreported() }
        while !next.isEmpty {
            if next.contains(.value) { registrar.withMutation(of: self, keyPath: \.value) {} }
            if next.contains(.isDirty) { registrar.withMutation(of: self, keyPath: \.isDirty) {} }
            next = state.withLock { $0.takeUnreported() }
        }
    }
}

extension AutosavingBuffer where Value: Decodable {
    /// Starts with the value stored under the key, or with `initial` if there is none.
    public convenience init(
        _ storage: any Storage, key: String, storedOr initial: Value, keys: JSONKeys = .asDeclared,
        interval: Duration, onFailure: @escaping @Sendable (StorageError) -> Void
    ) throws(StorageError) {
        let stored: Value? = try CodableStorage(storage, keys: keys).valueIfPresent(for: key)
        self.init(
            storage, key: key, initial: stored ?? initial, keys: keys, interval: interval,
            onFailure: onFailure)
    }

    /// Starts with the value stored under the key, or with `initial` if there is none. Swift's pool is not blocked.
    public convenience init(
        _ storage: any Storage, key: String, storedOr initial: Value, keys: JSONKeys = .asDeclared,
        interval: Duration, onFailure: @escaping @Sendable (StorageError) -> Void
    ) async throws(StorageError) {
        let stored: Value? = try await CodableStorage(storage, keys: keys).valueIfPresent(for: key)
        self.init(
            storage, key: key, initial: stored ?? initial, keys: keys, interval: interval,
            onFailure: onFailure)
    }
}

extension AutosavingBuffer where Value == String {
    /// A file's text, loaded outside Swift's pool. A missing file is empty text. It is saved as UTF-8, atomically.
    public convenience init(
        text file: LocalFile, interval: Duration, onFailure: @escaping @Sendable (StorageError) -> Void
    ) async throws(SyncError) {
        let text = try await LocalFile.perform { () throws(SyncError) in
            try ifPresent(file.text()) ?? ""
        }
        self.init(file.name, initial: text, interval: interval, onFailure: onFailure) {
            try file.replace(withText: $0)
        }
    }
}
