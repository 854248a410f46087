import FileSystem

// What a restoration does about what was changed in the target since the last apply.

extension Difference {
    /// Decides what becomes of what somebody changed in the target since the last apply. What no apply brought here
    /// stays in any case.
    ///
    /// - Parameters:
    ///   - filters: those that come back, as far as they decide by paths alone; nil for others.
    ///   - isKept: changes stay too, and are listed; without it they go to the history like everything else.
    mutating func settleDrift(
        _ merge: TreeMerge, _ tree: SnapshotTree, filters: Filters?, isKept: Bool
    ) -> (problems: [Problem], notes: [String]) {
        var listed: Set<RelativePath> = []
        var problems: [Problem] = []
        let going = Set(deleted.map(\.file.path))
        let uncovering = policy.uncovering
        func isMissed(_ file: File) -> Bool {
            !uncovering.contains(file.path) || tree.location(of: file.path).isInState
        }
        // Directories that something comes back into.
        let needed = Set(
            (created.lazy.map(\.file).filter(isMissed).map(\.path).filter(tree.isChanged)
                + matches.lazy.filter(\.isRenamed).map(\.source.path)).flatMap(\.ancestors))
        // What took no part and is not in the target any more is not missed.
        created.removeAll { file, _ in
            guard !isMissed(file), !needed.contains(file.path) else { return false }
            forgotten.append(file.path)
            return true
        }
        var foreign: Set<RelativePath> = []
        // Of the directories that would go, and of what was edited: what takes no part from now on.
        var resting: Set<RelativePath> = []
        for (file, base) in merge.departures where going.contains(file.path) {
            if file.isDirectory, base != nil { resting.insert(file.path) }
            if base == nil {
                foreign.insert(file.path)
            } else if isKept, !file.isDirectory, base?.differs(from: file.status) ?? false,
                !needed.contains(file.path)
            {
                listed.insert(file.path)
            }
        }
        // Nothing takes the place of what was edited.
        matches.removeAll {
            listed.contains($0.source.path) && !$0.source.isDirectory && $0.target.path.isInState
        }
        created.removeAll { listed.contains($0.file.path) && !$0.file.isDirectory }
        var staying = foreign.union(listed)
        staying.formUnion(withAllAbove(staying.compactMap(\.parent)))
        if !staying.isEmpty {
            // A directory that another one takes along to where one is needed is that one.
            let moves = MoveMap(self)
            let carried = Dictionary(
                deleted.lazy.map(\.file).filter { $0.isDirectory && foreign.contains($0.path) }
                    .map { (moves.carriedPath(of: $0.path), $0.path) },
                uniquingKeysWith: { first, _ in first }
            ).filter { $0.key != $0.value && needed.contains($0.key) }
            created.removeAll { uncovering.contains($0.file.path) && carried[$0.file.path] != nil }
            foreign.subtract(carried.values)
            resting.formUnion(carried.values)
            keepDeleted { staying.contains($0.path) }
            // What was edited stays on record, and its directories with it, unless it takes no part then.
            let uncovered = Set(
                matches.lazy.filter { match in
                    let path = match.source.path
                    return listed.contains(match.target.path)
                        && (path.isBelow(anyOf: uncovering)
                            || filters?.excludes(path, match.target.status.type) ?? false)
                }.map(\.target.path))
            resting.subtract(listed.subtracting(uncovered).lazy.flatMap { $0.ancestors })
            resting.formUnion(uncovered)
            for match in matches where resting.contains(match.target.path) {
                self.staying.insert(match.source.path)
            }
            // No manifest has them.
            matches.removeAll { foreign.contains($0.target.path) }
        }
        for index in matches.indices {
            let match = matches[index]
            guard !match.target.path.isInState,
                match.causes.contains(.drift) || (match.base == nil && !match.isRenamed)
            else { continue }
            let path = match.source.path
            if isKept {
                guard !match.source.isDirectory || !tree.isChanged(path) else { continue }
                if !match.source.isDirectory { listed.insert(path) }
            } else {
                guard match.source.isFile, tree.location(of: path) == match.target.path,
                    !(match.base?.known.isIntact(in: match.target.status) ?? false)
                else { continue }
                problems.append(.lost(path))
            }
            matches[index].keepTarget()
        }
        if isKept {
            created.removeAll { file, isDrift in
                guard isDrift, !tree.isChanged(file.path), !needed.contains(file.path) else { return false }
                listed.insert(file.path)
                return true
            }
        }
        joinLinks()
        problems += listed.map {
            Problem(path: $0, code: .drift, message: "somebody changed this in the target since; it stays")
        }
        let stillGoing = Set(deleted.map(\.file.path))
        guard let first = foreign.subtracting(stillGoing).min() else { return (problems, []) }
        let others = foreign.count > 1 ? " and \(foreign.count - 1) more" : ""
        return (problems, ["what filters left out, or no apply brought here, stays: \(first)\(others)"])
    }

    /// Leaves out files in whose place another object stands that has another digest.
    ///
    /// - Returns: these, and those of which no digest tells.
    mutating func settleReplaced(
        _ replaced: Set<RelativePath>, _ tree: SnapshotTree, _ contents: DigestReader
    ) throws -> [Problem] {
        guard !replaced.isEmpty else { return [] }
        var lost: [RelativePath] = []
        var unknown: [RelativePath] = []
        // What cannot be read the copy tells of.
        var unread: [Problem] = []
        for (file, _) in created where replaced.contains(file.path) {
            guard let digest = file.digest else {
                unknown.append(file.path)
                continue
            }
            let found = try contents.digest(of: tree.location(of: file.path), problems: &unread)
            if let found, found.digest != digest { lost.append(file.path) }
        }
        omit(lost)
        return lost.map { .lost($0) } + unknown.map { .replaced($0) }
    }

    /// Leaves alone what takes part again and is not as it was when it last did.
    ///
    /// - Returns: what is lost to the earlier tree.
    mutating func settleRecovered(_ tree: SnapshotTree) -> [Problem] {
        guard !tree.recovered.isEmpty else { return [] }
        let locations = Set(tree.recovered.keys)
        var lost: Set<RelativePath> = []
        matches = matches.compactMap { match in
            guard locations.contains(match.target.path), let base = match.base,
                base.differs(from: match.target.status)
            else { return match }
            lost.insert(match.source.path)
            guard match.source.isDirectory else { return nil }
            // What comes back into it needs it on record, as it is.
            var match = match
            match.source = match.source.holding(match.target.status)
            match.causes.formIntersection([.renamed])
            return match
        }
        // Of another type by now, or gone: where they stand, and where they will.
        let moves = MoveMap(self)
        var others: [RelativePath: RelativePath] = [:]
        for (file, _) in deleted where locations.contains(file.path) {
            guard moves.newPath(of: file.path.parent) != nil else { continue }
            others[file.path] = moves.carriedPath(of: file.path)
        }
        let standing = Set(others.values)
        let missing = Set(
            created.lazy.filter {
                locations.contains(tree.location(of: $0.file.path))
                    && (!$0.file.isDirectory || standing.contains($0.file.path))
            }.map(\.file.path))
        // The target does not have them, and so the manifest has them no more.
        func leavesOut(_ path: RelativePath) -> Bool {
            guard missing.contains(path) || path.isBelow(anyOf: missing) else { return false }
            forgotten.append(path)
            return true
        }
        forgotten += missing.map(tree.location(of:))
        created.removeAll { leavesOut($0.file.path) }
        matches.removeAll { leavesOut($0.source.path) }
        lost.formUnion(missing)
        if !others.isEmpty {
            // What stands where the earlier tree has something else gives way.
            let arriving = Set(created.lazy.map(\.file.path))
                .union(matches.lazy.filter(\.isRenamed).map(\.source.path))
            let staying = Set(others.filter { !arriving.contains($0.value) }.keys)
            deleted.removeAll { staying.contains($0.file.path) || $0.file.path.isBelow(anyOf: staying) }
        }
        joinLinks()
        return lost.sorted().map {
            Problem(
                path: $0, code: .drift,
                message: "this was changed while no run covered it; it stays as it is")
        }
    }
}
