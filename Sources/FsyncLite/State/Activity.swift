import FileStorage
import FileSystem
import FoundationEssentials

/// The present activity of a run that writes to a target: the document `activity` of the state. It exists while the run
/// stages and commits, and is updated about once a second.
public struct Activity: Hashable, Sendable {
    /// The start of the run's scan.
    public let began: Timestamp
    public private(set) var progress: SyncProgress
    /// The start of the present phase.
    public private(set) var phaseBegan: Timestamp
    /// The process ID, and the boot ID of its machine. After a crash, another process may have the number.
    public let process: Int32
    let boot: String

    init(began: Timestamp) throws {
        (self.began, progress, phaseBegan) = (began, SyncProgress(.staging), .now)
        (process, boot) = (HostProcess.id, try KernelClock.boot())
    }

    /// The activity of a run on another machine.
    init(began: Timestamp, phaseBegan: Timestamp, _ progress: SyncProgress, process: Int32) {
        (self.began, self.phaseBegan, self.progress) = (began, phaseBegan, progress)
        (self.process, boot) = (process, "")
    }

    mutating func update(_ progress: SyncProgress) {
        if progress.phase != self.progress.phase { phaseBegan = .now }
        self.progress = progress
    }

    /// The bytes of content per second in this phase; nil while that is unknown.
    public func bytesPerSecond(now: Timestamp = .now) -> ByteCount? {
        let seconds = Double(now.fileTime.milliseconds(since: phaseBegan.fileTime)) / 1000
        guard seconds > 0.5, progress.bytes > 0 else { return nil }
        return progress.bytes.per(seconds)
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
        var bytes: ByteCount
        var totalBytes: ByteCount?
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
                .init(codingPath: decoder.codingPath, debugDescription: "This is not an activity."))
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
    /// In bytes. The document is far smaller.
    private static let activityLimit = 1 << 16

    /// The activity of the run that has the lock. It is nil if there is no such run, or if it has not written the
    /// document yet. A killed run leaves its document.
    func activity() throws -> Activity? {
        guard let data = try state?.read(.activity, limit: TargetRoot.activityLimit),
            // The document is not synced. After a power cut it may be damaged, but its run has ended.
            let activity = try? JSONDocument.decode(Activity.self, from: Data(data)),
            try activity.boot == KernelClock.boot(), try isLocked(by: activity.process)
        else { return nil }
        return activity
    }
}
