import FileStorage
import FileSystem
import FoundationEssentials

/// `status --json` of another machine, which is checked like any document.
private struct StatusDocument: Decodable {
    struct Source: Decodable {
        var name: String?
        var path: String?
        var pathBase64: Data?

        var bytes: [UInt8] { pathBase64.map { Array($0) } ?? Array((path ?? "").utf8) }
    }

    struct Summary: Decodable {
        var files: Int
        var directories: Int
        var symlinks: Int
        var others: Int
        var bytes: ByteCount
    }

    struct FileSystem: Decodable {
        var name: String
        var commit: String
        var lacks: [String]
        var doesNotHold: [String]
        var nanosecondsBetweenTimes: Int64

        var capabilities: FileSystemCapabilities {
            var found = FileSystemCapabilities(name: singleLine(name))
            found.isComplete = commit == "complete"
            for path in FileSystemCapabilities.neededForCommits {
                var other = FileSystemCapabilities(name: "")
                other.isComplete = false
                other[keyPath: path] = false
                if Set(lacks).isSuperset(of: other.lacks) { found[keyPath: path] = false }
            }
            for bit in 0..<FileSystemCapabilities.Features.RawValue.bitWidth {
                let feature = FileSystemCapabilities.Features(rawValue: 1 << bit)
                if let word = feature.words.first, doesNotHold.contains(word) { found.stored.remove(feature) }
            }
            found.timeStep = max(nanosecondsBetweenTimes, 1)
            return found
        }
    }

    struct Applied: Decodable {
        var id: String
        var shortId: String
        var created: String
        var bytesHeld: ByteCount
    }

    var format: String
    var state: String?
    var elsewhere: Bool?
    var manifest: String?
    var created: String?
    var source: String?
    var sourceBase64: Data?
    var sources: [Source]?
    var summary: Summary?
    var runningPhase: String?
    var runningSince: String?
    var runningPhaseSince: String?
    var runningProcess: Int32?
    var runningEntries: Int?
    var runningEntriesTotal: Int?
    var runningBytes: ByteCount?
    var runningBytesTotal: ByteCount?
    var prepared: String?
    var preparedSince: String?
    var fileSystem: FileSystem?
    var lastRun: String?
    var lastRunEnded: String?
    var lastRunProblems: Int?
    var lastCheck: LastCheck?
    var history: [Applied]?
    var historyBytesHeld: ByteCount?
    /// Only for an error in place of a status.
    var code: String?
    var message: String?

    var allSources: [Source] {
        sources
            ?? (source != nil || sourceBase64 != nil ? [Source(path: source, pathBase64: sourceBase64)] : [])
    }
}

extension FileSystemCapabilities {
    /// The abilities for which `lacks` has a word.
    fileprivate static let neededForCommits: [WritableKeyPath<FileSystemCapabilities, Bool> & Sendable] = [
        \.exchangesNames, \.refusesToReplace, \.keepsInodes, \.syncsAsAWhole,
    ]
}

extension Target.Status {
    /// The maximum length of a document, in bytes.
    private static let limit = 64 << 20

    /// Reads another machine's status document of a target.
    ///
    /// - Throws: the error in the document; `unreachable` if it is no status.
    package init(document bytes: [UInt8], of endpoint: Endpoint, code: Int32) throws {
        func fault(_ text: String) -> SyncError { SyncError(.unreachable, path: endpoint.bytes, text) }
        guard !bytes.isEmpty else { throw fault("it reported no status, and ended with exit code \(code)") }
        guard bytes.count <= Target.Status.limit else { throw fault("its status is too long") }
        let document: StatusDocument
        do {
            document = try JSONDocument.decode(StatusDocument.self, from: Data(bytes))
        } catch {
            throw fault("its answer is not a status: \(error.message)")
        }
        if document.format == "fsync-lite-error", let message = document.message {
            throw SyncError(
                .init(received: document.code ?? ""), path: endpoint.bytes, singleLine(message))
        }
        func time(_ text: String?) throws -> Timestamp? {
            guard let text else { return nil }
            guard let time = Timestamp(iso8601: text) else {
                throw fault("its status has an invalid time")
            }
            return time
        }
        guard document.format == "fsync-lite-status", let state = document.state else {
            throw fault("its answer is not a status")
        }
        self.init(isPending: state == "pending", history: [])
        isElsewhere = document.elsewhere ?? false
        if let id = document.manifest, let created = try time(document.created), let totals = document.summary
        {
            var header = ManifestHeader(id: id, root: endpoint.bytes, created: created)
            header.sources = document.allSources.map {
                ManifestHeader.Source(name: $0.name, path: $0.bytes, identity: .unknown, fileSystem: "")
            }
            var summary = ManifestSummary()
            (summary.files, summary.directories) = (totals.files, totals.directories)
            (summary.symlinks, summary.others, summary.bytes) = (totals.symlinks, totals.others, totals.bytes)
            manifest = (header, summary)
        }
        if let began = try time(document.lastRun), let ended = try time(document.lastRunEnded) {
            lastRun = LastRun(began: began, ended: ended, problems: max(document.lastRunProblems ?? 0, 0))
        }
        if let id = document.prepared, let since = try time(document.preparedSince) {
            prepared = (singleLine(id), since)
        }
        fileSystem = document.fileSystem?.capabilities
        lastCheck = document.lastCheck
        if let name = document.runningPhase, let began = try time(document.runningSince) {
            guard let phase = SyncProgress.Phase(rawValue: name) else {
                throw fault("its run is in no phase")
            }
            var progress = SyncProgress(phase)
            progress.entries = document.runningEntries ?? 0
            progress.totalEntries = document.runningEntriesTotal
            (progress.bytes, progress.totalBytes) = (document.runningBytes ?? 0, document.runningBytesTotal)
            activity = Activity(
                began: began, phaseBegan: try time(document.runningPhaseSince) ?? began, progress,
                process: document.runningProcess ?? 0)
        }
        bytesStored = document.historyBytesHeld ?? 0
        history = (document.history ?? []).map {
            Target.Applied(id: $0.id, shortID: $0.shortId, created: $0.created, bytesStored: $0.bytesHeld)
        }
    }
}
