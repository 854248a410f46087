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
    var lastRun: String?
    var lastRunEnded: String?
    var lastRunProblems: Int?
    var lastCheck: LastCheck?
    var history: [Applied]?
    var historyBytesHeld: ByteCount?
    /// Of an error in place of a status.
    var code: String?
    var message: String?

    var allSources: [Source] {
        sources
            ?? (source != nil || sourceBase64 != nil ? [Source(path: source, pathBase64: sourceBase64)] : [])
    }
}

extension Target.Status {
    /// The longest document.
    private static let limit = 64 << 20

    /// Reads what another machine says of a target. What it says of its file system is left out.
    ///
    /// - Throws: the error that it tells of; `unreachable` for what is no status.
    package init(document bytes: [UInt8], of endpoint: Endpoint, code: Int32) throws {
        func fault(_ text: String) -> SyncError { SyncError(.unreachable, path: endpoint.bytes, text) }
        guard !bytes.isEmpty else { throw fault("it told no status, and ended with exit code \(code)") }
        guard bytes.count <= Target.Status.limit else { throw fault("its status is too long") }
        let document: StatusDocument
        do {
            document = try JSONDocument.decode(StatusDocument.self, from: Data(bytes))
        } catch {
            throw fault("what comes from there is no status: \(error.message)")
        }
        if document.format == "fsync-lite-error", let message = document.message {
            let known: [SyncError.Code] = [.inputMissing, .pending, .refused, .invalidDocument, .usage]
            throw SyncError(
                known.first { $0.rawValue == document.code } ?? .failed, path: endpoint.bytes,
                singleLine(message))
        }
        func time(_ text: String?) throws -> Timestamp? {
            guard let text else { return nil }
            guard let time = Timestamp(iso8601: text) else {
                throw fault("its status has a time that is none")
            }
            return time
        }
        guard document.format == "fsync-lite-status", let state = document.state else {
            throw fault("what comes from there is no status")
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
        lastCheck = document.lastCheck
        if let name = document.runningPhase, let began = try time(document.runningSince) {
            guard let phase = SyncProgress.Phase(rawValue: name) else {
                throw fault("its run is in no phase")
            }
            activity = Activity(began: began, SyncProgress(phase))
        }
        bytesHeld = document.historyBytesHeld ?? 0
        history = (document.history ?? []).map {
            Target.Applied(id: $0.id, shortID: $0.shortId, created: $0.created, bytesHeld: $0.bytesHeld)
        }
    }
}
