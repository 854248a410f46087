/// How far a run has got.
public struct Progress: Hashable, Sendable {
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

/// Is told how far a run has got: after each entry, so an answer must be quick.
public protocol Monitor: Sendable {
    func report(_ progress: Progress)
}

/// Listens to nothing.
public struct SilentMonitor: Monitor {
    public init() {}
    public func report(_ progress: Progress) {}
}
