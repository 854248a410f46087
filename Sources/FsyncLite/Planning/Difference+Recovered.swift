import FileSystem

// What a restoration does with entries that its filters cover again.

extension Difference {
    /// Leaves entries as they are that become covered again and changed while they were not.
    ///
    /// - Returns: the entries of the earlier tree that are lost.
    mutating func settleRecovered(_ tree: ListTree) -> [Problem] {
        guard !tree.recovered.isEmpty else { return [] }
        return edit { $0.leaveChanged(tree.recovered, tree) }.sorted().map {
            Problem(
                path: $0, code: .drift,
                message: "this was changed while no run covered it; it stays as it is")
        }
    }

    /// - Returns: the entries of the earlier tree that are lost.
    private mutating func leaveChanged(
        _ recovered: Set<RelativePath>, _ tree: ListTree
    ) -> Set<RelativePath> {
        var lost = leaveChangedMatches(recovered)
        let displaced = carriedPathsOfDeleted(recovered)
        let occupied = Set(displaced.values)
        // A file that stands at its path gets further names.
        let standing = recovered.intersection(matches.indices.map { matches.targetPath(at: $0) })
        let missing = Set(
            created.lazy.filter {
                let location = tree.location(of: $0.file.path)
                return recovered.contains(location)
                    && ($0.file.isDirectory
                        ? occupied.contains($0.file.path) : !standing.contains(location))
            }.map(\.file.path))
        leaveOut(missing, tree)
        lost.formUnion(missing)
        keepUnreplaced(displaced)
        return lost
    }

    /// Removes matches whose object differs from its base; a directory only stays as it is.
    ///
    /// - Parameter recovered: paths in the target.
    /// - Returns: the paths of these entries in the earlier tree.
    private mutating func leaveChangedMatches(_ recovered: Set<RelativePath>) -> Set<RelativePath> {
        var changed: Set<RelativePath> = []
        matches = MatchList(
            matches.compactMap { match in
                guard recovered.contains(match.target.path), let base = match.base,
                    base.differs(from: match.target.status)
                else { return match }
                changed.insert(match.source.path)
                guard match.source.isDirectory else { return nil }
                // Entries restored into it need it in the manifest.
                var match = match
                match.keepTarget()
                return match
            })
        return changed
    }

    /// Paths of recovered objects to be deleted, as their type changed, and the paths to which their directories carry
    /// them.
    private func carriedPathsOfDeleted(_ recovered: Set<RelativePath>) -> [RelativePath: RelativePath] {
        let moves = MoveMap(self)
        var carried: [RelativePath: RelativePath] = [:]
        for (file, _) in deleted where recovered.contains(file.path) {
            guard moves.newPath(of: file.path.parent) != nil else { continue }
            carried[file.path] = moves.carriedPath(of: file.path)
        }
        return carried
    }

    /// Leaves out entries that the target lacks, with everything below them, also from the manifest.
    private mutating func leaveOut(_ missing: Set<RelativePath>, _ tree: ListTree) {
        var left = missing.map(tree.location(of:))
        func leavesOut(_ path: RelativePath) -> Bool {
            guard missing.contains(path) || path.isBelow(anyOf: missing) else { return false }
            left.append(path)
            return true
        }
        created.removeAll { leavesOut($0.file.path) }
        matches.removeAll { leavesOut($0.source.path) }
        forgotten += left
    }

    /// Keeps objects of another type, unless the earlier tree has an entry at the path to which they are carried.
    private mutating func keepUnreplaced(_ displaced: [RelativePath: RelativePath]) {
        guard !displaced.isEmpty else { return }
        let arriving = Set(created.lazy.map(\.file.path))
            .union(matches.lazy.filter(\.isRenamed).map(\.source.path))
        let kept = Set(displaced.filter { !arriving.contains($0.value) }.keys)
        deleted.removeAll { kept.contains($0.file.path) || $0.file.path.isBelow(anyOf: kept) }
    }
}
