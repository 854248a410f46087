import FileSystem

/// What a plan touches is not as the manifest has it: only a scan tells.
struct ManifestIsWrong: Error {}

/// The target as its manifest has it, in place of a scan.
///
/// Nobody has looked at these entries: what a plan touches has to be `confirmed` before anything is done.
final class RecordedTarget: EntryStream {
    private let manifest: ManifestReader
    private let isExcluded: (RelativePath, FileStatus) throws -> Bool

    /// - Parameter isExcluded: asked about what the manifest says takes no part.
    init(_ manifest: ManifestReader, isExcluded: @escaping (RelativePath, FileStatus) throws -> Bool) {
        (self.manifest, self.isExcluded) = (manifest, isExcluded)
    }

    /// - Throws: `ManifestIsWrong` where something takes part that did not.
    func advance() throws -> Bool {
        guard try manifest.advance() else { return false }
        guard try !manifest.marks.contains(.uncovered) || isExcluded(manifest.path, manifest.status) else {
            throw ManifestIsWrong()
        }
        return true
    }

    var path: RelativePath { manifest.path }
    var exclusion: Exclusion { manifest.marks.contains(.uncovered) ? .byRule : .none }
    /// Everything as the target held it, but for the times of change and creation, which are the source's.
    var status: FileStatus {
        var status = manifest.status
        status.inode = manifest.targetInode
        (status.changed, status.created) = (manifest.targetChanged ?? CommitSpans.unexamined, nil)
        return status
    }
    var destination: [UInt8] { manifest.destination }
    var extended: ExtendedAttributes { manifest.extended }
    var digest: Digest? { manifest.digest }
    var recorded: ManifestReader? { manifest }
}

extension Difference {
    /// Looks at what of a recorded target has a part in this, and takes its status for that of the record.
    ///
    /// - Returns: false when something is not as it was recorded, or there is more than the manifest knows of:
    ///   then only a scan tells what is to be done.
    mutating func confirm(in target: Directory) throws -> Bool {
        let device = try target.status().device
        let resolver = PathResolver(target)
        var found: [RelativePath: FileStatus] = [:]

        /// As it is there, with nothing in the way of changing it.
        func look(_ path: RelativePath) throws(SystemError) -> FileStatus? {
            if let status = found[path] { return status }
            guard let status = try resolver.status(of: path),
                status.device == device, !status.isMountRoot, !status.isImmutable, !status.isAppendOnly
            else { return nil }
            found[path] = status
            return status
        }
        func confirm(_ file: inout File) throws(SystemError) -> Bool {
            guard let status = try look(file.path),
                !file.status.differs(from: status, as: file.status.inode)
            else { return false }
            let changed = file.status.changed == CommitSpans.unexamined ? nil : file.status.changed
            guard !file.isFile || policy.hasKnownTime(status, changed) else { return false }
            file = file.with(status)
            return true
        }

        var names: [RelativePath: Int] = [:]
        var leaving: [RelativePath] = []
        /// Directories that names go from or come to, by where they are now.
        var parents: Set<RelativePath> = []
        let moves = MoveMap(self)
        for index in matches.indices.sorted(by: { matches[$0].target.path < matches[$1].target.path }) {
            guard try confirm(&matches[index].target) else { return false }
            let match = matches[index]
            names[match.target.path.parent ?? .root, default: 0] += 1
            if match.isRenamed, match.target.isDirectory { leaving.append(match.target.path) }
            guard !match.isUnchanged else { continue }
            parents.insert(match.target.path.parent ?? .root)
            if let parent = match.source.path.parent, !moves.isCreated(parent) {
                parents.insert(moves.oldPath(of: parent))
            }
        }
        for index in deleted.indices {
            guard try confirm(&deleted[index].file) else { return false }
            let file = deleted[index].file
            parents.insert(file.path.parent ?? .root)
            names[file.path.parent ?? .root, default: 0] += 1
            if file.isDirectory { leaving.append(file.path) }
        }
        // All that is recorded in them is part of this, and was found: as many names are the same names.
        for path in leaving {
            let present = try DirectoryListing.names(in: resolver.directory(path))
            guard present.count == names[path] ?? 0 else { return false }
        }
        // The history may have names of a file, which no record tells of.
        joinLinks()
        for (path, link) in links {
            guard case .kept(var file) = link else { continue }
            guard try confirm(&file) else { return false }
            links[path] = .kept(file)
        }
        // New names are free, unless what has them leaves.
        let gone = Set(deleted.map(\.file.path)).union(matches.lazy.filter(\.isRenamed).map(\.target.path))
        for path in matches.lazy.filter(\.isRenamed).map(\.source.path) + created.map(\.file.path) {
            guard let parent = path.parent, let name = path.fileName, !moves.isCreated(parent) else {
                continue
            }
            let directory = moves.oldPath(of: parent)
            parents.insert(directory)
            let location = directory.appending(name)
            if !gone.contains(location), try look(location) != nil { return false }
        }
        return try parents.allSatisfy { try $0.isRoot || look($0)?.type == .directory }
    }
}
