import FileSystem
import Synchronization

/// Which files a comparison of contents has found equal, so that a run that is cut short is no lost work: the next one
/// takes it over.
///
/// A file of the state with a line for each match: the SHA-256 of everything that tells another content. A line that is
/// torn, or was not written back before a power cut, fits no match and costs one comparison. What changed too shortly
/// before the scan is not noted, as a later change may not show.
final class ComparisonLog {
    private let file: KeyFile
    private let writes: Bool
    private let interval: Duration
    private var known: Set<Digest> = []
    /// Of the present comparison, from its first match on.
    private var lines: LineLog<Digest>?

    /// - Parameters:
    ///   - writes: what is compared is noted; without it only read.
    ///   - interval: between two writes. A comparison that takes less leaves no file, if it is not interrupted.
    init(_ root: TargetRoot, writes: Bool, interval: Duration = .seconds(5)) throws {
        (file, self.writes, self.interval) = (KeyFile(root), writes, interval)
        guard let state = root.state, let descriptor = try state.open(.compared) else { return }
        do throws(Errno) {
            try descriptor.readLines { line in
                if let key = line.withUnsafeBufferPointer(Digest.init) { known.insert(key) }
                return true
            }
        } catch {
            throw SystemError("read", state.path(of: .compared), error)
        }
    }

    /// The target, with the state that was made for the file.
    var root: TargetRoot { file.content.withLock(\.root) }

    /// Why nothing is noted any more. That costs the next run a comparison, and no more.
    var failure: (any Error)? { file.content.withLock(\.failure) }

    /// Whether an earlier run has found these equal.
    func contains(_ key: Digest) -> Bool { known.contains(key) }

    func note(_ key: Digest) {
        guard writes, failure == nil else { return }
        let lines =
            lines
            ?? LineLog(interval: interval, onFailure: { [file] in file.fail($0) }) { [file] in
                try file.append($0)
            }
        self.lines = lines
        lines.add(key)
    }

    /// The comparison is over: what is not written yet joins what is.
    func finish() {
        if file.content.withLock(\.isWritten) { flush() } else { close() }
    }

    /// The comparison is cut short.
    func flush() {
        do {
            try lines?.flush()
        } catch {
            file.fail(error)
        }
        close()
    }

    private func close() {
        lines?.close()
        lines = nil
    }

    /// What the thread that writes shares with the comparison.
    private final class KeyFile: Sendable {
        struct Content {
            var root: TargetRoot
            var isWritten = false
            var failure: (any Error)?
        }

        let content: Mutex<Content>

        init(_ root: TargetRoot) {
            content = Mutex(Content(root: root))
        }

        func append(_ keys: [Digest]) throws {
            try content.withLock { content in
                let state = try content.root.makeState()
                var text: [UInt8] = []
                for key in keys {
                    key.append(to: &text)
                    text.append(UInt8(ascii: "\n"))
                }
                let file = try state.open(.compared, [.write, .append, .create])
                try calling("write", state.path(of: .compared)) { () throws(Errno) in try file.write(text) }
                content.isWritten = true
            }
        }

        func fail(_ error: any Error) { content.withLock { $0.failure = error } }
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
            isDigestComparable ? base?.digest?.description ?? "-" : "-",
        ] {
            hash.update(Array("\(part)\n".utf8))
        }
        return Digest(hash.finish())
    }
}
