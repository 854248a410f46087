import FileStorage
import FileSystem
import FoundationEssentials

/// The result of the last run that examined the source and updated the target as far as possible. It is the document
/// `last-run` of the state. A failed or refused run leaves it unchanged.
public struct LastRun: Hashable, Sendable {
    /// The start of its scan.
    public let began: Timestamp
    public let ended: Timestamp
    /// The number of problems that it listed.
    public let problems: Int

    /// Whether everything was mirrored.
    public var isComplete: Bool { problems == 0 }
    /// Its exit code.
    public var result: Int { isComplete ? 0 : 3 }
}

extension LastRun: Codable {
    private struct Document: Codable {
        var version = 1
        /// ISO 8601.
        var began: String
        var ended: String
        var result: Int
        var problems: Int
    }

    public init(from decoder: any Decoder) throws {
        let document = try Document(from: decoder)
        guard document.version == 1, let began = Timestamp(iso8601: document.began),
            let ended = Timestamp(iso8601: document.ended), document.problems >= 0,
            document.result == (document.problems == 0 ? 0 : 3)
        else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "This is not a result of a run."))
        }
        self.init(began: began, ended: ended, problems: document.problems)
    }

    public func encode(to encoder: any Encoder) throws {
        try Document(
            began: began.description, ended: ended.description, result: result, problems: problems
        ).encode(to: encoder)
    }
}

extension StateDirectory {
    /// The result of the last run; nil before the first.
    ///
    /// - Throws: `SyncError` with code `invalidDocument` for a damaged document.
    package func lastRun() throws -> LastRun? {
        guard let file = try status(of: .lastRun), file.type != .file || file.size > 0 else {
            // The format of earlier versions: an empty file. Its modification time is the start of the scan, and its
            // change time is the end of the run.
            return try [StateEntry.lastRun, .trustingRun].compactMap { try status(of: $0) }
                .max { $0.modified < $1.modified }
                .map { LastRun(began: Timestamp($0.modified), ended: Timestamp($0.changed), problems: 0) }
        }
        return try document(.lastRun)
    }

    /// Records the end of a run. After a power cut the document may be empty. Then the file's times are used.
    func markRun(scanned: Timestamp, problems: Int) throws {
        let run = LastRun(began: scanned, ended: .now, problems: problems)
        try documents.store(run, for: StateEntry.lastRun.rawValue)
        try remove(.trustingRun)
    }
}
