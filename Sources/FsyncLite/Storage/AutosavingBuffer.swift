/// A value that is worked on in memory and saved by itself: after a while when it has changed, and at once
/// when asked.
///
/// Saves never overlap and at most one is waiting. A change that arrives during a save is not lost: it is
/// dirty again and schedules another. A failed save is reported, leaves the value dirty and is tried again
/// after the interval. A save of what is clean does nothing. The blocking work runs where the storage has it
/// done: on a thread of its own.
package actor AutosavingBuffer<Value: Codable & Sendable, Base: Storage> {
    private let storage: CodableStorage<Base>
    private let key: String
    private let interval: Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    private let beforeSave: @Sendable () throws(StorageError) -> Void
    private let onFailure: @Sendable (StorageError) -> Void

    private var value: Value?
    private var isDirty = false
    private var isClosed = false
    private var scheduled: Task<Void, Never>?
    /// The save that is under way.
    private var saving: Task<Result<Void, StorageError>, Never>?

    /// - Parameters:
    ///   - interval: from a change to its save; at least ten times as long as the last save took.
    ///   - beforeSave: runs with the blocking work, after the value to be saved has been taken.
    ///   - onFailure: is told of saves that nobody waits for.
    ///   - sleep: waits; tests have their own.
    package init(
        _ storage: Base, key: String, interval: Duration,
        beforeSave: @escaping @Sendable () throws(StorageError) -> Void = {},
        onFailure: @escaping @Sendable (StorageError) -> Void = { _ in },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.storage = CodableStorage(storage)
        self.key = key
        self.interval = interval
        self.beforeSave = beforeSave
        self.onFailure = onFailure
        self.sleep = sleep
    }

    /// Reads the value, or begins with another where nothing is stored.
    package func load(orBeginWith initial: Value) async throws(StorageError) -> Value {
        let stored: Value? = try await storage.valueIfPresent(for: key)
        value = stored ?? initial
        return stored ?? initial
    }

    /// Changes the value, which is saved in a while.
    ///
    /// - Throws: `SyncError` before `load`.
    package func change(_ body: @Sendable (inout Value) -> Void) throws(SyncError) {
        // Taken out and put back: a copy of a large value for each change would be dear.
        guard var changed = value.take() else {
            throw SyncError(.failed, "\(key) is used before it was loaded")
        }
        body(&changed)
        value = changed
        isDirty = true
        schedule(after: interval)
    }

    /// Saves what has changed, at once, and waits for it.
    package func save() async throws(StorageError) {
        // What is under way may have begun before the last change.
        if let saving { _ = await saving.value }
        if let saving { return try await saving.value.get() }
        guard isDirty else { return }
        try await begin().value.get()
    }

    /// Saves no more by itself; a save that is under way ends first. What is dirty stays unsaved.
    package func close() async {
        isClosed = true
        scheduled?.cancel()
        if let saving { _ = await saving.value }
    }

    private func schedule(after delay: Duration) {
        guard scheduled == nil, !isClosed else { return }
        scheduled = Task {
            do {
                try await sleep(delay)
            } catch {
                return
            }
            // Whoever cancelled it saves.
            if !Task.isCancelled { await saveByItself() }
        }
    }

    private func saveByItself() async {
        scheduled = nil
        if let saving { _ = await saving.value }
        guard isDirty, saving == nil, !isClosed else { return }
        if case .failure(let error) = await begin().value { onFailure(error) }
    }

    private func begin() -> Task<Result<Void, StorageError>, Never> {
        scheduled?.cancel()
        scheduled = nil
        isDirty = false
        let task = Task { await perform() }
        saving = task
        return task
    }

    private func perform() async -> Result<Void, StorageError> {
        let start = ContinuousClock.now
        let result: Result<Void, StorageError>
        do throws(StorageError) {
            if let value {
                let (storage, key, beforeSave) = (storage, key, beforeSave)
                try await storage.base.perform { () throws(StorageError) in
                    try beforeSave()
                    try storage.store(value, for: key)
                }
            }
            result = .success(())
        } catch {
            isDirty = true
            result = .failure(error)
        }
        saving = nil
        if isDirty { schedule(after: max(interval, start.duration(to: .now) * 10)) }
        return result
    }
}
