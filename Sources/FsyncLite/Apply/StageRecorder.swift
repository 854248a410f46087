import FileSystem
import Synchronization

/// Keeps the record of a stage while it is filled. The stage fills on a thread that may block; the buffer is
/// an actor that saves from time to time.
final class StageRecorder: Sendable {
    private let buffer: AutosavingBuffer<StageRecord, DiskStorage>
    /// Noted and not yet in the buffer, and when it was last emptied.
    private let pending = Mutex<(files: [StageRecord.StagedFile], drained: ContinuousClock.Instant)>(
        ([], .now))

    /// Long enough that short runs never save.
    private static let interval = Duration.seconds(5)
    /// A task for each file would cost more than the file.
    private static let pause = Duration.milliseconds(500)

    /// - Parameters:
    ///   - directory: the stage's own, `stage/TX`.
    ///   - root: the target's, opened before anything was staged.
    init(
        _ transaction: FileName, _ attributes: MirroredAttributes, in directory: Directory, root: Directory,
        monitor: any Monitor
    ) throws {
        buffer = AutosavingBuffer(
            DiskStorage(directory), key: StageRecord.fileName, interval: StageRecorder.interval,
            // A file enters the record only after a sync covered it: after a power cut one of the right size
            // and time can be all zeros.
            beforeSave: { () throws(StorageError) in
                do throws(SystemError) {
                    try root.syncFileSystem()
                } catch {
                    throw .cannotWrite(StageRecord.fileName, cause: SyncError(error))
                }
            },
            onFailure: { monitor.warn("the stage's record could not be saved: \($0)") })
        let (buffer, record) = (
            buffer, StageRecord(transaction: transaction.description, attributes: attributes.rawValue)
        )
        _ = try Blocking.wait { try await buffer.load(orBeginWith: record) }
    }

    /// Notes a file that is staged whole.
    func note(_ file: StageRecord.StagedFile) {
        let isDue = pending.withLock { pending in
            pending.files.append(file)
            guard ContinuousClock.now - pending.drained >= StageRecorder.pause else { return false }
            pending.drained = .now
            return true
        }
        if isDue { Task { try await drain() } }
    }

    /// Saves what was noted, at once.
    func save() throws {
        try Blocking.wait { [self] in
            try await drain()
            try await buffer.save()
        }
    }

    /// The stage is full: from here on nothing is written to it any more.
    func close() throws {
        let buffer = buffer
        try Blocking.wait { await buffer.close() }
    }

    private func drain() async throws {
        let files = pending.withLock { pending in
            defer { pending.files = [] }
            return pending.files
        }
        if !files.isEmpty { try await buffer.change { $0.files += files } }
    }
}
