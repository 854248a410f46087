import FileSystem

/// Reads files of a tree for their digests. Paths that come in the order of a scan cost one open per file.
final class DigestReader {
    private let tree: PathResolver
    private let monitor: any Monitor
    private let bypassesCache: Bool

    /// - Parameter bypassesCache: what the system has cached of a file is dropped first.
    init(_ root: Directory, monitor: any Monitor, bypassesCache: Bool = false) {
        tree = PathResolver(root)
        self.monitor = monitor
        self.bypassesCache = bypassesCache
    }

    /// The same, with a problem to list for what is not to be had.
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

    /// What a file holds, and its status, which was the same before and after; nil where there is no such file, or
    /// it was still changing after three tries.
    ///
    /// - Throws: `SystemError` for one that cannot be read, `SyncError` with code `interrupted`.
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
