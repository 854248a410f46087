import FileStorage
import FileSystem

/// The result of the last check of a target: the document `last-check` of the state.
///
/// Without it, `status` says less, and a check of the next part begins with the first.
public struct LastCheck: Codable, Hashable, Sendable {
    /// ISO 8601.
    private let ended: String
    /// The part of the files that was read, from 1, and the number of parts.
    public var part = 1
    public var parts = 1
    public var filesRead = 0
    public var filesWithoutDigest = 0
    public var rotten = 0
    /// Other differences between the tree and its manifest.
    public var otherDifferences = 0
    public var damagedSnapshots = 0
    /// The part that `--part auto` reads next, and of how many; nil where it was not given yet.
    public var nextPart: Int?
    public var autoParts: Int?

    public init(ended: Timestamp) { self.ended = ended.description }

    /// nil for a time that is none.
    public var time: Timestamp? { Timestamp(iso8601: ended) }

    /// The part that is next if there are so many.
    public func next(of count: Int) -> Int {
        guard autoParts == count, let nextPart, (1...count).contains(nextPart) else { return 1 }
        return nextPart
    }

    /// For people: `all files read, 0 rotten`.
    public var text: String {
        let unread = Amount.of(filesWithoutDigest, "file has", "files have")
        let read =
            parts > 1
            ? "part \(part) of \(parts) read"
            : filesWithoutDigest == 0 ? "all files read" : Amount.of(filesRead, "file") + " read"
        let faults = [
            "\(rotten) rotten",
            otherDifferences > 0 ? Amount.of(otherDifferences, "other difference") : nil,
            damagedSnapshots > 0 ? Amount.of(damagedSnapshots, "damaged snapshot") : nil,
            filesWithoutDigest > 0 ? "\(unread) no digest" : nil,
        ]
        return ([read] + faults.compactMap(\.self)).joined(separator: ", ")
    }
}

extension StateDirectory {
    /// nil also for a damaged document: the next check replaces it.
    func lastCheck() throws -> LastCheck? {
        guard try has(.lastCheck) else { return nil }
        do throws(SyncError) {
            let check: LastCheck = try document(.lastCheck)
            return check
        } catch {
            guard error.code == .invalidDocument else { throw error }
            return nil
        }
    }
}
