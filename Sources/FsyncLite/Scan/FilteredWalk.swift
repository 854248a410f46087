import FileStorage
import FileSystem

/// Asks the filters along a scan, with what the directories of the *source* say about their entries, whichever
/// tree is scanned.
struct FilteredWalk {
    private let filters: Filters
    private var scope: FilterScope
    private let source: PathResolver
    private let rootDevice: DeviceNumber

    /// nil where there are no filters.
    init?(_ filters: Filters, source: Directory) throws {
        guard !filters.isEmpty else { return nil }
        self.filters = filters
        self.source = PathResolver(source)
        rootDevice = try source.status().device
        scope = FilterScope(
            filters, root: try FilteredWalk.contents(of: .root, filters, self.source, rootDevice))
    }

    mutating func enter(_ path: RelativePath) throws {
        scope.enter(path, try FilteredWalk.contents(of: path, filters, source, rootDevice))
    }

    mutating func leave() {
        scope.leave()
    }

    func exclusion(of path: RelativePath, _ status: FileStatus) -> Exclusion {
        if scope.excludes(path, isDirectory: status.type == .directory) { return .byRule }
        return filters.sizes.exclusion(of: status.type, size: status.size) == nil ? .none : .bySize
    }

    // MARK: What a directory says

    /// Nothing where the source has no such directory.
    static func contents(
        of path: RelativePath, _ filters: Filters, _ source: PathResolver, _ rootDevice: DeviceNumber
    ) throws -> FilterDirectory {
        guard filters.ignoreFileName != nil || filters.excludesCaches || filters.staysOnFileSystem else {
            return FilterDirectory()
        }
        var contents = FilterDirectory()
        let directory: Directory
        do throws(SystemError) {
            directory = try source.directory(path)
        } catch {
            // One that cannot be read is a problem that the scan of the source lists.
            guard Errno.noDirectory.contains(error.errno) || error.errno == .accessDenied else { throw error }
            return contents
        }
        do throws(SystemError) {
            if filters.staysOnFileSystem {
                contents.isOtherFileSystem = try directory.status().device != rootDevice
            }
            if let name = filters.ignoreFileName {
                contents.ignoreFile = try read(name, in: directory, limit: FilterRules.sizeLimit)
            }
            if filters.excludesCaches {
                // The file is longer as a rule: its beginning tells.
                let tag = try read(CacheTag.fileName, in: directory, limit: nil)
                contents.isCache = tag.map(CacheTag.isValid) ?? false
            }
        } catch {
            guard Errno.noDirectory.contains(error.errno) else { throw error }
        }
        return contents
    }

    /// nil where there is no such regular file; a symlink is none.
    ///
    /// - Parameter limit: in bytes; without one only the first that a cache's tag may need are read.
    private static func read(
        _ name: FileName, in directory: Directory, limit: Int?
    ) throws(SystemError) -> [UInt8]? {
        guard try directory.status(of: name)?.type == .file else { return nil }
        let file = try directory.open(name, [.read, .noFollow, .nonBlocking])
        return try calling("read", directory.path(of: name)) { () throws(Errno) -> [UInt8] in
            guard try file.status().type == .file else { return [] }
            if let limit { return try file.readAll(limit: limit) }
            return try [UInt8](upTo: CacheTag.signature.count) { (buffer) throws(Errno) in
                try file.read(into: buffer)
            }
        }
    }
}

extension Filters {
    /// Decides about one path of a source, as a run would.
    ///
    /// - Parameter target: asked for the kind of what the source does not have.
    public func explain(_ path: RelativePath, source: [UInt8], target: [UInt8]) throws -> FilterDecision {
        let decide = try decisions(in: LocalFile(bytes: source).directory())
        var status: FileStatus?
        for tree in [source, target] where status == nil {
            guard try LocalFile(bytes: tree).exists else { continue }
            status = try PathResolver(LocalFile(bytes: tree).directory()).status(of: path)
        }
        return try decide(path, status?.type ?? .file, status?.size ?? 0)
    }

    /// Decides about a path, by type and size of an entry.
    typealias Decisions = (RelativePath, FileType, Int64) throws -> FilterDecision

    /// Decides about single paths, by what the directories of a source say, wherever an entry is.
    func decisions(in source: Directory) throws -> Decisions {
        let (resolver, device) = (PathResolver(source), try source.status().device)
        return { path, type, size in
            try explain(path, type: type, size: size) {
                try FilteredWalk.contents(of: $0, self, resolver, device)
            }
        }
    }
}
