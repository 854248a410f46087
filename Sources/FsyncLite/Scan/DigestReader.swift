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
    ///   - bypassesCache: drops the cached pages of each file first.
    ///   - probes: find out which files are settled.
    ///   - mostHoles: a file with more bytes of holes is the error `overflow`.
    convenience init(
        _ root: Directory, monitor: any Monitor, bypassesCache: Bool = false, probes: SettlingProbes? = nil,
        mostHoles: Int64 = .max
    ) {
        self.init(
            PathResolver(root), monitor: monitor, bypassesCache: bypassesCache, probes: probes,
            mostHoles: mostHoles)
    }

    /// - Parameter tree: resolves the paths.
    init(
        _ tree: PathResolver, monitor: any Monitor, bypassesCache: Bool = false,
        probes: SettlingProbes? = nil,
        mostHoles: Int64 = .max
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

    /// The same. A file that cannot be read becomes a problem in the list.
    func digest(
        of path: RelativePath, problems: inout [Problem]
    ) throws -> Found? {
        do {
            if let found = try digest(of: path) { return found }
            problems.append(Problem(path: path, code: .changing, message: "it changed while it was read"))
        } catch let error as SystemError {
            problems.append(Problem(path: path, code: .unreadable, message: error.errno.description))
        }
        return nil
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
        do throws(Errno) {
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
        } catch {
            throw SystemError("read", path.bytes, error)
        }
    }
}

/// Adds the digests of files to their entries.
struct EntryDigests: FileWorker {
    private let reader: DigestReader

    init(_ root: Directory, monitor: any Monitor) {
        reader = DigestReader(root, monitor: monitor)
    }

    func announce(_ files: [File]) {
        reader.announce(files.lazy.filter(EntryDigests.lacksDigest).map(\.path))
    }

    /// - Returns: the entry, with the status of the file while it was read, and the reasons why it could not be read.
    func value(of file: File) throws -> (file: File, problems: [Problem]) {
        guard EntryDigests.lacksDigest(file) else { return (file, []) }
        var problems: [Problem] = []
        guard let found = try reader.digest(of: file.path, problems: &problems) else {
            return (file, problems)
        }
        var file = file.with(found.status)
        file.digest = found.digest
        return (file, [])
    }

    private static func lacksDigest(_ file: File) -> Bool { file.isFile && file.digest == nil }
}

/// Computes the digests of files that already have one, to compare the two. The present paths of the files may differ
/// from those of their entries.
struct LocatedDigests: FileWorker {
    let reader: any DigestSource

    func announce(_ files: [(file: File, location: RelativePath)]) {
        reader.announce(files.map(\.location))
    }

    /// - Returns: the digest; nil if there is no such file, or if it was still changing at the third attempt.
    func value(
        of item: (file: File, location: RelativePath)
    ) throws -> (file: File, digest: Result<Digest?, SystemError>) {
        do {
            return (item.file, .success(try reader.digest(of: item.location)?.digest))
        } catch let error as SystemError {
            return (item.file, .failure(error))
        }
    }
}
