import FileSystem

// Later changes of a difference: entries left out, copied instead of moved, or kept.

extension Difference {
    /// Leaves out entries of the source that could not be read. What the target has at those paths stays, under the
    /// new path where it was renamed.
    package mutating func omit(_ paths: [RelativePath]) {
        if !paths.isEmpty { edit { $0.leaveOut(Set(paths)) } }
    }

    private mutating func leaveOut(_ omitted: Set<RelativePath>) {
        let moves = MoveMap(self)
        let missing = Set(omitted.filter { created.index(of: $0) != nil })
        created.removeElements(at: { missing.contains($1.path(at: $0)) })
        // They are not among the entries of the mirror that stay unchanged.
        sourceCount -= missing.count
        self.missing.formUnion(missing)
        // Entries at a path whose directory moves are not kept here.
        let kept = missing.filter { deleted.index(of: $0) != nil }
            .filter { moves.newPath(of: $0.parent) == $0.parent }
        if !kept.isEmpty {
            deleted.removeElements(at: { index, deleted in
                let path = deleted.path(at: index)
                return kept.contains(path) || path.isBelow(anyOf: kept)
            })
        }
        for index in matches.indices where omitted.contains(matches.path(at: index)) {
            matches[index].keepTarget()
        }
    }

    /// Notes entries of the source whose extended attributes cannot be read.
    mutating func leaveAttributes(of paths: Set<RelativePath>) -> [Problem] {
        guard !paths.isEmpty else { return [] }
        var omissions = OmissionList()
        edit { difference in
            for index in difference.matches.indices where paths.contains(difference.matches.path(at: index)) {
                let source = difference.matches[index].source.withoutAttributes()
                omissions.add(source)
                difference.matches[index].source = source
            }
        }
        return omissions.problems
    }

    /// Copies objects instead of moving them, and everything that would move into or with their directories.
    mutating func copy(insteadOfMoving paths: Set<RelativePath>) {
        edit { $0.replaceMoves(of: paths) }
    }

    private mutating func replaceMoves(of paths: Set<RelativePath>) {
        let sources = Set(matches.lazy.filter { paths.contains($0.target.path) }.map(\.source.path))
        let isCopied = { (path: RelativePath) in sources.contains(path) || path.isBelow(anyOf: sources) }
        for match in matches where isCopied(match.source.path) {
            var (source, target) = (match.source, match.target)
            source.omitted = []
            if let base = match.base {
                source.extended = base.extended
                target.extended = base.extended
            }
            created.append((source, false))
            deleted.append((target, false))
        }
        matches.removeAll { isCopied($0.source.path) }
        created.sort()
        deleted.sort()
        keepDirectories()
    }

    /// Drops all changes but new content for these inodes of the target.
    ///
    /// - Returns: the paths of the dropped changes.
    mutating func restrict(to inodes: Set<UInt64>) -> [RelativePath] {
        let dropped = matches.filter {
            !$0.isUnchanged
                && ($0.isRenamed || !$0.causes.contains(.content) || !inodes.contains($0.target.status.inode))
        }
        let paths =
            dropped.flatMap { [$0.source.path, $0.target.path] } + created.map(\.file.path)
            + deleted.map(\.file.path)
        let isDropped = Set(dropped.map(\.target.path))
        edit { difference in
            difference.matches.removeAll { isDropped.contains($0.target.path) }
            (difference.created, difference.deleted) = ([], [])
        }
        (forgotten, uncovered) = ([], [])
        return paths
    }

    /// Directories that are deleted with entries in them, without those below others.
    var deletedTrees: [RelativePath] {
        func isGone(_ path: RelativePath?) -> Bool { path.flatMap(deleted.index) != nil }
        let directories = deleted.indices.filter { deleted.isDirectory(at: $0) }
        let tops = directories.lazy.map { deleted.path(at: $0) }.filter { !isGone($0.parent) }
        // In order, the first entry of a directory follows it.
        return tops.filter { path in
            let next = (deleted.index(of: path) ?? 0) + 1
            return next < deleted.count && deleted.path(at: next).isBelow(path)
        }
    }

    /// Deletes only what is in the way of a new entry. What stays moves along with its directory, and the manifest
    /// keeps it.
    ///
    /// - Returns: what stays, at its new path.
    @discardableResult
    package mutating func keepDeleted(_ isKept: (File) -> Bool = { _ in true }) -> [File] {
        edit { $0.keepUnreplaced(where: isKept) }
    }

    mutating func keepUnreplaced(where isKept: (File) -> Bool) -> [File] {
        let taken = arrivingPaths
        var going: Set<RelativePath> = []
        var stay: [Match] = []
        var newPaths: [RelativePath: RelativePath] = [:]
        let moves = MoveMap(self)
        // Files that keep names in the mirror, as indices of their matches by inode.
        var named: [UInt64: Int] = [:]
        for index in matches.indices where matches.head(at: index).hasOtherNames {
            let match = matches[index]
            if !match.replacesContent, match.target.isMultiplyLinked {
                named[match.target.status.inode] = index
            }
        }
        for (file, _) in deleted {
            let parent = file.path.parent ?? .root
            let newParent = newPaths[parent] ?? moves.newPath(of: parent)
            guard isKept(file), let name = file.path.fileName, let newParent, !going.contains(parent),
                !taken.contains(newParent.appending(name))
            else {
                going.insert(file.path)
                continue
            }
            newPaths[file.path] = newParent.appending(name)
            var source = file.moved(to: newParent.appending(name))
            if file.isMultiplyLinked, let index = named[file.status.inode] {
                // The source has fewer names of the file than the target.
                var status = matches[index].source.status
                status.links = max(status.links, 2)
                matches[index].source = matches[index].source.with(status)
                var own = source.status
                (own.inode, own.created, own.changed, own.links) =
                    (status.inode, status.created, status.changed, status.links)
                source = source.with(own)
            }
            stay.append(Match(source: source, target: file))
        }
        deleted.removeElements(at: { !going.contains($1.path(at: $0)) })
        matches.append(contentsOf: stay)
        matches.sort()
        return stay.map(\.source)
    }

    /// The paths that entries of the source get or keep.
    var arrivingPaths: Set<RelativePath> {
        Set(created.indices.lazy.map { created.path(at: $0) })
            .union(matches.indices.lazy.map { matches.path(at: $0) })
    }
}
