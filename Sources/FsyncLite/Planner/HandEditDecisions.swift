import FileSystem

// A restoration decides about changes made in the target since the last run.

extension Difference {
    /// Decides about changes in the target since the last run. Entries that no run made are always left in place.
    ///
    /// - Parameters:
    ///   - filters: those of the restored tree, if they decide by path alone; else nil.
    ///   - keepsDrift: changed entries are left in place and listed; otherwise they move to the history.
    ///   - handMade: entries that no run made, although the manifest has them. They are left in place.
    ///   - look: the status of an entry of the target; nil if there is none.
    mutating func decideHandEdits(
        _ tree: ListTree, filters: Filters?, keepsDrift: Bool, handMade: Set<RelativePath>,
        look: (RelativePath) throws -> FileStatus?
    ) throws -> (problems: [Problem], notes: [String], unchanged: Set<RelativePath>) {
        let homeless = try leaveHomeless(tree, look)
        var decisions = HandEditDecisions(self, tree, keepsDrift: keepsDrift, handMade)
        var problems = homeless
        try edit { difference in
            decisions.forgetUncovered(in: &difference)
            decisions.leaveEdited(in: &difference)
            decisions.keepStaying(in: &difference, filters)
            problems += decisions.decideMatches(in: &difference)
            if keepsDrift { problems += decisions.leaveMissing(in: &difference) }
            problems += try decisions.leaveLost(in: &difference, filters, look)
        }
        let displaced = decisions.displaced(in: self)
        problems += decisions.listed.map {
            .edited($0, isDisplaced: displaced.contains($0))
        }
        return (
            problems, decisions.notes(on: self),
            decisions.leftInPlace.union(decisions.listed.subtracting(displaced))
        )
    }

    /// Leaves out uncovered entries that would return into an uncovered directory that is gone.
    private mutating func leaveHomeless(
        _ tree: ListTree, _ look: (RelativePath) throws -> FileStatus?
    ) rethrows -> [Problem] {
        guard !policy.uncovering.isEmpty else { return [] }
        func isHomeless(_ path: RelativePath) throws -> Bool {
            guard policy.uncovering.contains(path), let parent = path.parent, !parent.isRoot,
                changes.index(of: .created, at: parent) == nil, changes.index(of: .match, at: parent) == nil,
                // A moving directory above may bring it.
                !path.ancestors.contains(where: {
                    changes.index(of: .match, at: $0).map { changes.head(at: $0).isRenamed } ?? false
                })
            else { return false }
            return try look(tree.location(of: parent))?.type != .directory
        }
        var homeless: [RelativePath] = []
        for match in matches where match.target.path.isInState {
            if try isHomeless(match.source.path) { homeless.append(match.source.path) }
        }
        // Files with several names are created and linked.
        for file in created where tree.location(of: file.path).isInState {
            if try isHomeless(file.path) { homeless.append(file.path) }
        }
        guard !homeless.isEmpty else { return [] }
        let left = Set(homeless)
        edit { difference in
            difference.changes.removeElements(at: { index, changes in
                changes.head(at: index).kind != .deleted && changes.path(at: index).isWithin(left)
            })
        }
        return homeless.map {
            Problem(
                path: $0, code: .drift,
                message: "its directory was removed from the target since; the file is in the history")
        }
    }
}

/// The steps of `Difference.decideHandEdits`, in this order, and the entries that they concern.
private struct HandEditDecisions {
    private let tree: ListTree
    private let keepsDrift: Bool
    private let uncovering: Set<RelativePath>
    /// Directories into which entries return.
    private var needed: Set<RelativePath> = []
    /// Entries that no run made.
    private var foreign: Set<RelativePath> = []
    /// Entries that no run made, although the manifest has them.
    private let handMade: Set<RelativePath>
    /// Entries that become uncovered: directories that would be deleted, and edited entries.
    private var resting: Set<RelativePath> = []
    /// Changed and hand-made entries that would be deleted, and the paths to which their directories move them.
    private var edited: [RelativePath: RelativePath] = [:]
    /// Changed entries to be listed, by the path that they have afterwards.
    private(set) var listed: Set<RelativePath> = []
    /// Changed objects that are left in place, by their path in the earlier tree.
    private(set) var leftInPlace: Set<RelativePath> = []

    init(_ difference: Difference, _ tree: ListTree, keepsDrift: Bool, _ handMade: Set<RelativePath>) {
        (self.tree, self.keepsDrift, self.handMade) = (tree, keepsDrift, handMade)
        uncovering = difference.policy.uncovering
        for file in difference.created where isRestored(file) && tree.isChanged(file.path) {
            needed.formUnion(file.path.ancestors)
        }
        for match in difference.matches where match.isRenamed {
            needed.formUnion(match.source.path.ancestors)
        }
        let moves = MoveMap(difference)
        for index in difference.changes.indices(of: .deleted) { sort(index, difference, moves) }
    }

    /// Sorts an entry that would be deleted.
    private mutating func sort(_ index: Int, _ difference: Difference, _ moves: MoveMap) {
        let changes = difference.changes
        let path = changes.path(at: index)
        guard !difference.foreign.contains(path) else {
            foreign.insert(path)
            return
        }
        let carried = moves.carriedPath(of: path)
        let isDirectory = changes.head(at: index).isDirectory
        // A directory with other times is unchanged. A directory that replaced a file is not.
        let isEdited =
            difference.edited.contains(path)
            && (!isDirectory
                || changes.index(of: .created, at: carried).map { !changes.head(at: $0).isDirectory }
                    ?? false)
        let isHandMade = handMade.contains(path)
        if isHandMade || (keepsDrift && isEdited) {
            edited[path] = carried
            if !isHandMade { listed.insert(carried) }
        } else if isDirectory {
            resting.insert(path)
        }
    }

    /// The earlier tree covers the entry, or its object is in the history.
    private func isRestored(_ file: File) -> Bool {
        !uncovering.contains(file.path) || tree.location(of: file.path).isInState
    }

    /// Leaves out uncovered entries that the target lacks, unless other entries return into them.
    func forgetUncovered(in difference: inout Difference) {
        var forgotten: [RelativePath] = []
        difference.changes.remove(.created) { index, changes in
            let file = changes[file: index]
            guard !isRestored(file), !needed.contains(file.path) else { return false }
            forgotten.append(file.path)
            return true
        }
        difference.forgotten += forgotten
    }

    /// Leaves out entries that would replace an edited one.
    func leaveEdited(in difference: inout Difference) {
        difference.changes.removeElements(at: { index, changes in
            let head = changes.head(at: index)
            return !head.isDirectory && listed.contains(changes.path(at: index))
                && (head.kind == .created || head.kind == .match && head.targetIsInState)
        })
    }

    /// Leaves in place edited entries and those that no run made, with the directories above them.
    mutating func keepStaying(in difference: inout Difference, _ filters: Filters?) {
        var staying = foreign.union(edited.keys)
        staying.formUnion(difference.withAllAbove(staying.compactMap(\.parent)))
        guard !staying.isEmpty else { return }
        reuseCarriedDirectories(in: &difference)
        difference.keepDeleted { staying.contains($0.path) }
        restUncovered(in: &difference, filters)
        // No manifest has these entries.
        let foreign = foreign
        difference.changes.remove(.match) { foreign.contains($1.targetPath(at: $0)) }
    }

    /// A directory that no run made may move, with another one, to a path at which one is needed. Then it becomes that
    /// one.
    private mutating func reuseCarriedDirectories(in difference: inout Difference) {
        let (needed, uncovering, foreign) = (needed, uncovering, foreign)
        let moves = MoveMap(difference)
        let carried = Dictionary(
            difference.deleted.lazy.filter { $0.isDirectory && foreign.contains($0.path) }
                .map { (moves.carriedPath(of: $0.path), $0.path) },
            uniquingKeysWith: { first, _ in first }
        ).filter { $0.key != $0.value && needed.contains($0.key) }
        difference.changes.remove(.created) { index, changes in
            let path = changes.path(at: index)
            return uncovering.contains(path) && carried[path] != nil
        }
        self.foreign.subtract(carried.values)
        resting.formUnion(carried.values)
    }

    /// Edited entries remain in the manifest with their directories, unless they are uncovered afterwards.
    private mutating func restUncovered(in difference: inout Difference, _ filters: Filters?) {
        let (edited, uncovering) = (edited, uncovering)
        let uncovered = Set(
            difference.matches.lazy.filter { match in
                let path = match.source.path
                return edited[match.target.path] != nil
                    && (path.isBelow(anyOf: uncovering)
                        || filters?.excludes(path, match.target.status.type) ?? false)
            }.map(\.target.path))
        resting.subtract(edited.keys.lazy.filter { !uncovered.contains($0) }.flatMap { $0.ancestors })
        resting.formUnion(uncovered)
        for match in difference.matches where resting.contains(match.target.path) {
            difference.staying.insert(match.source.path)
        }
    }

    /// Leaves changed objects of the target unchanged.
    ///
    /// - Returns: the files whose earlier content is lost; none if `keepsDrift`, because changes are then listed.
    mutating func decideMatches(in difference: inout Difference) -> [Problem] {
        var problems: [Problem] = []
        for index in difference.changes.indices where difference.changes.head(at: index).kind == .match {
            let match = difference.changes[match: index]
            guard !match.target.path.isInState,
                match.causes.contains(.drift) || (match.base == nil && !match.isRenamed)
            else { continue }
            if keepsDrift {
                // Another owner, group or mode than was recorded.
                let hasOtherAccess =
                    match.base.map { !match.target.status.equals($0.status, in: .access) } ?? false
                let isListed = !match.source.isDirectory || hasOtherAccess
                guard isListed || !tree.isChanged(match.source.path) else { continue }
                if isListed, !handMade.contains(match.target.path) { listed.insert(match.source.path) }
            } else {
                // The earlier content of a file was overwritten in the target.
                guard match.source.isFile, tree.location(of: match.source.path) == match.target.path,
                    !(match.base?.known.isIntact(in: match.target.status) ?? false)
                else { continue }
                problems.append(.lost(match.source.path, at: match.target.path))
            }
            difference.changes[match: index].keepTarget()
            leftInPlace.insert(match.source.path)
        }
        return problems + keepNames(in: &difference)
    }

    /// Leaves the other names of unchanged files in place, also those that would return.
    private mutating func keepNames(in difference: inout Difference) -> [Problem] {
        guard !leftInPlace.isEmpty else { return [] }
        let leftInPlace = leftInPlace
        let inodes = Set(
            difference.matches.lazy.filter {
                leftInPlace.contains($0.source.path) && $0.target.isMultiplyLinked
            }
            .map(\.target.status.inode))
        var problems: [Problem] = []
        for index in difference.changes.indices where !inodes.isEmpty {
            let head = difference.changes.head(at: index)
            guard head.kind == .match, head.hasOtherNames else { continue }
            let match = difference.changes[match: index]
            guard match.target.isMultiplyLinked, inodes.contains(match.target.status.inode),
                self.leftInPlace.insert(match.source.path).inserted
            else { continue }
            difference.changes[match: index].keepTarget()
            problems.append(
                Problem(
                    path: match.source.path, code: .drift,
                    message: "it is another name of a file that was changed in the target since"))
        }
        return problems
    }

    /// Leaves out entries whose object was removed from its path, unless other entries return into them.
    ///
    /// - Returns: these entries.
    mutating func leaveMissing(in difference: inout Difference) -> [Problem] {
        let needed = needed
        var missing: [RelativePath] = []
        difference.changes.remove(.created) { index, changes in
            let path = changes.path(at: index)
            guard changes.head(at: index).causes.contains(.drift), !needed.contains(path) else {
                return false
            }
            missing.append(path)
            return true
        }
        leftInPlace.formUnion(missing)
        return missing.map {
            Problem(
                path: $0, code: .drift,
                message: "it was removed from the target since, and is not restored")
        }
    }

    /// Leaves out files whose content was in the target and is gone.
    ///
    /// - Returns: these files.
    mutating func leaveLost(
        in difference: inout Difference, _ filters: Filters?,
        _ look: (RelativePath) throws -> FileStatus?
    ) rethrows -> [Problem] {
        let lost = try difference.lost(tree, look)
        guard !lost.isEmpty else { return [] }
        // The target's entry at the path is left unchanged. A file returns with its directory of the history.
        var missing: [File] = []
        difference.changes.remove(.match) { index, changes in
            let path = changes.targetPath(at: index)
            guard lost.contains(changes.path(at: index)), path.isInState, !path.isInSlot else { return false }
            missing.append(changes[file: index])
            return true
        }
        difference.changes.append(contentsOf: missing.lazy.map { .created($0, isDrift: false) })
        difference.changes.sort()
        // Entries that remain at these paths may be excluded by the restored filters.
        let excluded = Array(
            difference.deleted.lazy.filter { file in
                file.path.isWithin(lost) && filters?.excludes(file.path, file.status.type) ?? false
            })
        difference.omit(Array(lost))
        difference.uncover(excluded.filter { difference.changes.index(of: .deleted, at: $0.path) == nil })
        leftInPlace.formUnion(lost)
        return lost.sorted().map(tree.problem)
    }

    /// Changed entries that cannot remain, because another entry needs their path.
    func displaced(in difference: Difference) -> Set<RelativePath> {
        Set(edited.lazy.filter { difference.changes.index(of: .deleted, at: $0.key) != nil }.map(\.value))
    }

    /// Names the first entry that no run made, among those that remain and those that move to the history.
    func notes(on difference: Difference) -> [String] {
        let moves = MoveMap(difference)
        let strangers = foreign.union(edited.keys.lazy.filter(handMade.contains))
        let going =
            difference.deleted.lazy.map(\.path).filter(strangers.contains)
            + difference.matches.lazy.filter {
                $0.replacesContent && $0.base == nil && !$0.target.path.isInState && !$0.target.isDirectory
            }.map(\.target.path)
        let staying = strangers.subtracting(going).map(moves.carriedPath(of:))
        let what = "excluded files and files that no run copied"
        return [(staying, "are left unchanged"), (Array(going), "are moved to the history")].compactMap {
            paths, verb in
            paths.min().map { "\(what) \(verb): \(Amount.list([$0.description], of: paths.count))" }
        }
    }
}

extension Difference {
    /// Files whose content was in the target or its history and is gone.
    ///
    /// - Parameter look: the status of an entry below the root that has the history; nil if there is none.
    func lost(
        _ tree: ListTree, _ look: (RelativePath) throws -> FileStatus?
    ) rethrows -> Set<RelativePath> {
        func isThere(_ file: File) throws -> Bool {
            try look(tree.location(of: file.path))?.equals(file.status, in: .content) ?? false
        }
        var lost: Set<RelativePath> = []
        for file in created where file.isFile || file.omitted.contains(.purged) {
            switch links[file.path] {
            case .existing: continue
            case .staged(let first)
            where !lost.contains(first) && changes.index(of: .created, at: first) != nil:
                continue
            case .staged, nil: break
            }
            if try !isThere(file) { lost.insert(file.path) }
        }
        for match in replacing {
            let location = tree.location(of: match.source.path)
            guard match.source.isFile || match.source.omitted.contains(.purged),
                location != match.target.path || location.isInState
            else { continue }
            if try !isThere(match.source) { lost.insert(match.source.path) }
        }
        return lost
    }

    /// Records remaining entries as uncovered.
    fileprivate mutating func uncover(_ files: [File]) {
        guard !files.isEmpty else { return }
        staying.formUnion(files.map(\.path))
        changes.append(contentsOf: files.lazy.map { .match(Match(source: $0, target: $0)) })
        changes.sort()
    }
}
