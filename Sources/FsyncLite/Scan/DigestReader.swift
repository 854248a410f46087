import FileSystem

/// Computes digests of a tree's files. Paths in the order of a scan need one open per file.
final class DigestReader {
    private let tree: PathResolver
    private var announced: AnnouncedFiles
    private let monitor: any Monitor
    private let bypassesCache: Bool
    private let probes: SettlingProbes?
    private let mostHoles: Int64

    /// `isSettled` was found during the reading; false without probes.
    typealias Found = (digest: Digest, status: FileStatus, isSettled: Bool)

    /// - Parameters:
    ///   - tree: resolves the paths.
    ///   - bypassesCache: drops the cached pages of each file first.
    ///   - probes: find out which files are settled.
    ///   - mostHoles: a file with more bytes of holes is the error `overflow`.
    init(
        _ tree: PathResolver, monitor: any Monitor, bypassesCache: Bool = false,
        probes: SettlingProbes? = nil, mostHoles: Int64 = .max
    ) {
        (self.probes, self.mostHoles) = (probes, mostHoles)
        self.tree = tree
        announced = AnnouncedFiles(tree)
        self.monitor = monitor
        self.bypassesCache = bypassesCache
    }

    /// Opens files ahead and announces them to the kernel. Then ask for their digests, in this order.
    func announce(_ paths: some Sequence<RelativePath>) {
        announced.announce(paths) { file in if bypassesCache { try? file.descriptor.dropCache() } }
    }

    /// The digest of a file, and its status, which was the same before and after reading. It is nil if there is no such
    /// file, or if the file was still changing at the third attempt.
    ///
    /// - Throws: `SystemError` if it cannot be read, `SyncError` with code `interrupted`.
    func digest(of path: RelativePath) throws -> Found? { try digest(of: path, as: .plain) }

    func digest(of path: RelativePath, as form: ContentHash.Form) throws -> Found? {
        do throws(SystemError) {
            // If a file was replaced or changed after its announcement, it is opened once more.
            if let file = announced.take(path),
                let found = try digest(of: file.descriptor, path, form, attempts: 1), found.status.links > 0
            {
                return found
            }
            guard let (directory, name) = try tree.location(of: path),
                try directory.status(of: name)?.type == .file
            else { return nil }
            let file = try directory.open(name, [.read, .noFollow, .nonBlocking])
            if bypassesCache {
                try calling("posix_fadvise", directory.path(of: name)) { () throws(Errno) in
                    try file.dropCache()
                }
            }
            return try digest(of: file, path, form, attempts: 3)
        } catch {
            try monitor.checkCancellation()
            guard Errno.noDirectory.contains(error.errno) else { throw error }
            return nil
        }
    }

    func status(of path: RelativePath) throws -> FileStatus? { try tree.status(of: path) }

    private func digest(
        of file: borrowing FileDescriptor, _ path: RelativePath, _ form: ContentHash.Form, attempts: Int
    ) throws(SystemError) -> Found? {
        try calling("read", path.bytes) { () throws(Errno) -> Found? in
            for _ in 1...attempts {
                let seen = try file.status()
                guard seen.type == .file else { return nil }
                let probe = try probes?.probe(path, seen, file)
                let before = probe?.status ?? seen
                if form == .plain { monitor.note(holesOf: before, upTo: mostHoles) }
                let value = try file.digest(as: form, mostHoles: mostHoles) { monitor.isCancelled }
                let after = try file.status()
                if after.isUnchanged(since: before) {
                    return (Digest(value), after, probe?.settles(after) ?? false)
                }
            }
            return nil
        }
    }
}
