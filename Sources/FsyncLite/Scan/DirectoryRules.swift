import FileSystem

/// What the directories of a source say to the filters: their ignore files, cache tags and file systems.
struct DirectoryRules: Sendable {
    fileprivate enum Origin {
        case directory(Directory, RootDevices)
        /// Of those directories that say anything.
        case said([RelativePath: FilterDirectory])
    }

    private let origin: Origin

    /// Reads them in a directory, as they are asked for.
    init(of source: Directory) throws(SystemError) {
        origin = .directory(source, try RootDevices(source))
    }

    init(said: [RelativePath: FilterDirectory]) {
        origin = .said(said)
    }

    /// The file system of the source's root above a path, where the source is of this machine.
    func device(at path: RelativePath) -> DeviceNumber? {
        guard case .directory(_, let devices) = origin else { return nil }
        return devices[path]
    }

    /// For one thread. Paths in scan order cost one open per directory.
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

        /// Empty if the source has no such directory.
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
            // If the source's directory cannot be read, the scan of the source reports it.
            guard !Errno.exhausted.contains(error.errno) else { throw error }
            return contents
        }
        do throws(SystemError) {
            if filters.staysOnFileSystem {
                let status = try directory.status()
                // A bind mount may show a directory of the same file system.
                contents.isOtherFileSystem =
                    status.device != devices[path] || status.isMountRoot && !devices.isRoot(path)
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

    /// The path is that of the source, or of one of several.
    func isRoot(_ path: RelativePath) -> Bool { path.isRoot || parts[path.bytes[...]] != nil }

    /// The file system of the root that a path is below.
    subscript(path: RelativePath) -> DeviceNumber {
        parts.isEmpty ? root : parts[path.firstComponent] ?? root
    }
}
