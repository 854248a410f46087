import FileStorage
import FileSystem

/// What makes the target a mirror of the source, object by object: a pure value.
package struct Difference: Sendable {
    /// Objects of the target that stay, with what changes on them.
    package var matches: [Match] = []
    /// Entries of the source that need a new object, in scan order.
    package var created: [(file: File, isDrift: Bool)] = []
    /// Entries of the target that go, in scan order.
    package var deleted: [(file: File, isDrift: Bool)] = []
    /// Paths that the manifest has and the target has not.
    package var forgotten: [RelativePath] = []
    /// What somebody changed in the target since the last apply.
    package internal(set) var drift: [Drift] = []
    /// The same of what takes no part.
    private var restingDrift: [Drift] = []
    /// Entries of the manifest that filters leave out from now on, as they stand in the target.
    package var uncovered: [TreeMerge.Uncovered] = []
    /// The manifest has entries that take no part.
    package private(set) var hasUncovered = false
    /// Entries of the target that took no part so far, where they are now.
    package var wereUncovered: Set<RelativePath> = []
    /// What the source does not have and that stays without taking part: directories for what they hold, and what a
    /// directory takes along to where it is excluded.
    package var staying: Set<RelativePath> = []
    package private(set) var targetTimes = TargetTimes()
    /// What it was compared by.
    package private(set) var policy = ComparisonPolicy()
    package var sourceCount = 0
    package var targetCount = 0
    /// What would have to make way for an entry of the source and is excluded, or holds what is.
    package private(set) var collisions: [RelativePath] = []
    private var withExcluded: Set<RelativePath> = []
    /// Directories that would go and hold what is excluded.
    package private(set) var kept: [RelativePath] = []
    /// Of the entries that need a new object: what has its object already, under another name.
    package var links: [RelativePath: Link] = [:]
    var census = HardLinkIndex()
    /// Entries that go and of whose extended attributes nothing tells, with what is recorded of them.
    var unexamined: [RelativePath: BaseEntry?] = [:]
    /// Without it only what other names of a file would suffer is prevented.
    var mirrorsLinks = true
    var linkLimit: UInt32?

    /// A new name of a file that has several.
    package enum Link: Hashable, Sendable {
        /// Of a file that is staged, at the path that it gets.
        case staged(RelativePath)
        /// Of one that the target keeps, as it is there now.
        case kept(File)
    }

    /// Entries of the source that need a new object.
    var arriving: [File] { created.map(\.file) + matches.lazy.filter(\.replacesContent).map(\.source) }

    /// Nothing to do.
    package init() {}

    /// Makes matches of arrivals and departures that are one object, then of what is left at the same path.
    ///
    /// - Throws: `SyncError` when a directory was moved *and* cannot be read: whether what the target has
    ///   below it should go cannot be known.
    package init(matching merge: TreeMerge) throws {
        policy = merge.policy
        matches = merge.matches
        forgotten = merge.forgotten
        (drift, restingDrift) = (merge.drift, merge.restingDrift)
        (uncovered, hasUncovered) = (merge.uncovered, merge.hasUncovered)
        targetTimes = merge.targetTimes
        (sourceCount, targetCount) = (merge.sourceCount, merge.targetCount)
        census = merge.census
        mirrorsLinks = policy.attributes.contains(.hardLinks)
        linkLimit = policy.linkLimit
        for (file, base, isSeen) in uncovered
        where isSeen && !policy.vouches(for: base.known, in: file.status) {
            unexamined[file.path] = .some(base)
        }

        var objects = ObjectMatching(merge)
        var unmatched: [TreeMerge.Arrival] = []
        for arrival in merge.arrivals {
            if let departure = try objects.moved(arrival) {
                add(arrival.file, departure, [.renamed])
            } else {
                unmatched.append(arrival)
            }
        }
        for arrival in unmatched {
            if let departure = objects.standing(at: arrival.file) {
                add(arrival.file, departure, [])
            } else {
                let isDrift = arrival.base?.status.identity == arrival.file.identity
                created.append((arrival.file, isDrift))
            }
        }
        wereUncovered = merge.resting
        for match in matches where wasUncovered(match.target, match.base) {
            wereUncovered.insert(match.target.path)
        }
        noteUnrecordedBelowUncovered()
        for departure in objects.untaken { delete(departure) }
        noteUnrecordedBelowUncovered()
        matches.sort { $0.source < $1.source }
        leaveDisplaced()
        collisions = merge.collisions
        withExcluded = merge.withExcluded
        keepDirectories()
        joinLinks()
    }

    private func wasUncovered(_ file: File, _ base: BaseEntry?) -> Bool {
        // A record of something else tells nothing of what stands in its place.
        if let base, base.isUncovered || base.status.type == file.status.type { return base.isUncovered }
        return policy.mayHaveBeenExcluded(file.path, file.status.type)
    }

    private mutating func delete(_ departure: TreeMerge.Departure) {
        var (file, base) = departure
        // The history's record has them, too.
        if let base, policy.vouches(for: base.known, in: file.status) {
            (file.extended, file.digest) = (base.extended, base.digest)
            if policy.alwaysInspects { unexamined[file.path] = .some(base) }
        } else {
            unexamined[file.path] = .some(base)
        }
        let isUncovered = wasUncovered(file, base)
        if isUncovered || file.path.parent.map(wereUncovered.contains) ?? false {
            wereUncovered.insert(file.path)
        }
        deleted.append((file, policy.trust != nil && base == nil && !isUncovered))
    }

    /// Nothing takes part whose directory does not.
    private mutating func noteUnrecordedBelowUncovered() {
        guard !wereUncovered.isEmpty else { return }
        for match in matches where match.base == nil && match.target.path.isBelow(anyOf: wereUncovered) {
            wereUncovered.insert(match.target.path)
        }
    }

    /// What the history holds and no entry turned out to be stays there, unless its directory leaves.
    private mutating func leaveDisplaced() {
        let leaving = Set(
            matches.lazy.map(\.target).filter { $0.isDirectory && $0.path.isInState }.map(\.path))
        deleted.removeAll { $0.file.path.isInState && !$0.file.path.isBelow(anyOf: leaving) }
    }

    /// These directories and those that hold them, as far as they stay where they are: what lies in one that moves goes
    /// along with it.
    func withAllAbove(_ paths: some Sequence<RelativePath>) -> Set<RelativePath> {
        let moving = Set(matches.lazy.filter { $0.isRenamed && $0.source.isDirectory }.map(\.target.path))
        var directories: Set<RelativePath> = []
        for path in paths {
            var above: RelativePath? = path
            while let directory = above, !directory.isRoot, !moving.contains(directory),
                directories.insert(directory).inserted
            {
                above = directory.parent
            }
        }
        return directories
    }

    /// Directories that hold, at some depth, what is excluded stay, unless something else takes their place: then all
    /// of it is refused.
    mutating func keepDirectories() {
        guard !withExcluded.isEmpty else { return }
        let directories = withAllAbove(withExcluded)
        let going = deleted.lazy.map(\.file.path).filter { directories.contains($0) }
        guard !going.isEmpty else { return }
        let arriving = Set(created.map(\.file.path)).union(matches.map(\.source.path))
        let moves = MoveMap(self)
        func isTaken(_ path: RelativePath) -> Bool { arriving.contains(moves.carriedPath(of: path)) }
        kept += going.filter { !isTaken($0) }
        collisions += going.filter(isTaken)
        keepDeleted { directories.contains($0.path) }
    }

    private mutating func add(_ source: File, _ departure: TreeMerge.Departure, _ causes: Causes) {
        var match = Match(source: source, target: departure.file, base: departure.base)
        match.isMislinked = !census.admit(
            source.status, departure.file.status, at: departure.file.path, as: departure.base)
        match.compare(by: policy)
        match.causes.formUnion(causes)
        matches.append(match)
    }

    /// What somebody changed in what takes no part and goes to the history: the manifest tells of it no more.
    var driftOfDisplaced: [Drift] {
        guard !restingDrift.isEmpty else { return [] }
        let displaced = Set(deleted.lazy.map(\.file.path))
            .union(matches.lazy.filter(\.replacesContent).map(\.target.path))
        return restingDrift.filter { $0.found.map { displaced.contains($0.path) } ?? false }
    }

    /// The manifest gets or loses entries, or tells something else of one, although nothing may be done.
    var changesCoverage: Bool {
        !forgotten.isEmpty || !uncovered.isEmpty || matches.contains { $0.changesRecord || isUncovering($0) }
    }

    /// The entry takes no part in the earlier tree, and does now.
    func isUncovering(_ match: Match) -> Bool {
        let path = match.source.path
        return match.base != nil && policy.uncovering.contains(path) || staying.contains(path)
    }
}
