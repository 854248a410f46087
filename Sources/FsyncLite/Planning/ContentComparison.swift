import FileSystem

/// Decides whether a source and a target file have the same content where the metadata does not.
final class ContentComparison {
    private let source: PathResolver
    private let target: PathResolver
    private let monitor: any Monitor
    /// The key of a match in the comparison log; nil where it must be read in any case.
    private let key: (Match) -> Digest?
    /// What earlier runs found equal, and this one does.
    private let log: ComparisonLog
    private var progress = SyncProgress(.comparing)
    /// Source files that could not be read.
    private(set) var problems: [Problem] = []

    init(
        source: Directory, target: Directory, log: ComparisonLog, key: @escaping (Match) -> Digest?,
        monitor: any Monitor
    ) {
        self.source = PathResolver(source)
        self.target = PathResolver(target)
        (self.log, self.key, self.monitor) = (log, key, monitor)
    }

    /// True also where the source's file cannot be opened: what is not known to differ stays, and the problem is
    /// listed. False where the target's cannot be read: it is replaced.
    func haveSameContent(_ match: Match) throws -> Bool {
        try monitor.checkCancellation()
        defer {
            progress.entries += 1
            progress.bytes &+= match.source.size
            monitor.report(progress)
        }
        guard let key = key(match) else { return try areEqual(match) }
        if log.contains(key) { return true }
        let before = problems.count
        guard try areEqual(match) else { return false }
        if problems.count == before { log.note(key) }
        return true
    }

    private func areEqual(_ match: Match) throws -> Bool {
        guard let source = try openSource(match.source.path) else { return true }
        guard let target = try openTarget(match.target.path) else { return false }
        do throws(FileComparison.Failure) {
            // A side for which the base's digest still stands is not read. The digest stays recorded where the source
            // has not changed since, by size and modification time.
            if let digest = match.base?.digest, match.isDigestComparable {
                if !match.sourceStands || match.targetStands {
                    guard try self.digest(of: source, .first) == digest else { return false }
                }
                if !match.targetStands { return try self.digest(of: target, .second) == digest }
                return true
            }
            return try FileComparison.haveSameContent(source, target) { monitor.isCancelled }
        } catch {
            try monitor.checkCancellation()
            guard error.side == .first else { return false }
            problems.append(
                Problem(path: match.source.path, code: .unreadable, message: error.errno.description))
            return true
        }
    }

    /// The source's file is not as recorded although identity, size and modification time are: it has rotted, or was
    /// edited and its time put back.
    func hasRotted(_ match: Match) throws -> Bool {
        let status = match.source.status
        guard let base = match.base, let digest = base.digest, base.status.identity == status.identity,
            base.status.size == status.size, base.status.modified == status.modified,
            let file = try openSource(match.source.path)
        else { return false }
        do throws(FileComparison.Failure) {
            return try self.digest(of: file, .first) != digest
        } catch {
            try monitor.checkCancellation()
            problems.append(
                Problem(path: match.source.path, code: .unreadable, message: error.errno.description))
            return false
        }
    }

    private func digest(
        of file: borrowing FileDescriptor, _ side: FileComparison.Failure.Side
    ) throws(FileComparison.Failure) -> Digest {
        do throws(Errno) {
            return Digest(try file.digest { monitor.isCancelled })
        } catch {
            throw FileComparison.Failure(side: side, errno: error)
        }
    }

    /// nil where it cannot be opened.
    private func openSource(_ path: RelativePath) throws -> FileDescriptor? {
        do throws(SystemError) {
            return try open(path, in: source)
        } catch {
            if error.errno != .noSuchFile {
                problems.append(Problem(path: path, code: .unreadable, message: error.errno.description))
            }
            return nil
        }
    }

    /// nil where it cannot be read; then it is replaced.
    private func openTarget(_ path: RelativePath) throws -> FileDescriptor? {
        do throws(SystemError) {
            return try open(path, in: target)
        } catch {
            guard error.errno == .accessDenied else { throw error }
            return nil
        }
    }

    private func open(_ path: RelativePath, in tree: PathResolver) throws(SystemError) -> FileDescriptor {
        guard let (directory, name) = try tree.location(of: path) else {
            throw SystemError("openat", path.bytes, .isDirectory)
        }
        return try directory.open(name, [.read, .noFollow, .nonBlocking])
    }
}
