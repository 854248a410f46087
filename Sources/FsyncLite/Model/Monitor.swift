import FileStorage
import FileSystem

/// The progress of a run.
public struct SyncProgress: Hashable, Sendable {
    public enum Phase: String, Sendable {
        case scanning, comparing, staging, syncing, committing
        /// For a digest, holes are hashed as zeros.
        case hashing = "hashing holes"
    }

    public var phase: Phase
    /// Entries done, and their total if known.
    public var entries = 0
    public var totalEntries: Int?
    /// Bytes of content done, and their total if known.
    public var bytes: ByteCount = 0
    public var totalBytes: ByteCount?
    /// The first report of `committing`: the commit begins next.
    package var beginsCommit = false

    public init(_ phase: Phase) {
        self.phase = phase
    }
}

/// Receives the progress of a run after each entry, and can cancel the run. Calls must return quickly.
public protocol Monitor: Sendable {
    func report(_ progress: SyncProgress)
    /// Whether to stop the run. It stops at once before its commit; a commit that has begun is finished first.
    var isCancelled: Bool { get }
    /// Reports an error that does not stop the run.
    func warn(_ message: String)
}

extension Monitor {
    public var isCancelled: Bool { false }
    public func warn(_ message: String) {}

    /// Says that the digest of a file takes long although little of it is read.
    func note(holesOf status: FileStatus, upTo mostHoles: Int64) {
        let holes = status.size - status.allocated
        if holes > 1_073_741_824, holes.rawCount <= mostHoles { report(SyncProgress(.hashing)) }
    }

    /// - Throws: `SyncError` with code `interrupted` if the run is cancelled.
    func checkCancellation() throws {
        if isCancelled { throw SyncError(.interrupted, "interrupted; the target is unchanged") }
    }
}

/// Ignores all calls.
public struct SilentMonitor: Monitor {
    public init() {}
    public func report(_ progress: SyncProgress) {}
}
