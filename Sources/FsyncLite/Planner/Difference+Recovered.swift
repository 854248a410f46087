import FileSystem

// In a restoration, its filters can cover entries again.

extension Difference {
    /// Leaves entries unchanged that become covered again, if they were changed while they were uncovered.
    ///
    /// - Returns: the entries of the earlier tree that are lost.
    mutating func decideRecovered(_ tree: ListTree) -> [Problem] {
        guard !tree.recovered.isEmpty else { return [] }
        return edit { $0.leaveChanged(tree.recovered, tree) }.sorted().map {
            Problem(
                path: $0, code: .drift,
                message: "it was changed while it was excluded; it is left unchanged")
        }
    }

    /// - Returns: the entries of the earlier tree that are lost.
    private mutating func leaveChanged(
        _ recovered: Set<RelativePath>, _ tree: ListTree
    ) -> Set<RelativePath> {
        var lost = leaveChangedMatches(recovered)
        let displaced = carriedPathsOfDeleted(recovered)
        let occupied = Set(displaced.values)
        // A file at its path gets further names.
        let inPlace = changes.targetPaths { $0.kind == .match }
        let missing = Set(
            created.lazy.filter {
                let location = tree.location(of: $0.path)
                return recovered.contains(location)
                    && ($0.isDirectory ? occupied.contains($0.path) : !inPlace.contains(location))
            }.map(\.path))
        leaveOut(missing, tree)
        lost.formUnion(missing)
        guard !displaced.isEmpty else { return lost }
        // Objects of another type stay, unless the earlier tree has an entry at the path to which they move.
        let arriving = changes.paths { $0.kind == .created || $0.isRenamed }
        let remaining = Set(displaced.filter { !arriving.contains($0.value) }.keys)
        changes.remove(.deleted) { $1.path(at: $0).isWithin(remaining) }
        return lost
    }

    /// Removes matches whose object differs from its base. A directory remains, unchanged.
    ///
    /// - Parameter recovered: paths in the target.
    /// - Returns: the paths of these entries in the earlier tree.
    private mutating func leaveChangedMatches(_ recovered: Set<RelativePath>) -> Set<RelativePath> {
        var changed: Set<RelativePath> = []
        for match in matches where recovered.contains(match.target.path) {
            if match.base?.differs(from: match.target.status) ?? false { changed.insert(match.source.path) }
        }
        // If entries are restored into a directory, it must be in the manifest.
        changes.updateMatches(where: { $1.head(at: $0).isDirectory && changed.contains($1.path(at: $0)) }) {
            $0.keepTarget()
        }
        changes.remove(.match) { !$1.head(at: $0).isDirectory && changed.contains($1.path(at: $0)) }
        return changed
    }

    /// Paths of recovered objects to be deleted because their type changed, and the paths to which they would move.
    private func carriedPathsOfDeleted(_ recovered: Set<RelativePath>) -> [RelativePath: RelativePath] {
        let moves = MoveMap(self)
        var carried: [RelativePath: RelativePath] = [:]
        for file in deleted where recovered.contains(file.path) {
            guard moves.newPath(of: file.path.parent) != nil else { continue }
            carried[file.path] = moves.carriedPath(of: file.path)
        }
        return carried
    }

    /// Leaves out entries that the target lacks, with all entries below them, also from the manifest.
    private mutating func leaveOut(_ missing: Set<RelativePath>, _ tree: ListTree) {
        var left = missing.map(tree.location(of:))
        changes.removeElements(at: { index, changes in
            let path = changes.path(at: index)
            guard changes.head(at: index).kind != .deleted, path.isWithin(missing) else { return false }
            left.append(path)
            return true
        })
        forgotten += left
    }
}
