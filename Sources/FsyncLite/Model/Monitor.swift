import FileStorage
import FileSystem

/// The progress of a run.
public struct SyncProgress: Hashable, Sendable {
    public enum Phase: String, Sendable {
        case scanning, comparing, staging, syncing, committing
        /// Holes are hashed as zeros for a digest.
        case hashing = "hashing holes"
    }

    public var phase: Phase
    /// The entries done so far, and their total if it is known.
    public var entries = 0
    public var totalEntries: Int?
    /// The bytes of content done so far, and their total if it is known.
    public var bytes: ByteCount = 0
    public var totalBytes: ByteCount?
    /// Whether this is the first report of `committing`. The commit begins next.
    package var beginsCommit = false

    public init(_ phase: Phase) {
        self.phase = phase
    }
}

/// Receives the progress of a run after each entry, and can cancel the run. Calls must return quickly.
public protocol Monitor: Sendable {
    func report(_ progress: SyncProgress)
    /// Whether to stop the run. Before its commit it stops at once. A commit that has begun is finished first.
    var isCancelled: Bool { get }
    /// Reports an error that does not stop the run.
    func warn(_ message: String)
}

extension Monitor {
    public var isCancelled: Bool { false }
    public func warn(_ message: String) {}

    /// Reports that the digest of a file takes long although little of the file is read.
    func note(holesOf status: FileStatus, upTo mostHoles: Int64) {
        let holes = status.size - status.allocated
        if holes > 1_073_741_824, holes.rawCount <= mostHoles { report(SyncProgress(.hashing)) }
    }

    /// - Throws: `SyncError` with code `interrupted` if the run was cancelled.
    func checkCancellation() throws {
        if isCancelled { throw SyncError(.interrupted, "interrupted; the target is unchanged") }
    }
}

/// Ignores all calls.
public struct SilentMonitor: Monitor {
    public init() {}
    public func report(_ progress: SyncProgress) {}
}
