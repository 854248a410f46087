import FileSystem

/// Which files a comparison of contents has found equal, so that a run that is cut short is no lost work: the next one
/// takes it over.
///
/// A file of the state with a line for each match: the SHA-256 of everything that tells another content. A line that is
/// torn, or was not written back before a power cut, fits no match and costs one comparison. What changed too shortly
/// before the scan is not noted, as a later change may not show.
final class ComparisonLog {
    private(set) var root: TargetRoot
    private let writes: Bool
    private let interval: Duration
    private var known: Set<Digest> = []
    private var pending: [UInt8] = []
    private var flushed = ContinuousClock.now
    private var hasWritten = false
    /// Why nothing is noted any more. That costs the next run a comparison, and no more.
    private(set) var failure: (any Error)?

    /// - Parameters:
    ///   - writes: what is compared is noted; without it only read.
    ///   - interval: between two writes. A comparison that takes less leaves no file, if it is not interrupted.
    init(_ root: TargetRoot, writes: Bool, interval: Duration = .seconds(5)) throws {
        (self.root, self.writes, self.interval) = (root, writes, interval)
        guard let state = root.state, let descriptor = try state.open(.compared) else {
            return
        }
        let path = state.path(of: .compared)
        let text = try calling("read", path) { () throws(Errno) in try descriptor.readAll() }
        known = Set(
            text.split(separator: UInt8(ascii: "\n")).compactMap { $0.withUnsafeBufferPointer(Digest.init) })
    }

    /// Whether an earlier run has found these equal.
    func contains(_ key: Digest) -> Bool { known.contains(key) }

    func note(_ key: Digest) {
        guard writes, failure == nil else { return }
        key.append(to: &pending)
        pending.append(UInt8(ascii: "\n"))
        if ContinuousClock.now - flushed >= interval { flush() }
    }

    /// The comparison is over: what is not written yet joins what is.
    func finish() {
        if hasWritten { flush() }
    }

    func flush() {
        guard !pending.isEmpty, failure == nil else { return }
        do {
            let state = try root.makeState()
            let file = try state.open(.compared, [.write, .append, .create])
            try calling("write", state.path(of: .compared)) { () throws(Errno) in try file.write(pending) }
            hasWritten = true
        } catch {
            failure = error
        }
        pending.removeAll(keepingCapacity: true)
        flushed = .now
    }
}

extension Match {
    /// Everything that tells one comparison of these two files from another.
    func comparisonKey(of source: ManifestHeader.Source) -> Digest {
        func text(_ status: FileStatus) -> String {
            func text(_ time: FileTime?) -> String { time.map { "\($0.seconds).\($0.nanoseconds)" } ?? "-" }
            return "\(status.inode) \(status.size) \(text(status.created)) \(text(status.modified)) "
                + text(status.changed)
        }
        var hash = SHA256()
        for part in [
            source.fileSystem, "\(source.identity.inode)", text(self.source.status), text(target.status),
            isDigestComparable ? record?.digest?.description ?? "-" : "-",
        ] {
            hash.update(Array("\(part)\n".utf8))
        }
        return Digest(hash.finish())
    }
}
