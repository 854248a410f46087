import FileStorage
import FileSystem
import FoundationEssentials

/// What a run that writes to a target is doing: the document `activity` of the target's state, which is there while it
/// stages and commits, and about a second old.
public struct Activity: Hashable, Sendable {
    /// When the run's scan began.
    public let began: Timestamp
    public private(set) var progress: SyncProgress
    /// When the present phase began.
    public private(set) var phaseBegan: Timestamp
    /// The process that runs, and the boot of its machine: after a crash the number may be another process's.
    public let process: Int32
    let boot: String

    init(began: Timestamp) throws {
        (self.began, progress, phaseBegan) = (began, SyncProgress(.staging), .now)
        (process, boot) = (HostProcess.id, try KernelClock.boot())
    }

    mutating func update(_ progress: SyncProgress) {
        if progress.phase != self.progress.phase { phaseBegan = .now }
        self.progress = progress
    }

    /// Bytes of content in a second since the phase began; nil where nothing can be said yet.
    public func bytesPerSecond(now: Timestamp = .now) -> Int64? {
        let (start, end) = (phaseBegan, now)
        let seconds = Double(end.seconds - start.seconds) + Double(end.nanoseconds - start.nanoseconds) / 1e9
        guard seconds > 0.5, progress.bytes > 0 else { return nil }
        return Int64(Double(progress.bytes) / seconds)
    }
}

extension Activity: Codable {
    private struct Document: Codable {
        var version = 1
        /// ISO 8601.
        var began: String
        var phase: String
        var phaseBegan: String
        var entries: Int
        var totalEntries: Int?
        var bytes: Int64
        var totalBytes: Int64?
        var process: Int32
        var boot: String
    }

    public init(from decoder: any Decoder) throws {
        let document = try Document(from: decoder)
        guard document.version == 1, let began = Timestamp(iso8601: document.began),
            let phase = SyncProgress.Phase(rawValue: document.phase),
            let phaseBegan = Timestamp(iso8601: document.phaseBegan)
        else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "This tells of no activity."))
        }
        (self.began, self.phaseBegan) = (began, phaseBegan)
        (process, boot) = (document.process, document.boot)
        progress = SyncProgress(phase)
        (progress.entries, progress.totalEntries) = (document.entries, document.totalEntries)
        (progress.bytes, progress.totalBytes) = (document.bytes, document.totalBytes)
    }

    public func encode(to encoder: any Encoder) throws {
        try Document(
            began: began.description, phase: progress.phase.rawValue, phaseBegan: phaseBegan.description,
            entries: progress.entries, totalEntries: progress.totalEntries, bytes: progress.bytes,
            totalBytes: progress.totalBytes, process: process, boot: boot
        ).encode(to: encoder)
    }
}

extension TargetRoot {
    /// In bytes: far more than it needs.
    private static let activityLimit = 1 << 16

    /// What the run is doing that holds the lock; nil where none does, or it has not told yet. A run that was killed
    /// leaves its document.
    func activity() throws -> Activity? {
        guard let data = try state?.read(.activity, limit: TargetRoot.activityLimit),
            // A power cut may damage what is not synced: that is of a run that is over.
            let activity = try? JSONDocument.decode(Activity.self, from: Data(data)),
            try activity.boot == KernelClock.boot(), try isLocked(by: activity.process)
        else { return nil }
        return activity
    }
}
