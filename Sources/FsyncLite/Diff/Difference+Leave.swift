import FileSystem

// Later changes of a difference: entries are left out, copied instead of moved, or left unchanged.

extension Difference {
    /// Leaves out entries of the source that could not be read. The target's entries at those paths are left unchanged;
    /// if a directory was renamed, they get its new path.
    package mutating func omit(_ paths: [RelativePath]) {
        if !paths.isEmpty { edit { $0.leaveOut(Set(paths)) } }
    }

    private mutating func leaveOut(_ omitted: Set<RelativePath>) {
        let moves = MoveMap(self)
        let missing = Set(omitted.filter { changes.index(of: .created, at: $0) != nil })
        changes.remove(.created) { missing.contains($1.path(at: $0)) }
        // They are not among the unchanged entries of the mirror.
        sourceCount -= missing.count
        self.missing.formUnion(missing)
        // The target's entries at such a path are deleted if their directory moves.
        let remaining = missing.filter { changes.index(of: .deleted, at: $0) != nil }
            .filter { moves.newPath(of: $0.parent) == $0.parent }
        if !remaining.isEmpty {
            // A directory in them may move away.
            let moving = movingDirectories
            changes.remove(.deleted) { index, changes in
                let path = changes.path(at: index)
                return path.isWithin(remaining) && !path.isBelow(anyOf: moving)
            }
        }
        changes.updateMatches(where: { omitted.contains($1.path(at: $0)) }) { $0.keepTarget() }
    }

    /// Notes entries of the source whose extended attributes cannot be read.
    mutating func leaveAttributes(of paths: Set<RelativePath>) -> [Problem] {
        guard !paths.isEmpty else { return [] }
        var omissions = OmissionList()
        edit { difference in
            difference.changes.updateMatches(where: { paths.contains($1.path(at: $0)) }) { match in
                match.source = match.source.withoutAttributes()
                omissions.add(match.source)
            }
        }
        return omissions.problems
    }

    /// Copies objects instead of moving them, and all objects that would move into or with their directories.
    mutating func copy(insteadOfMoving paths: Set<RelativePath>) {
        edit { $0.replaceMoves(of: paths) }
    }

    private mutating func replaceMoves(of paths: Set<RelativePath>) {
        let sources = Set(matches.lazy.filter { paths.contains($0.target.path) }.map(\.source.path))
        let copied = matches.filter { $0.source.path.isWithin(sources) }
        changes.remove(.match) { $1.path(at: $0).isWithin(sources) }
        for match in copied {
            var (source, target) = (match.source, match.target)
            source.omitted = []
            if let base = match.base {
                source.extended = base.extended
                target.extended = base.extended
            }
            changes.append(.created(source, isDrift: false))
            changes.append(.deleted(target, isDrift: false, base: match.base))
        }
        changes.sort()
        keepDirectories()
    }

    /// For these inodes of the target only new content is set; all other changes are dropped.
    ///
    /// - Returns: the paths of the dropped changes.
    mutating func restrict(to inodes: Set<UInt64>) -> [RelativePath] {
        let dropped = matches.filter {
            !$0.isUnchanged
                && ($0.isRenamed || !$0.causes.contains(.content) || !inodes.contains($0.target.status.inode))
        }
        let paths =
            dropped.flatMap { [$0.source.path, $0.target.path] } + created.map(\.path) + deleted.map(\.path)
        let isDropped = Set(dropped.map(\.target.path))
        edit { difference in
            difference.changes.removeElements(at: { index, changes in
                changes.head(at: index).kind != .match || isDropped.contains(changes.targetPath(at: index))
            })
        }
        (forgotten, uncovered) = ([], [])
        return paths
    }

    /// Directories that are deleted with their entries, only the topmost of each tree.
    var deletedTrees: [RelativePath] {
        func isGone(_ path: RelativePath?) -> Bool {
            path.flatMap { changes.index(of: .deleted, at: $0) } != nil
        }
        let gone = Array(changes.indices(of: .deleted))
        // In this order, the first entry of a directory follows it.
        return zip(gone, gone.dropFirst()).compactMap { index, next in
            guard changes.head(at: index).isDirectory else { return nil }
            let path = changes.path(at: index)
            return changes.path(at: next).isBelow(path) && !isGone(path.parent) ? path : nil
        }
    }

    /// Deletes only entries in the way of new ones. The others move with their directory and remain in the manifest.
    ///
    /// - Returns: the remaining entries, at their new paths.
    @discardableResult
    package mutating func keepDeleted(_ mayRemain: (File) -> Bool = { _ in true }) -> [File] {
        edit { $0.keepUnreplaced(where: mayRemain) }
    }

    mutating func keepUnreplaced(where mayRemain: (File) -> Bool) -> [File] {
        let arriving = arrivingPaths
        var going: Set<RelativePath> = []
        var stay: [Match] = []
        var newPaths: [RelativePath: RelativePath] = [:]
        let moves = MoveMap(self)
        // The matches of files with a name that remains in the mirror, as indices by inode.
        var named: [UInt64: [Int]] = [:]
        for index in changes.indices(of: .match) where changes.head(at: index).hasOtherNames {
            let match = changes[match: index]
            if !match.replacesContent, match.target.isMultiplyLinked {
                named[match.target.status.inode, default: []].append(index)
            }
        }
        // The names of those files that only the target has, as indices into `stay`.
        var keptNames: [UInt64: [Int]] = [:]
        for file in deleted {
            let parent = file.path.parent ?? .root
            let newParent = newPaths[parent] ?? moves.newPath(of: parent)
            guard mayRemain(file), let name = file.path.fileName, let newParent, !going.contains(parent),
                !arriving.contains(newParent.appending(name))
            else {
                going.insert(file.path)
                continue
            }
            newPaths[file.path] = newParent.appending(name)
            if file.isMultiplyLinked, named[file.status.inode] != nil {
                keptNames[file.status.inode, default: []].append(stay.count)
            }
            stay.append(Match(source: file.moved(to: newParent.appending(name)), target: file))
        }
        for (inode, kept) in keptNames {
            var shared: FileStatus?
            for index in named[inode] ?? [] {
                // The target keeps more names of the file than the source has.
                var status = changes[file: index].status
                status.links = UInt32(clamping: Int(status.links) + kept.count)
                changes[file: index] = changes[file: index].with(status)
                shared = status
            }
            guard let shared else { continue }
            for name in kept {
                var own = stay[name].source.status
                (own.inode, own.created, own.changed, own.links) =
                    (shared.inode, shared.created, shared.changed, shared.links)
                stay[name].source = stay[name].source.with(own)
            }
        }
        for index in changes.indices where changes.head(at: index).isUnexamined {
            let path = changes.path(at: index)
            if !going.contains(path) { unexamined[path] = changes[index] }
        }
        changes.remove(.deleted) { !going.contains($1.path(at: $0)) }
        changes.append(contentsOf: stay.lazy.map(Change.match))
        changes.sort()
        return stay.map(\.source)
    }

    /// The paths that entries of the source get or keep.
    var arrivingPaths: PackedPaths { changes.paths { $0.kind != .deleted } }
}
