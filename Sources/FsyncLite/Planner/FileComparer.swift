import FileSystem

/// Compares the contents of pairs of files, on one thread.
final class FileComparer: FileWorker {
    private let source: any SourceReader
    private let target: PathResolver
    private var announcedTarget: AnnouncedFiles
    private let monitor: any Monitor
    private let check: RacyCheck?
    private var problems: [Problem] = []
    /// The source's content differs from the recorded digest.
    private var isSourceOther = false

    init(
        _ source: any ContentSource, _ target: Directory, _ probes: SettlingProbes?, _ monitor: any Monitor
    ) {
        check = probes?.check
        self.source = source.reader(monitor, probes)
        self.target = PathResolver(target)
        announcedTarget = AnnouncedFiles(self.target)
        self.monitor = monitor
    }

    func announce(_ items: [(index: Int, match: Match)]) {
        source.announce(
            contents: items.filter { FileComparer.sidesToRead($0.match).source }
                .map { ($0.match.source.path, FileComparer.form($0.match)) })
        announcedTarget.announce(
            items.lazy.filter { FileComparer.sidesToRead($0.match).target }.map(\.match.target.path))
    }

    func value(of item: (index: Int, match: Match)) throws -> Difference.Answer {
        try monitor.checkCancellation()
        (isSourceOther, problems) = (false, [])
        let (isSame, isSettled) = try compare(item.match)
        var answer = Difference.Answer(index: item.index, isSame: isSame)
        (answer.isSourceOther, answer.isSettled) = (isSourceOther, isSettled)
        (answer.bytes, answer.problems) = (item.match.source.size, problems)
        return answer
    }

    /// A plain digest is needed only for a comparison with a recorded one.
    private static func form(_ match: Match) -> ContentHash.Form {
        match.base?.digest != nil && match.isDigestComparable ? .plain : .sparse
    }

    /// A side that still has the base's digest is not read. If both have it, the source is read.
    private static func sidesToRead(_ match: Match) -> (source: Bool, target: Bool) {
        guard match.base?.digest != nil, match.isDigestComparable else { return (true, true) }
        return (!match.sourceHasBaseDigest || match.targetHasBaseDigest, !match.targetHasBaseDigest)
    }

    /// Compares two files. Finds whether the source's file is settled and unchanged since the scan.
    private func compare(_ match: Match) throws -> (isSame: Bool, isSettled: Bool) {
        guard let source = try openSource(match.source.path, FileComparer.form(match)) else {
            return (true, false)
        }
        guard let target = try openTarget(match.target.path) else { return (false, false) }
        let isSame = try areEqual(match, source, target)
        guard isSame, problems.isEmpty, FileComparer.sidesToRead(match).source,
            let settled = try source.settledStatus()
        else { return (isSame, false) }
        // The scan read the extended attributes after it began, so the settled status must be older than the scan.
        return (
            true,
            settled.isUnchanged(since: match.source.status) && check?.isBeforeScan(settled) ?? false
        )
    }

    private func areEqual(
        _ match: Match, _ source: any SourceContent, _ target: AnnouncedFile
    ) throws -> Bool {
        do throws(FileComparison.Failure) {
            // See `sidesToRead`. The recorded digest remains if the source's size and modification time did not change.
            let reads = FileComparer.sidesToRead(match)
            if let digest = match.base?.digest, match.isDigestComparable {
                if reads.source {
                    isSourceOther =
                        try FileComparison.on(.first) { () throws(Errno) in
                            try source.digest { monitor.isCancelled }
                        } != digest
                    guard !isSourceOther else { return false }
                }
                if reads.target {
                    return try FileComparison.on(.second) { () throws(Errno) in
                        Digest(try target.descriptor.digest { monitor.isCancelled })
                    } == digest
                }
                return true
            }
            return try source.isSame(as: target.descriptor) { monitor.isCancelled }
        } catch {
            try monitor.checkCancellation()
            guard error.side == .first else { return false }
            problems.append(.unreadable(match.source.path, error.errno))
            return true
        }
    }

    /// nil if it cannot be opened.
    private func openSource(
        _ path: RelativePath, _ form: ContentHash.Form
    ) throws -> (any SourceContent)? {
        do {
            return try source.content(of: path, form)
        } catch let error as SystemError {
            if [.notDirectory, .tooManyLinks, .noSuchDevice].contains(error.errno) {
                problems.append(.retyped(path))
            } else if error.errno != .noSuchFile {
                problems.append(.unreadable(path, error.errno))
            }
            return nil
        }
    }

    /// nil if it cannot be read; then it is replaced.
    private func openTarget(_ path: RelativePath) throws -> AnnouncedFile? {
        if let file = announcedTarget.take(path) { return file }
        do throws(SystemError) {
            return try target.open(path)
        } catch {
            guard error.errno == .accessDenied else { throw error }
            return nil
        }
    }
}
