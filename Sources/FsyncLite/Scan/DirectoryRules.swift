import FileSystem

/// The data of a source's directories for the filters: ignore files, cache tags and file systems.
struct DirectoryRules: Sendable {
    fileprivate enum Origin {
        case directory(Directory, RootDevices)
        /// Only the directories that have such data.
        case said([RelativePath: FilterDirectory])
    }

    private let origin: Origin

    /// The data is read from a directory on demand.
    init(of source: Directory) throws(SystemError) {
        origin = .directory(source, try RootDevices(source))
    }

    init(said: [RelativePath: FilterDirectory]) {
        origin = .said(said)
    }

    /// The file system of the source's root above a path, if the source is on this machine.
    func device(at path: RelativePath) -> DeviceNumber? {
        guard case .directory(_, let devices) = origin else { return nil }
        return devices[path]
    }

    /// A reader for one thread. Paths in the order of a scan need one open per directory.
    func reader(for filters: Filters) -> Reader { Reader(filters, origin) }

    final class Reader {
        private let filters: Filters
        private let source: (resolver: PathResolver, devices: RootDevices)?
        private let said: [RelativePath: FilterDirectory]

        fileprivate init(_ filters: Filters, _ origin: Origin) {
            self.filters = filters
            switch origin {
            case .directory(let root, let devices):
                (source, said) = ((PathResolver(root), devices), [:])
            case .said(let said): (source, self.said) = (nil, said)
            }
        }

        /// The data of a directory; empty if the source has no such directory.
        func contents(of path: RelativePath) throws -> FilterDirectory {
            guard filters.readDirectories else { return FilterDirectory() }
            guard let source else { return said[path] ?? FilterDirectory() }
            return try DirectoryRules.contents(of: path, filters, source.resolver, source.devices)
        }
    }

    private static func contents(
        of path: RelativePath, _ filters: Filters, _ source: PathResolver, _ devices: RootDevices
    ) throws -> FilterDirectory {
        var contents = FilterDirectory()
        let directory: Directory
        do throws(SystemError) {
            directory = try source.directory(path)
        } catch {
            // If the source's directory cannot be read, the scan of the source reports that.
            guard !Errno.exhausted.contains(error.errno) else { throw error }
            return contents
        }
        do throws(SystemError) {
            if filters.excludesOtherFileSystems {
                let status = try directory.status()
                // A bind mount may show a directory of the same file system.
                contents.isOtherFileSystem =
                    status.device != devices[path] || status.isMountRoot && !devices.isRoot(path)
            }
            if let name = filters.ignoreFileName {
                contents.ignoreFile = try read(name, in: directory, limit: FilterRules.sizeLimit)
            }
            if filters.excludesCaches {
                // The file is usually longer, but its beginning is enough.
                let tag = try read(CacheTag.fileName, in: directory, limit: nil)
                contents.isCache = tag.map(CacheTag.isValid) ?? false
            }
        } catch {
            guard Errno.noDirectory.contains(error.errno) else { throw error }
        }
        return contents
    }

    /// nil if there is no such regular file. A symlink is ignored.
    ///
    /// - Parameter limit: in bytes; nil reads only the first bytes, which are enough for a cache tag.
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

/// The file system of a source's root, or of each root if there are several.
struct RootDevices: Sendable {
    private let root: DeviceNumber
    private let parts: [ArraySlice<UInt8>: DeviceNumber]

    init(_ source: Directory) throws(SystemError) {
        root = try source.status().device
        var parts: [ArraySlice<UInt8>: DeviceNumber] = [:]
        for (name, directory) in source.parts { parts[name.bytes] = try directory.status().device }
        self.parts = parts
    }

    /// Whether the path is a root of the source.
    func isRoot(_ path: RelativePath) -> Bool { path.isRoot || parts[path.bytes[...]] != nil }

    /// The file system of the root above a path.
    subscript(path: RelativePath) -> DeviceNumber {
        parts.isEmpty ? root : parts[path.firstComponent] ?? root
    }
}
