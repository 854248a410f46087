import FileSystem

/// An object that a plan involves differs from the manifest, so a scan is needed.
struct ManifestIsWrong: Error {}

/// The recorded entries of a target, in place of a scan.
///
/// These entries were not compared with the target. The objects that a plan involves must be confirmed
/// (`Difference.confirm`) before any change.
final class RecordedTarget: EntryStream {
    private let manifest: ManifestReader
    private let isExcluded: (RelativePath, FileStatus) throws -> Bool

    /// - Parameter isExcluded: called for entries that are uncovered in the manifest.
    init(_ manifest: ManifestReader, isExcluded: @escaping (RelativePath, FileStatus) throws -> Bool) {
        (self.manifest, self.isExcluded) = (manifest, isExcluded)
    }

    /// - Throws: `ManifestIsWrong` if an uncovered entry is covered now, or an entry is no longer mirrored.
    func advance() throws -> Bool {
        guard try manifest.advance() else { return false }
        guard manifest.path.bytes.count <= RelativePath.longest,
            try !manifest.marks.contains(.uncovered) || isExcluded(manifest.path, manifest.status)
        else { throw ManifestIsWrong() }
        return true
    }

    var path: RelativePath { manifest.path }
    var exclusion: Exclusion { manifest.marks.contains(.uncovered) ? .byRule : .none }
    /// The target's values, except the change and birth times, which are the source's.
    var status: FileStatus {
        var status = manifest.status
        status.inode = manifest.targetInode
        (status.changed, status.created) = (manifest.targetChanged ?? FileTime.unexamined, nil)
        return status
    }
    var destination: [UInt8] { manifest.destination }
    var extended: ExtendedAttributes { manifest.extended }
    var digest: Digest? { manifest.digest }
    var recorded: ManifestReader? { manifest }
}

extension Difference {
    /// Reads the status of each object of a recorded target that the plan involves, and replaces the recorded one.
    ///
    /// - Returns: false if an object changed since it was recorded, or a directory has more entries than the manifest
    ///   says. Then a scan is needed.
    mutating func confirm(in target: Directory) throws -> Bool {
        let moves = MoveMap(self)
        var check = try RecordCheck(target, policy, moves)
        // Names of a file in the history are not recorded, so the present link counts decide which names are linked.
        guard try edit({ try check.confirm(entriesOf: &$0) }), try check.leavesOnlyRecordedNames() else {
            return false
        }
        for (path, link) in links {
            guard case .existing(var file) = link, !file.path.isInState else { continue }
            guard try check.confirm(&file) else { return false }
            links[path] = .existing(file)
        }
        let changes = changes
        // An entry that moves with its directory keeps its name there.
        let moving = changes.indices.filter { index in
            let head = changes.head(at: index)
            return head.kind == .created
                || head.isRenamed
                    && !moves.isCarried(from: changes.targetPath(at: index), to: changes.path(at: index))
        }
        var gone = changes.targetPaths { $0.kind == .deleted }
        for index in moving
        where changes.head(at: index).isRenamed && !changes.head(at: index).targetIsInState {
            gone.insert(changes.targetPath(at: index))
        }
        for index in moving where try !check.isFree(changes.path(at: index), of: gone) { return false }
        return try check.parentsAreThere()
    }
}

/// Compares the objects that a plan involves with the manifest.
private struct RecordCheck {
    private let resolver: PathResolver
    private let device: DeviceNumber
    private let policy: ComparisonPolicy
    private let moves: MoveMap
    /// The status of directories, which are looked at again.
    private var found: [RelativePath: FileStatus] = [:]
    /// The number of recorded names in each directory.
    private var names: [RelativePath: Int] = [:]
    /// Directories that leave their location.
    private var leaving: [RelativePath] = []
    /// Present paths of directories in which names are added or removed.
    private var parents: Set<RelativePath> = []

    init(_ target: Directory, _ policy: ComparisonPolicy, _ moves: MoveMap) throws {
        resolver = PathResolver(target)
        device = try target.status().device
        (self.policy, self.moves) = (policy, moves)
    }

    /// The status of an object that can be changed; nil for any other.
    private mutating func look(_ path: RelativePath) throws(SystemError) -> FileStatus? {
        if let status = found[path] { return status }
        guard let status = try resolver.status(of: path),
            status.device == device, !status.isMountRoot, !status.isImmutable, !status.isAppendOnly
        else { return nil }
        if status.type == .directory { found[path] = status }
        return status
    }

    /// Gives the objects of the target their present status; false if one changed since it was recorded.
    mutating func confirm(entriesOf difference: inout Difference) throws(SystemError) -> Bool {
        // Objects in the history were looked at when they were offered.
        func isPresent(_ index: Int, _ kind: Change.Kind) -> Bool {
            let head = difference.changes.head(at: index)
            return head.kind == kind && !head.targetIsInState
        }
        let matches = difference.changes.indices.filter { isPresent($0, .match) }
            .sorted { difference.changes.targetPath(at: $0) < difference.changes.targetPath(at: $1) }
        for index in matches {
            var match = difference.changes[match: index]
            guard try confirm(&match.target) else { return false }
            difference.changes[match: index] = match
            let directory = match.target.path.parent ?? .root
            names[directory, default: 0] += 1
            if match.isRenamed, match.target.isDirectory { leaving.append(match.target.path) }
            if !match.isUnchanged { parents.insert(directory) }
        }
        for index in difference.changes.indices where isPresent(index, .deleted) {
            var file = difference.changes[file: index]
            guard try confirm(&file) else { return false }
            difference.changes[file: index] = file
            let directory = file.path.parent ?? .root
            parents.insert(directory)
            names[directory, default: 0] += 1
            if file.isDirectory { leaving.append(file.path) }
        }
        return true
    }

    /// Gives an object its present status; false if that is not the recorded one.
    mutating func confirm(_ file: inout File) throws(SystemError) -> Bool {
        guard let status = try look(file.path),
            file.status.equals(status, in: [.state, .inode])
        else { return false }
        let changed = file.status.changed == .unexamined ? nil : file.status.changed
        guard !file.isFile || policy.hasKnownTime(status, changed) else { return false }
        file = file.with(status)
        return true
    }

    /// All recorded entries of these directories were found, so an equal count of names means the same names.
    func leavesOnlyRecordedNames() throws -> Bool {
        for path in leaving {
            let present = try DirectoryListing.names(in: resolver.directory(path))
            guard present.count == names[path] ?? 0 else { return false }
        }
        return true
    }

    /// A new name must be free, unless the object that has it leaves.
    mutating func isFree(_ path: RelativePath, of gone: PackedPaths) throws -> Bool {
        guard let parent = path.parent, let name = path.fileName, !moves.isCreated(parent) else {
            return true
        }
        let directory = moves.oldPath(of: parent)
        guard !directory.isInState else { return true }
        parents.insert(directory)
        let location = directory.appending(name)
        if !gone.contains(location), try look(location) != nil { return false }
        return true
    }

    mutating func parentsAreThere() throws -> Bool {
        for path in parents where !path.isRoot {
            guard try look(path)?.type == .directory else { return false }
        }
        return true
    }
}
