import FileSystem
import Synchronization

/// The files that a content comparison has found equal, so that the next run can continue after an interruption.
///
/// A file of the state with a line per match: the SHA-256 of everything that would differ for other contents. A line
/// that is torn, or was lost in a power cut, matches nothing and costs one comparison. Files that changed too shortly
/// before the scan are not noted, since a later change may have the same change time.
final class ComparisonLog {
    private let file: KeyFile
    private let writes: Bool
    private let interval: Duration
    private var known: Set<Digest> = []
    /// The lines of the present comparison, from its first match on.
    private var lines: LineLog<[Digest]>?

    /// - Parameters:
    ///   - writes: whether to note matches, or only to read earlier ones.
    ///   - interval: between two writes. A shorter comparison leaves no file unless it is interrupted.
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

    /// The target, with the state if it was created for this file.
    var root: TargetRoot { file.content.withLock(\.root) }

    /// Why matches are no longer noted. The next run then compares again.
    var failure: (any Error)? { file.content.withLock(\.failure) }

    /// Whether an earlier run has found this pair equal.
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

    /// Ends a complete comparison: appends the remaining lines.
    func finish() {
        if file.content.withLock(\.isWritten) { flush() } else { close() }
    }

    /// Ends an interrupted comparison.
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

    /// State shared by the writing thread and the comparison.
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
    /// Everything that distinguishes one comparison of these two files from another.
    func comparisonKey(of sources: [ManifestHeader.Source]) -> Digest {
        let top = self.source.path.firstComponent
        let source = sources.first { $0.name.map { $0.utf8.elementsEqual(top) } ?? true }
        func text(_ status: FileStatus) -> String {
            func text(_ t: FileTime?) -> String { t.map { "\($0.rawSeconds).\($0.nanoseconds)" } ?? "-" }
            return "\(status.inode) \(status.size) \(text(status.created)) \(text(status.modified)) "
                + text(status.changed)
        }
        var hash = SHA256()
        for part in [
            source?.fileSystem ?? "", "\(source?.identity.inode ?? 0)", text(self.source.status),
            text(target.status),
            isDigestComparable ? base?.digest?.description ?? "-" : "-",
        ] {
            hash.update(Array("\(part)\n".utf8))
        }
        return Digest(hash.finish())
    }
}
