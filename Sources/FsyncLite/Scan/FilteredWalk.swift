import FileStorage
import FileSystem

/// Applies the filters during a scan of any tree, with the ignore files and cache tags of the *source*.
struct FilteredWalk: Sendable {
    private let filters: Filters
    private let source: Directory
    private let devices: RootDevices

    /// nil if there are no filters.
    init?(_ filters: Filters, source: Directory) throws {
        guard !filters.isEmpty else { return nil }
        self.filters = filters
        self.source = source
        devices = try RootDevices(source)
    }

    /// Finds the directories of the source; for one thread.
    func resolver() -> PathResolver { PathResolver(source) }

    /// The rules for the entries of a directory.
    ///
    /// - Parameter outer: those for the directory itself; nil for the root.
    func scope(
        of path: RelativePath, below outer: FilterScope?, _ resolver: PathResolver
    ) throws -> FilterScope {
        let contents = try FilteredWalk.contents(of: path, filters, resolver, devices)
        guard var scope = outer else { return FilterScope(filters, root: contents) }
        scope.enter(path, contents)
        return scope
    }

    func exclusion(of path: RelativePath, _ status: FileStatus, in scope: FilterScope) -> Exclusion {
        if scope.excludes(path, isDirectory: status.type == .directory) { return .byRule }
        return filters.sizes.exclusion(of: status.type, size: status.size) == nil ? .none : .bySize
    }

    // MARK: What a directory says

    /// Empty if the source has no such directory.
    static func contents(
        of path: RelativePath, _ filters: Filters, _ source: PathResolver, _ devices: RootDevices
    ) throws -> FilterDirectory {
        guard filters.ignoreFileName != nil || filters.excludesCaches || filters.staysOnFileSystem else {
            return FilterDirectory()
        }
        var contents = FilterDirectory()
        let directory: Directory
        do throws(SystemError) {
            directory = try source.directory(path)
        } catch {
            // If the source's directory cannot be read, the scan of the source reports it.
            guard Errno.noDirectory.contains(error.errno) || error.errno == .accessDenied else { throw error }
            return contents
        }
        do throws(SystemError) {
            if filters.staysOnFileSystem {
                contents.isOtherFileSystem = try directory.status().device != devices[path]
            }
            if let name = filters.ignoreFileName {
                contents.ignoreFile = try read(name, in: directory, limit: FilterRules.sizeLimit)
            }
            if filters.excludesCaches {
                // Usually the file is longer; its beginning is enough.
                let tag = try read(CacheTag.fileName, in: directory, limit: nil)
                contents.isCache = tag.map(CacheTag.isValid) ?? false
            }
        } catch {
            guard Errno.noDirectory.contains(error.errno) else { throw error }
        }
        return contents
    }

    /// nil if there is no such regular file; a symlink does not count.
    ///
    /// - Parameter limit: in bytes; nil reads only the first bytes, which a cache tag needs.
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

/// The file systems of a source's root, or of each of several.
struct RootDevices: Sendable {
    private let root: DeviceNumber
    private let parts: [ArraySlice<UInt8>: DeviceNumber]

    init(_ source: Directory) throws(SystemError) {
        root = try source.status().device
        var parts: [ArraySlice<UInt8>: DeviceNumber] = [:]
        for (name, directory) in source.parts { parts[name.bytes] = try directory.status().device }
        self.parts = parts
    }

    /// The file system of the root that a path is below.
    subscript(path: RelativePath) -> DeviceNumber {
        parts.isEmpty ? root : parts[path.firstComponent] ?? root
    }
}

extension Filters {
    /// The decision for one path of a source, as in a run.
    ///
    /// - Parameter target: gives the type if the source has no such entry.
    public func explain(
        _ path: RelativePath, source: MirrorSource, target: [UInt8]
    ) throws -> FilterDecision {
        let source = try source.open()
        let decide = try decisions(in: source)
        var status = try PathResolver(source).status(of: path)
        if status == nil, try LocalFile(bytes: target).exists {
            status = try PathResolver(LocalFile(bytes: target).directory()).status(of: path)
        }
        return try decide(path, status?.type ?? .file, status?.size ?? 0)
    }

    /// The decision for a path, by type and size of an entry.
    typealias Decisions = (RelativePath, FileType, Int64) throws -> FilterDecision

    /// Decisions for single paths, by the directories of a source.
    func decisions(in source: Directory) throws -> Decisions {
        let (resolver, devices) = (PathResolver(source), try RootDevices(source))
        return { path, type, size in
            try explain(path, type: type, size: size) {
                try FilteredWalk.contents(of: $0, self, resolver, devices)
            }
        }
    }
}
