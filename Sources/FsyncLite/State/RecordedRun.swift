import FileStorage
import FileSystem

/// One run, in the record of the machine that ran it, however the run ended.
public struct RecordedRun: Hashable, Sendable {
    /// The end of a run.
    public struct Outcome: Hashable, Sendable {
        public var exitCode: Int32
        /// The reason why it did not mirror everything, by its name in JSON documents (`empty_source`); nil if none.
        public var reason: String?
        /// The reason in words, with names of files; nil if there is none.
        public var message: String?
        /// The number of actions that were carried out.
        public var changes = 0
        /// The bytes of content that were copied.
        public var copied: ByteCount = 0

        public init(exitCode: Int32, reason: String? = nil, message: String? = nil) {
            (self.exitCode, self.reason, self.message) = (exitCode, reason, message)
        }
    }

    let id: String
    /// The time before its first scan.
    public let began: Timestamp
    /// nil if it is still running, or did not end.
    public internal(set) var ended: Timestamp?
    public internal(set) var outcome: Outcome?
    /// nil after its end.
    var process: ProcessIdentity?
    /// Whether its process ended without its end in the record: it was killed, or the machine lost its power.
    public internal(set) var isCutOff = false

    /// Whether the target was mirrored as far as possible.
    public var isGood: Bool { [0, 3].contains(outcome?.exitCode) }
    /// Whether a part of it could not be mirrored, or a command after it failed.
    public var isIncomplete: Bool { outcome?.exitCode == 3 }

    /// Whether it ended and was not good.
    public var isBad: Bool { !isGood && (outcome != nil || isCutOff) }

    public var isRunning: Bool { outcome == nil && !isCutOff }

    /// Whether it has no end here, and its process is over.
    var isOver: Bool {
        guard outcome == nil, let process, let own = try? ProcessIdentity.own() else { return outcome == nil }
        // If this is unknown, the run is treated as running.
        return (try? process.isOver(seenBy: own)) ?? false
    }
}

extension [RecordedRun] {
    public var lastGood: RecordedRun? { last(where: \.isGood) }

    /// The last run, if it was not good. While a run is going on, none counts as failed: the lock may have refused it.
    public var failed: RecordedRun? {
        contains(where: \.isRunning) ? nil : last.flatMap { $0.isBad ? $0 : nil }
    }
}
