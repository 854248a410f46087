import FileSystem
import FoundationEssentials
import Observation
import Synchronization

/// A value that is changed in memory and saved automatically: some time after a change, on request, and when it ends.
///
/// Saves never overlap. A change during a save is not lost: it is saved after the next interval. A failed save is
/// reported and tried again. An unchanged value is not saved.
///
/// `change` waits for no save. Pauses and automatic saves run on a thread of the buffer, which starts with the first change
/// and ends with the buffer. A buffer that goes saves its last change before it is gone, on the thread that lets it go; end
/// it with `close` where that must not wait, or must not fail unnoticed.
public final class AutosavingBuffer<Value: Encodable & Sendable>: Sendable {
    private let saver: Saver
    private let interval: Duration
    private let wait: @Sendable (Duration) -> Bool
    private let thread = WorkerThread()
    private let closing: Alarm
    private let registrar = ObservationRegistrar()

    /// - Parameters:
    ///   - initial: the first value, which counts as saved.
    ///   - keys: how the document spells the names of properties.
    ///   - interval: from a change to its save; at least ten times the duration of the last save.
    ///   - onFailure: receives the errors of automatic saves, and of the last one.
    public convenience init(
        _ storage: any Storage, key: String, initial: Value, keys: JSONKeys = .asDeclared, interval: Duration,
        onFailure: @escaping @Sendable (StorageError) -> Void
    ) {
        self.init(
            storage, key: key, initial: initial, keys: keys, interval: interval, onFailure: onFailure,
            closing: Alarm(), wait: nil)
    }

    /// - Parameter wait: pauses; true if the buffer was closed meanwhile. Tests supply their own.
    package convenience init(
        _ storage: any Storage, key: String, initial: Value, keys: JSONKeys = .asDeclared, interval: Duration,
        onFailure: @escaping @Sendable (StorageError) -> Void, closing: Alarm = Alarm(),
        wait: (@Sendable (Duration) -> Bool)?
    ) {
        let documents = CodableStorage(storage, keys: keys)
        self.init(
            key, initial, interval, onFailure, closing, wait
        ) { (value) throws(StorageError) in try documents.store(value, for: key) }
    }

    fileprivate init(
        _ name: String, _ initial: Value, _ interval: Duration,
        _ onFailure: @escaping @Sendable (StorageError) -> Void, _ closing: Alarm = Alarm(),
        _ wait: (@Sendable (Duration) -> Bool)? = nil,
        store: @escaping @Sendable (Value) throws(StorageError) -> Void
    ) {
        saver = Saver(name, initial, onFailure, store)
        (self.interval, self.closing, self.wait) = (interval, closing, wait ?? { closing.wait($0) })
    }

    deinit {
        closing.ring()
        saver.end()
    }

    /// The present value. Inside `change`, use what that passes: here the lock is taken a second time, which traps.
    public var value: Value {
        registrar.access(self, keyPath: \.value)
        return saver.state.withLock { $0.value }
    }

    /// Whether a change is not stored yet.
    public var isDirty: Bool {
        registrar.access(self, keyPath: \.isDirty)
        return saver.state.withLock { $0.isDirty }
    }

    /// Changes the value and schedules a save; returns and throws what `body` does. Other calls wait for `body`, so it must
    /// be short.
    public func change<Outcome, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Outcome
    ) throws(Failure) -> Outcome {
        var result: Result<Outcome, Failure>?
        let (wasDirty, isDue) = saver.state.withLock { state in
            do throws(Failure) {
                result = .success(try body(&state.value))
            } catch {
                // It may have changed the value before.
                result = .failure(error)
            }
            defer { state.changes += 1 }
            return (state.isDirty, state.schedule(afterChange: true))
        }
        tell(Told(value: true, isDirty: !wasDirty))
        if isDue { beginPause() }
        guard let result else { preconditionFailure("the lock did not run its body") }
        return try result.get()
    }

    /// Saves unsaved changes now, on the calling thread.
    public func save() throws(StorageError) {
        // RACE: if this save fails, the thread may have found the value clean meanwhile and ended its work.
        defer { schedule() }
        if try saver.save() { tell(Told(isDirty: true)) }
    }

    /// Saves unsaved changes now.
    public func save() async throws(StorageError) {
        try await LocalFile.perform { [self] () throws(StorageError) in try save() }
    }

    /// Ends automatic saves, and saves what is unsaved.
    public func close() throws(StorageError) {
        saver.state.withLock { $0.isClosed = true }
        closing.ring()
        try save()
    }

    /// See the blocking `close`.
    public func close() async throws(StorageError) {
        try await LocalFile.perform { [self] () throws(StorageError) in try close() }
    }

    /// Ends the buffer without saving, and waits for a save that is running. `save` still saves when it is called.
    public func discard() {
        saver.state.withLock { ($0.isClosed, $0.isDiscarded) = (true, true) }
        closing.ring()
        saver.waitForSave()
    }

    private func schedule() {
        if saver.state.withLock({ $0.schedule() }) { beginPause() }
    }

    private func beginPause() {
        do {
            try thread.start { [weak self, wait] in
                guard let pause = self?.pause, !wait(pause) else { return }
                self?.saveByItself()
            }
        } catch {
            // The next change queues it again.
            saver.state.withLock { $0.isScheduled = false }
            saver.onFailure(.cannotWrite(saver.name, cause: SyncError(error)))
        }
    }

    private var pause: Duration { max(interval, saver.state.withLock { $0.lastSave } * 10) }

    private func saveByItself() {
        do throws(StorageError) {
            if try saver.save(unlessClosed: true) { tell(Told(isDirty: true)) }
        } catch {
            saver.onFailure(error)
        }
        saver.state.withLock { $0.isScheduled = false }
        schedule()
    }

    /// What observers are told of.
    private struct Told {
        var value = false
        var isDirty = false
    }

    /// After the lock is released, since observers may read the value and change it. What an observer changes is told when
    /// it has returned: until then it is still registered, and would be told of its own change.
    private func tell(_ change: Told) {
        var next: Told? = saver.state.withLock { state in
            state.untold.value = state.untold.value || change.value
            state.untold.isDirty = state.untold.isDirty || change.isDirty
            guard !state.isTelling else { return nil }
            state.isTelling = true
            return state.takeUntold()
        }
        while let told = next {
            if told.value { registrar.withMutation(of: self, keyPath: \.value) {} }
            if told.isDirty { registrar.withMutation(of: self, keyPath: \.isDirty) {} }
            next = saver.state.withLock { $0.takeUntold() }
        }
    }

    /// What remains of the buffer while the last change is saved.
    private final class Saver: Sendable {
        struct State {
            var value: Value
            var changes = 0
            /// The number of changes that are stored.
            var stored = 0
            /// A pause and a save are queued on the thread.
            var isScheduled = false
            var isClosed = false
            var isDiscarded = false
            var untold = Told()
            /// A thread tells observers.
            var isTelling = false
            /// The duration of the last save.
            var lastSave = Duration.zero

            var isDirty: Bool { changes != stored }

            /// nil, and the end of telling, where observers know all.
            mutating func takeUntold() -> Told? {
                isTelling = untold.value || untold.isDirty
                defer { untold = Told() }
                return isTelling ? untold : nil
            }

            /// Returns whether the next save has to be queued.
            mutating func schedule(afterChange isChanging: Bool = false) -> Bool {
                guard isDirty || isChanging, !isScheduled, !isClosed else { return false }
                isScheduled = true
                return true
            }
        }

        let name: String
        let state: Mutex<State>
        let onFailure: @Sendable (StorageError) -> Void
        private let store: @Sendable (Value) throws(StorageError) -> Void
        /// Held during a save.
        private let saving = Mutex(())

        init(
            _ name: String, _ initial: Value, _ onFailure: @escaping @Sendable (StorageError) -> Void,
            _ store: @escaping @Sendable (Value) throws(StorageError) -> Void
        ) {
            (self.name, self.onFailure, self.store) = (name, onFailure, store)
            state = Mutex(State(value: initial))
        }

        /// Returns whether everything is stored by this call.
        func save(unlessClosed: Bool = false) throws(StorageError) -> Bool {
            try saving.withLock { _ throws(StorageError) in
                let unsaved = state.withLock { state in
                    state.isDirty && !(unlessClosed && state.isClosed) ? (state.value, state.changes) : nil
                }
                guard let (value, changes) = unsaved else { return false }
                let start = ContinuousClock.now
                defer { state.withLock { $0.lastSave = start.duration(to: .now) } }
                try store(value)
                return state.withLock { state in
                    state.stored = changes
                    return !state.isDirty
                }
            }
        }

        func waitForSave() { saving.withLock { _ in } }

        func end() {
            guard !state.withLock({ $0.isDiscarded }) else { return }
            do throws(StorageError) {
                _ = try save()
            } catch {
                onFailure(error)
            }
        }
    }
}

/// `withObservationTracking` is told of a change of `value` and of `isDirty`, on the thread that makes it.
extension AutosavingBuffer: Observable {}

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
    /// The text of a file, loaded off Swift's pool; a missing file is empty text. Saved as text in UTF-8, atomically.
    public convenience init(
        text file: LocalFile, interval: Duration, onFailure: @escaping @Sendable (StorageError) -> Void
    ) async throws(SyncError) {
        let text = try await LocalFile.perform { () throws(SyncError) in
            try ifPresent { () throws(SyncError) in try file.text() } ?? ""
        }
        self.init(file.name, text, interval, onFailure) { (text) throws(StorageError) in
            do {
                try file.replace(withText: text)
            } catch {
                throw .cannotWrite(file.name, cause: error)
            }
        }
    }
}
