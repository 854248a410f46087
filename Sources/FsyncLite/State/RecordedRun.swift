import FileStorage
import FileSystem

/// One run of an apply, as the machine that ran it remembers it, however the run ended.
public struct RecordedRun: Hashable, Sendable {
    /// How a run ended.
    public struct Outcome: Hashable, Sendable {
        public var exitCode: Int32
        /// Why it did not mirror everything, by its name in JSON documents, such as `empty_source`; nil for no reason.
        public var reason: String?
        /// The same in words, with names of files; nil for no reason.
        public var message: String?
        /// Actions that were carried out.
        public var changes = 0
        /// Bytes of content that were copied.
        public var copied: ByteCount = 0

        public init(exitCode: Int32, reason: String? = nil, message: String? = nil) {
            (self.exitCode, self.reason, self.message) = (exitCode, reason, message)
        }
    }

    let id: String
    /// Before its first scan.
    public let began: Timestamp
    /// nil where it goes on, or did not end.
    public internal(set) var ended: Timestamp?
    public internal(set) var outcome: Outcome?
    /// nil once it has ended.
    var process: ProcessIdentity?

    /// The target was mirrored as far as possible.
    public var isGood: Bool { [0, 3].contains(outcome?.exitCode) }
    /// Some of it could not be mirrored, or a command after it failed.
    public var isIncomplete: Bool { outcome?.exitCode == 3 }

    /// It ended, and not so.
    public var isBad: Bool { !isGood && (outcome != nil || isCutOff) }

    /// It did not end, and its process is gone: it was killed, or the machine lost its power.
    public var isCutOff: Bool {
        guard outcome == nil, let process, let own = try? ProcessIdentity.own() else { return outcome == nil }
        // Who cannot tell takes it for one that goes on.
        return (try? process.isOver(seenBy: own)) ?? false
    }
}

extension [RecordedRun] {
    public var lastGood: RecordedRun? { last(where: \.isGood) }

    /// The last run, if it was not good and does not go on.
    public var failed: RecordedRun? { last.flatMap { $0.isBad ? $0 : nil } }
}
