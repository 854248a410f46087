import FileStorage
import FileSystem
import Synchronization

/// Keeps the record of a stage while it is filled, and saves it every few seconds on a thread of its own: whoever
/// fills the stage waits for no save, and nothing here waits for Swift's pool, which callers may fill.
final class StageRecorder: Sendable {
    private let storage: CodableStorage<DiskStorage>
    private let root: Directory
    private let monitor: any Monitor
    private let record: Mutex<(value: StageRecord, isDirty: Bool)>
    /// Held while the record is saved: saves come one after the other.
    private let saving = Mutex(false)
    private let thread = WorkerThread()
    private let closing = Alarm()

    /// From a change to its save; at least ten times as long as the last save took.
    private static let interval = Duration.seconds(5)

    /// - Parameters:
    ///   - directory: the stage's own, `stage/TX`.
    ///   - root: the target's, opened before anything was staged.
    init(
        _ transaction: FileName, _ attributes: MirroredAttributes, in directory: Directory, root: Directory,
        monitor: any Monitor
    ) throws {
        storage = CodableStorage(DiskStorage(directory))
        (self.root, self.monitor) = (root, monitor)
        record = Mutex(
            (StageRecord(transaction: transaction.description, attributes: attributes.rawValue), false))
        try thread.start { [weak self, closing] in
            var pause = StageRecorder.interval
            while !closing.wait(pause) {
                guard let self else { return }
                pause = self.saveByItself()
            }
        }
    }

    deinit {
        closing.ring()
    }

    /// Notes a file that is staged whole.
    func note(_ file: StageRecord.StagedFile) {
        record.withLock { record in
            record.value.files.append(file)
            record.isDirty = true
        }
    }

    /// Saves what was noted, at once.
    func save() throws {
        try saving.withLock { isClosed in
            if !isClosed { try saveNow() }
        }
    }

    /// The stage is full: from here on nothing is written to it any more. A save that is under way ends first.
    func close() {
        closing.ring()
        saving.withLock { $0 = true }
    }

    /// - Returns: how long to wait for the next one.
    private func saveByItself() -> Duration {
        let start = ContinuousClock.now
        do {
            try save()
        } catch {
            monitor.warn("the stage's record could not be saved: \(error)")
        }
        return max(StageRecorder.interval, start.duration(to: .now) * 10)
    }

    private func saveNow() throws {
        let value = record.withLock { record -> StageRecord? in
            defer { record.isDirty = false }
            return record.isDirty ? record.value : nil
        }
        guard let value else { return }
        do {
            // A file enters the record only after a sync covered it: after a power cut one of the right size and time
            // can be all zeros.
            try root.syncFileSystem()
            try storage.store(value, for: StageRecord.fileName)
        } catch {
            record.withLock { $0.isDirty = true }
            throw error
        }
    }
}
