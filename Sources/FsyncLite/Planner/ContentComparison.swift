import FileSystem

/// Decides if files of source and target have equal content, if the metadata cannot show it; several at a time.
final class ContentComparison {
    private let pipeline: FilePipeline<FileComparer>
    private let source: any ContentSource
    private let threads: Int
    private let monitor: any Monitor
    private var progress = SyncProgress(.comparing)
    /// Source files that could not be read.
    private(set) var problems: [Problem] = []

    init(
        source: any ContentSource, target: Directory, threads: Int, probes: SettlingProbes?,
        monitor: any Monitor
    ) {
        (self.source, self.threads, self.monitor) = (source, threads, monitor)
        pipeline = FilePipeline(threads: threads, filesPerItem: source.resolver() == nil ? 1 : 2) {
            FileComparer(source, target, probes, monitor)
        }
    }

    /// Ends all threads.
    func close() { pipeline.close() }

    /// Begins to compare a match. Returns the answers that are ready, in order; for nil, all remaining ones.
    ///
    /// If the source's file cannot be opened, the answer is true: the target's file is left unchanged, and the problem
    /// is listed. If the target's file cannot be read, the answer is false, and the file is replaced.
    func compare(_ request: (index: Int, match: Match)?) throws -> [Difference.Answer] {
        var answers: [Difference.Answer] = []
        func take(_ answer: Difference.Answer) {
            progress.entries += 1
            progress.bytes += answer.bytes
            monitor.report(progress)
            problems += answer.problems
            answers.append(answer)
        }
        try monitor.checkCancellation()
        if let request {
            try pipeline.add(request, bytes: request.match.source.size) { take($0) }
        } else {
            try pipeline.finish { take($0) }
        }
        return answers
    }

    /// The source files to be copied whose content changed although identity, size and modification time did not. They
    /// are damaged, or were edited and their times restored. Called after the last comparison.
    ///
    /// - Parameter inCopies: the source may be a copy of the recorded one.
    func rotten(among matches: some Sequence<Match>, inCopies: Bool) throws -> [RelativePath] {
        let (source, monitor) = (source, monitor)
        let digests = FilePipeline(threads: threads, filesPerItem: source.resolver() == nil ? 0 : 1) {
            FileDigests(reader: source.digests(monitor))
        }
        defer { digests.close() }
        var rotten: [RelativePath] = []
        func take(_ answer: FileDigests.Answer) {
            let path = answer.file.path
            switch answer.found {
            case .success(let found?)?: if found.digest != answer.file.digest { rotten.append(path) }
            // Its copy finds a file that is gone or that changes.
            case .success(nil)?, nil: break
            case .failure(let error)?:
                problems.append(.unreadable(path, error.errno))
            }
        }
        for match in matches where match.replacesContent {
            var file = match.source
            guard let base = match.base, base.digest != nil,
                base.status.equals(file.status, in: inCopies ? .content : [.content, .identity])
            else { continue }
            file.digest = base.digest
            try digests.add((file, file.path), bytes: file.size) { take($0) }
        }
        try digests.finish { take($0) }
        return rotten
    }
}
