import FileSystem

/// Computes digests of a tree's files. Paths in scan order cost one open per file.
final class DigestReader {
    private let tree: PathResolver
    private let monitor: any Monitor
    private let bypassesCache: Bool

    /// - Parameter bypassesCache: drops the cached pages of each file first.
    init(_ root: Directory, monitor: any Monitor, bypassesCache: Bool = false) {
        tree = PathResolver(root)
        self.monitor = monitor
        self.bypassesCache = bypassesCache
    }

    /// The same; a file that cannot be read is a problem in the list.
    func digest(
        of path: RelativePath, problems: inout [Problem]
    ) throws -> (digest: Digest, status: FileStatus)? {
        do {
            if let found = try digest(of: path) { return found }
            problems.append(Problem(path: path, code: .changing, message: "it changed while it was read"))
        } catch let error as SystemError {
            problems.append(Problem(path: path, code: .unreadable, message: error.errno.description))
        }
        return nil
    }

    /// The digest of a file, and its status, which was the same before and after reading; nil if there is no such file,
    /// or if it was still changing after three attempts.
    ///
    /// - Throws: `SystemError` if it cannot be read, `SyncError` with code `interrupted`.
    func digest(of path: RelativePath) throws -> (digest: Digest, status: FileStatus)? {
        do throws(SystemError) {
            guard let (directory, name) = try tree.location(of: path),
                try directory.status(of: name)?.type == .file
            else { return nil }
            let file = try directory.open(name, [.read, .noFollow, .nonBlocking])
            return try calling("read", directory.path(of: name)) {
                () throws(Errno) -> (Digest, FileStatus)? in
                if bypassesCache { try file.dropCache() }
                for _ in 1...3 {
                    let before = try file.status()
                    guard before.type == .file else { return nil }
                    let value = try file.digest { monitor.isCancelled }
                    let after = try file.status()
                    if after.isUnchanged(since: before) { return (Digest(value), after) }
                }
                return nil
            }
        } catch {
            try monitor.checkCancellation()
            guard Errno.noDirectory.contains(error.errno) else { throw error }
            return nil
        }
    }
}
