import FileStorage

/// How far a run has got.
public struct SyncProgress: Hashable, Sendable {
    public enum Phase: String, Sendable {
        case scanning, comparing, staging, syncing, committing
    }

    public var phase: Phase
    /// Entries done, and of how many where that is known.
    public var entries = 0
    public var totalEntries: Int?
    /// Bytes of content done, and of how many where that is known.
    public var bytes: Int64 = 0
    public var totalBytes: Int64?

    public init(_ phase: Phase) {
        self.phase = phase
    }
}

/// Is told how far a run has got, after each entry, and says whether it shall go on; so answers must be quick.
public protocol Monitor: Sendable {
    func report(_ progress: SyncProgress)
    /// The run shall stop. It does so at once before its commit; a commit that has begun is finished first.
    var isCancelled: Bool { get }
    /// Something went wrong that the run can do without.
    func warn(_ message: String)
}

extension Monitor {
    public var isCancelled: Bool { false }
    public func warn(_ message: String) {}

    /// - Throws: `SyncError` with code `interrupted` when the run shall stop.
    func checkCancellation() throws {
        if isCancelled { throw SyncError(.interrupted, "interrupted; the target is unchanged") }
    }
}

/// Listens to nothing.
public struct SilentMonitor: Monitor {
    public init() {}
    public func report(_ progress: SyncProgress) {}
}
