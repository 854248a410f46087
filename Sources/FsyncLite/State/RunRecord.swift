import FileStorage
import FileSystem
import FoundationEssentials

/// The last runs on one target. They are beside the record of known targets, because the target may be missing.
/// Everybody may read the document `attempts/NAME.json`, which has no names of files. The messages are in
/// `attempts/NAME.private.json`.
///
/// A damaged or missing document is treated as empty. The next run begins it anew.
public struct RunRecord: Sendable {
    /// The most runs in a record. The last good one is added if it is older.
    public static let most = 100
    /// The most targets with a record. Those of the latest runs remain.
    private static let mostTargets = 256
    /// In bytes. A document has about 200 for each run, and its messages have at most `longestMessage`.
    private static let sizeLimit = 1 << 20
    private static let longestMessage = 500
    private static let folder = "attempts"
    private static let ending = ".json"
    private static let privateEnding = ".private.json"

    private let directory: LocalFile
    private let target: [UInt8]

    /// - Parameters:
    ///   - target: the path of a target on this machine, or the name of one on another machine.
    ///   - isFar: whether it is on another machine.
    ///   - known: the place of the record.
    public init(on target: [UInt8], isFar: Bool, beside known: KnownTargets) {
        directory = known.directory + RunRecord.folder
        self.target = isFar ? target : RunRecord.place(target)
    }

    /// The path without symlinks, as far as it exists.
    private static func place(_ path: [UInt8]) -> [UInt8] {
        if let there = try? Directory.open(path: path).presentPath() { return there }
        guard let (holder, names) = try? TargetRoot.place(path), let above = try? holder.presentPath() else {
            return (try? LocalFile(bytes: path).absolute()) ?? path
        }
        return names.reduce(LocalFile(bytes: above)) { $0 + $1.bytes }.bytes
    }

    /// The name is a hash, because the path is private.
    private var name: String {
        var hash = SHA256()
        hash.update(target)
        return String("\(Digest(hash.finish()))".suffix(32))
    }

    private var shown: FileName { RunRecord.file(name + RunRecord.ending) }
    private var hidden: FileName { RunRecord.file(name + RunRecord.privateEnding) }

    /// - Parameter name: the digits of a hash with a suffix, or the name of an existing file.
    private static func file(_ name: String) -> FileName { FileName(Array(name.utf8)) ?? FileName("none") }

    // MARK: Reading

    /// The runs in the order in which they ended, the newest last. A run without an end is where it began. They have the
    /// messages that this user may read.
    public func all() -> [RecordedRun] {
        guard let holder = try? Directory.open(path: directory.bytes) else { return [] }
        return RunRecord.runs(reading: { try read(in: holder) })?.runs ?? []
    }

    /// - Parameter read: reads the document, a second time if a run without an end is over, because it may have written
    ///   its end since.
    private static func runs(
        reading read: () throws -> Document?
    ) -> (document: Document, runs: [RecordedRun])? {
        guard let first = try? read() else { return nil }
        let over = Set(first.runs.compactMap(\.run).filter(\.isOver).map(\.id))
        guard let document = over.isEmpty ? first : try? read() else { return nil }
        var runs = document.runs.compactMap(\.run)
        for index in runs.indices where runs[index].outcome == nil {
            runs[index].isCutOff = over.contains(runs[index].id)
        }
        return (document, runs)
    }

    /// The runs of every job that has any, with the job's name.
    public static func ofJobs(beside known: KnownTargets) -> [(job: String, runs: [RecordedRun])] {
        guard let holder = try? Directory.open(path: (known.directory + folder).bytes),
            let names = try? DirectoryListing.names(in: holder)
        else { return [] }
        return names.compactMap { name -> (job: String, runs: [RecordedRun])? in
            guard let (document, runs) = runs(reading: { try document(name, in: holder) }),
                let job = document.job
            else { return nil }
            return (job, runs)
        }
        .sorted { $0.job < $1.job }
    }

    private static func document<Value: Decodable>(
        _ name: FileName, in holder: Directory
    ) throws(SyncError) -> Value? {
        try CodableStorage.documentIfWhole(name, in: holder, limit: sizeLimit)
    }

    private func read(in holder: Directory) throws(SyncError) -> Document {
        var document: Document = try RunRecord.document(shown, in: holder) ?? Document(runs: [])
        var messages: Messages?
        do throws(SyncError) {
            messages = try RunRecord.document(hidden, in: holder)
        } catch {
            // Other users may not read the messages.
            guard error.errno == Errno.accessDenied.rawValue else { throw error }
        }
        for index in document.runs.indices {
            document.runs[index].message = messages?.messages[document.runs[index].id]
        }
        return document
    }

    // MARK: Writing

    /// Notes a run, durably, before its first scan.
    ///
    /// - Parameter job: the name of the job; nil for a run without a job.
    /// - Returns: the value for `end`.
    public func begin(job: String?) throws -> RecordedRun {
        let run = RecordedRun(
            id: RandomID.hexadecimal(bytes: 8), began: .now, process: try ProcessIdentity.own())
        try change { document in
            // A run by hand is on the same target.
            if let job { document.job = job }
            document.runs.append(Row(run))
        }
        return run
    }

    /// Notes how a run ended, durably.
    public func end(_ run: RecordedRun, _ outcome: RecordedRun.Outcome) throws {
        var ended = run
        (ended.ended, ended.outcome, ended.process) = (.now, outcome, nil)
        ended.outcome?.message = outcome.message.map { String($0.prefix(RunRecord.longestMessage)) }
        try change { document in
            // Behind the runs that the lock refused meanwhile.
            document.runs.removeAll { $0.id == run.id }
            document.runs.append(Row(ended))
        }
    }

    private func change(_ body: (inout Document) -> Void) throws {
        let holder = try RecordDirectory.make(directory)
        try RecordDirectory.locked(holder) {
            var document = try read(in: holder)
            let messages = Messages(of: document)
            body(&document)
            let newest = document.runs.suffix(RunRecord.most)
            let good = document.runs.last { $0.run?.isGood ?? false }
            document.runs = (good.map { newest.contains($0) ? [] : [$0] } ?? []) + newest
            // Messages are written first, so that no run lacks its message. Most runs have none.
            let present = Messages(of: document)
            if present != messages { try write(present, to: hidden, in: holder) }
            try write(document, to: shown, in: holder)
            // The umask may have removed the bits of others.
            try ObjectHandle(shown, in: holder).setPermissions(0o644)
            try RunRecord.removeOldest(in: holder)
        }
    }

    private func write(_ document: some Encodable, to name: FileName, in holder: Directory) throws {
        var file = try PendingFile(name, in: holder)
        try file.write(Array(JSONDocument.encode(document)))
        try file.commit(durably: true)
    }

    private static func removeOldest(in holder: Directory) throws {
        let names = try DirectoryListing.names(in: holder).map(\.description)
            .filter { $0.hasSuffix(ending) && !$0.hasSuffix(privateEnding) }
        guard names.count > mostTargets else { return }
        let dated = try names.compactMap { name in
            try holder.status(of: file(name)).map { ($0.modified, name) }
        }
        for (_, name) in dated.sorted(by: { $0.0 < $1.0 }).prefix(names.count - mostTargets) {
            let other = name.dropLast(ending.count) + privateEnding
            for file in [name, String(other)].map(file) where try holder.status(of: file) != nil {
                try holder.unlink(file)
            }
        }
    }
}

// MARK: The documents

private struct Document: Codable {
    var version = 1
    var job: String?
    var runs: [Row]
}

private struct Row: Codable, Equatable {
    var id: String
    /// ISO 8601.
    var began: String
    var ended: String?
    var exitCode: Int32?
    var reason: String?
    var changes: Int?
    var copied: ByteCount?
    var process: ProcessIdentity?
    /// Stored in the other document.
    var message: String?

    private enum CodingKeys: String, CodingKey {
        case id, began, ended, exitCode, reason, changes, copied, process
    }

    init(_ run: RecordedRun) {
        (id, began, ended) = (run.id, run.began.description, run.ended?.description)
        let outcome = run.outcome
        (exitCode, reason, message) = (outcome?.exitCode, outcome?.reason, outcome?.message)
        (changes, copied, process) = (outcome?.changes, outcome?.copied, run.process)
    }

    /// nil if it is damaged.
    var run: RecordedRun? {
        guard let began = Timestamp(iso8601: began) else { return nil }
        var run = RecordedRun(id: id, began: began, process: process)
        run.ended = ended.flatMap { Timestamp(iso8601: $0) }
        run.outcome = exitCode.map { code in
            var outcome = RecordedRun.Outcome(exitCode: code, reason: reason, message: message)
            (outcome.changes, outcome.copied) = (changes ?? 0, copied ?? 0)
            return outcome
        }
        return run
    }
}

private struct Messages: Codable, Equatable {
    var version = 1
    /// The messages by the ids of the runs.
    var messages: [String: String]

    init(of document: Document) {
        messages = document.runs.reduce(into: [:]) { $0[$1.id] = $1.message }
    }
}
