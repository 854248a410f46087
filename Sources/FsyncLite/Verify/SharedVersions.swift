import FileSystem

/// An old version in the history that is also a file at another place, by a hard link. An edit there changes it.
public struct SharedVersion: Hashable, Sendable {
    public let snapshot: String
    /// Its path in that snapshot.
    public let path: RelativePath
    public let inode: UInt64
    /// It has a name outside of the target. Otherwise it is also a file of the present tree.
    public let isOutside: Bool
}

/// Finds old versions with names outside of the history.
struct SharedVersions {
    private var versions: [(snapshot: String, path: RelativePath, status: FileStatus)] = []

    /// - Parameter status: the status of the old version's object.
    mutating func look(at status: FileStatus?, _ path: RelativePath, of snapshot: String) {
        guard let status, status.isMultiplyLinked else { return }
        versions.append((snapshot, path, status))
    }

    /// The versions whose object has another name in the tree or outside of the target.
    ///
    /// - Parameters:
    ///   - tree: the target's root.
    ///   - state: the target's state.
    func found(in tree: Directory, and state: Directory, _ monitor: any Monitor) throws -> [SharedVersion] {
        guard !versions.isEmpty else { return [] }
        var names: [LinkedFile: (all: UInt32, inTree: UInt32)] = [:]
        for (_, _, status) in versions { names[LinkedFile(status)] = (0, 0) }
        func count(_ root: Directory, isTree: Bool) throws {
            var options = TreeScan.Options(toleratesUnreadable: true)
            options.isInside = !isTree
            let scan = try TreeScan(root, options, monitor: monitor)
            while try scan.advance() {
                guard scan.status.isMultiplyLinked,
                    var found = names[LinkedFile(scan.status)]
                else { continue }
                found.all += 1
                if isTree { found.inTree += 1 }
                names[LinkedFile(scan.status)] = found
            }
        }
        try count(tree, isTree: true)
        try count(state, isTree: false)
        return versions.compactMap { snapshot, path, status in
            guard let found = names[LinkedFile(status)], status.links > found.all || found.inTree > 0 else {
                return nil
            }
            return SharedVersion(
                snapshot: snapshot, path: path, inode: status.inode, isOutside: status.links > found.all)
        }
    }
}
