import FileStorage
import FileSystem

/// The source of a target.
public enum MirrorSource: Hashable, Sendable {
    /// The content of a directory. A symlink to a directory is followed.
    case directory([UInt8])
    /// Several directories, on any file systems. The name of each is that of its mirror in the target.
    case named([String: [UInt8]])
    /// A directory on another machine, and the way to reach it.
    case remote(Endpoint, RemoteAccess)

    /// Whether it is on another machine.
    public var isRemote: Bool { if case .remote = self { true } else { false } }

    /// The reason why a source cannot have this name; nil if it can.
    public static func fault(ofName name: String) -> String? {
        guard name.utf8.count <= 255 else { return "a name of a source has at most 255 bytes" }
        guard FileName(name.utf8) != nil else {
            return "a name of a source is one component of a path"
        }
        let reserved = [FileName.state, .lostAndFound].contains { $0.bytes.elementsEqual(name.utf8) }
        return reserved ? "this name is reserved" : nil
    }

    /// The path of a single directory on this machine; nil for any other source.
    package var single: [UInt8]? { if case .directory(let path) = self { path } else { nil } }

    /// The directories, sorted by their names. A single one has no name.
    public var directories: [(name: String?, path: [UInt8])] {
        switch self {
        case .directory(let path): return [(nil, path)]
        case .named(let paths):
            let names = paths.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            return names.map { (name: $0, path: paths[$0] ?? []) }
        case .remote(let endpoint, _): return [(nil, endpoint.bytes)]
        }
    }

    /// - Throws: the `SyncError` of a run that finds no such directory.
    package func check() throws { _ = try open() }

    /// Opens the directory, or joins several.
    ///
    /// - Throws: `SyncError` with code `inputMissing` if one does not exist, `usage` if it is on another machine.
    func open() throws -> Directory {
        switch self {
        case .directory(let path): return try MirrorSource.open(path, nil)
        case .named(let paths):
            var parts: [FileName: Directory] = [:]
            for (name, path) in paths {
                guard let part = FileName(Array(name.utf8)) else {
                    throw SyncError(.usage, path: path, "a source has no such name")
                }
                parts[part] = try MirrorSource.open(path, name)
            }
            guard !parts.isEmpty else { throw SyncError(.inputMissing, "there is no source") }
            return Directory.joining(parts)
        case .remote(let endpoint, _):
            throw SyncError(
                .usage, path: endpoint.bytes, "only plan and apply read a directory of another machine")
        }
    }

    private static func open(_ path: [UInt8], _ name: String?) throws -> Directory {
        do throws(SyncError) {
            return try LocalFile(bytes: path).directory(ManifestHeader.Source.title(name))
        } catch {
            guard error.isNotFound else { throw error }
            throw SyncError(
                .inputMissing, path: path, ManifestHeader.Source.title(name) + " does not exist")
        }
    }
}
