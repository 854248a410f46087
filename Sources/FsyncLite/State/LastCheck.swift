import FileStorage
import FileSystem

/// The result of the last check of a target: the document `last-check` of the state.
///
/// Without it, `status` shows less, and a check of the next part begins with the first part.
public struct LastCheck: Codable, Hashable, Sendable {
    /// ISO 8601.
    private let ended: String
    /// The part of the files that was read, from 1, and the number of parts.
    public var part = 1
    public var parts = 1
    public var filesRead = 0
    public var filesWithoutDigest = 0
    /// The number in all parts, each from its last check.
    public private(set) var rotten = 0
    /// Other differences between the tree and its manifest.
    public var otherDifferences = 0
    /// The same for snapshots.
    public private(set) var damagedSnapshots = 0
    /// nil if there are no findings, and in documents of earlier versions.
    public private(set) var findings: [Finding]?
    /// The part that `--part auto` reads next, and the number of parts; nil before the first such check.
    public var nextPart: Int?
    public var autoParts: Int?

    /// The findings of one part of the files. They are valid until the part is read again.
    public struct Finding: Codable, Hashable, Sendable {
        public let part: Int
        public let parts: Int
        public let rotten: Int
        /// The ids of the snapshots.
        public let damaged: [String]
    }

    public init(ended: Timestamp) { self.ended = ended.description }

    /// nil if the text is not a time.
    public var time: Timestamp? { Timestamp(iso8601: ended) }

    /// Whether content has rotted, in the tree or in the history.
    public var isBad: Bool { rotten > 0 || damagedSnapshots > 0 }

    /// Adds the findings of this part, and earlier findings in parts that were not read now.
    public mutating func find(rotten: Int, damaged: [String], after last: LastCheck?) {
        var all = last?.findings?.filter { !covers($0) } ?? []
        if rotten > 0 || !damaged.isEmpty {
            all.append(Finding(part: part, parts: parts, rotten: rotten, damaged: damaged))
        }
        findings = all.isEmpty ? nil : all
        self.rotten = all.reduce(0) { $0.saturatingAdd($1.rotten) }
        damagedSnapshots = Set(all.flatMap(\.damaged)).count
    }

    /// Whether all files of that part are in this one, by the rule of `Verification.Part`.
    private func covers(_ other: Finding) -> Bool {
        other.parts % parts == 0 && other.part % parts == part % parts
    }

    /// The next part, if there are this many parts.
    public func next(of count: Int) -> Int {
        guard autoParts == count, let nextPart, (1...count).contains(nextPart) else { return 1 }
        return nextPart
    }

    /// For people: `all files read, 0 rotten`.
    public var text: String {
        let unread = Amount.of(filesWithoutDigest, "file has", "files have")
        let read =
            parts > 1
            ? "\(LastCheck.text(part, parts)) read"
            : filesWithoutDigest == 0 ? "all files read" : Amount.of(filesRead, "file") + " read"
        let faults = [
            "\(rotten) rotten",
            otherDifferences > 0 ? Amount.of(otherDifferences, "other difference") : nil,
            damagedSnapshots > 0 ? Amount.of(damagedSnapshots, "damaged snapshot") : nil,
            filesWithoutDigest > 0 ? "\(unread) no digest" : nil,
        ]
        let places = findings?.map { LastCheck.text($0.part, $0.parts) } ?? []
        let isHere = places.allSatisfy { $0 == LastCheck.text(part, parts) }
        return ([read] + faults.compactMap(\.self)).joined(separator: ", ")
            + (isHere ? "" : "; found in \(places.joined(separator: ", "))")
    }

    private static func text(_ part: Int, _ parts: Int) -> String {
        parts > 1 ? "part \(part) of \(parts)" : "all files"
    }
}

extension StateDirectory {
    /// The last check. nil also for a damaged document, which the next check replaces.
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
