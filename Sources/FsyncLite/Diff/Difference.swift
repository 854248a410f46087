import FileStorage
import FileSystem

/// What makes the target a mirror of the source, object by object: a pure value.
package struct Difference: Sendable {
    /// Objects of the target that stay, with their changes.
    package var matches = MatchList() { didSet { isBetweenEdits = false } }
    /// Entries of the source that need a new object, in scan order.
    package var created = EntryList() { didSet { isBetweenEdits = false } }
    /// Entries of the target that are deleted, in scan order.
    package var deleted = EntryList() { didSet { isBetweenEdits = false } }
    /// These three are as an `edit` left them.
    var isBetweenEdits = true
    /// Paths that the manifest has and the target lacks.
    package var forgotten: [RelativePath] = []
    /// What changed in the target since the last apply.
    package internal(set) var drift: [Drift] = []
    /// The same, for uncovered entries.
    private var restingDrift: [Drift] = []
    /// Entries of the manifest that filters exclude from now on, as the target has them.
    package var uncovered: [ManifestFindings.Uncovered] = []
    /// The manifest has uncovered entries.
    package private(set) var hasUncovered = false
    /// Entries of the target that were uncovered until now, at their present paths.
    package var wereUncovered: Set<RelativePath> = []
    /// Of a difference from an earlier tree, the deleted entries that no apply brought, and those changed since.
    private(set) var foreign: Set<RelativePath> = []
    private(set) var edited: Set<RelativePath> = []
    /// Entries that the source lacks and that stay uncovered: directories kept for what they hold, and what a
    /// directory takes along to an excluded path.
    package var staying: Set<RelativePath> = []
    package private(set) var targetTimes = TargetTimes()
    /// The policy of the comparison.
    @Boxed package private(set) var policy = ComparisonPolicy()
    package var sourceCount = 0
    package var targetCount = 0
    /// Target entries that an entry of the source would replace although they are excluded, or hold excluded entries.
    package private(set) var collisions: [RelativePath] = []
    private var withExcluded: Set<RelativePath> = []
    /// Directories that would be deleted but hold excluded entries.
    package private(set) var kept: [RelativePath] = []
    /// Entries of the source that could not be read or copied, and that the target lacks.
    var missing: Set<RelativePath> = []
    /// Entries that need a new object which is a further name of another file.
    package var links: [RelativePath: Link] = [:]
    var linkIndex = HardLinkIndex()
    /// Target entries whose extended attributes must be read, with their base.
    var unexamined = PackedMap<DepartureCoding>()
    /// When false, files are only protected from changes through other names.
    var mirrorsLinks: Bool { policy.attributes.contains(.hardLinks) }

    /// A new name of a file that has several.
    package enum Link: Hashable, Sendable {
        /// Of a staged file, at its final path.
        case staged(RelativePath)
        /// Of a file that the target keeps, as it is there now.
        case kept(File)
    }

    /// Entries of the source that need a new object.
    var arriving: ArrivingList { ArrivingList(self) }

    /// Nothing to do.
    package init() {}

    /// Pairs arrivals and departures that are one object, then those left at the same path.
    ///
    /// - Throws: `SyncError` when a directory was moved *and* cannot be read: then it cannot be known what to delete
    ///   below it.
    package init(matching merge: TreeMerge) throws {
        var merge = merge
        try self.init(taking: &merge)
    }

    /// The same, with the matches and arrivals taken out of the merge, which would keep them in memory.
    init(taking merge: inout TreeMerge) throws {
        policy = merge.policy
        let findings = merge.findings
        forgotten = findings.forgotten
        (drift, restingDrift) = (findings.drift, findings.restingDrift)
        (uncovered, hasUncovered) = (findings.uncovered, findings.hasUncovered)
        targetTimes = findings.targetTimes
        (sourceCount, targetCount) = (merge.sourceCount, merge.targetCount)
        linkIndex = merge.linkIndex
        for (file, base, isSeen) in uncovered
        where isSeen && !policy.vouches(for: base.known, in: file.status) {
            unexamined[file.path] = (file, base)
        }
        wereUncovered = findings.resting
        collisions = merge.collisions
        withExcluded = merge.withExcluded
        try edit { try $0.match(&merge) }
    }

    private mutating func match(_ merge: inout TreeMerge) throws {
        matches = merge.matches.take()
        var arrivals = merge.arrivals.take()
        var objects = ObjectMatching(&merge, arrivals)
        var rest = PackedList<ArrivalCoding>()
        try arrivals.drain { _, arrival in
            if let departure = try objects.moved(arrival) {
                add(arrival.file, departure, arrival.file.path == departure.file.path ? [] : [.renamed])
            } else {
                rest.append(arrival)
            }
        }
        rest.drain { _, arrival in
            if let departure = objects.standing(at: arrival.file) {
                add(arrival.file, departure, [])
            } else {
                created.append((arrival.file, arrival.isDrift))
            }
        }
        if hasUncovered || policy.mayWiden {
            for match in matches where wasUncovered(match.target, match.base) {
                wereUncovered.insert(match.target.path)
            }
        }
        noteUnrecordedBelowUncovered()
        objects.drainUntaken { delete($0) }
        noteUnrecordedBelowUncovered()
        matches.sort()
        deleted.sort()
        leaveDisplaced()
        try keepUnseen(merge.unseen)
        keepDirectories()
    }

    /// Keeps what the target has of entries that cannot be looked at, also where their directory was renamed.
    ///
    /// - Throws: `SyncError` where what it has would go to another path, or away.
    private mutating func keepUnseen(_ unseen: [(path: RelativePath, isHeld: Bool)]) throws {
        guard !unseen.isEmpty else { return }
        let moves = MoveMap(self)
        for (path, isHeld) in unseen where isHeld && moves.newPath(of: path.parent) != path.parent {
            throw SyncError(
                .failed, path: path.bytes,
                "its directory is another one in the source, and it cannot be looked at; make it readable first"
            )
        }
        let kept = Set(unseen.map { moves.oldPath(of: $0.path) })
        _ = keepUnreplaced { kept.contains($0.path) || $0.path.isBelow(anyOf: kept) }
    }

    private func wasUncovered(_ file: File, _ base: BaseEntry?) -> Bool {
        // The base of an entry of another type tells nothing of this one.
        if let base, base.isUncovered || base.status.type == file.status.type { return base.isUncovered }
        return policy.mayHaveBeenExcluded(file.path, file.status.type)
    }

    private mutating func delete(_ departure: TreeMerge.Departure) {
        var (file, base) = departure
        // The history's record gets them, too.
        if let base, policy.vouches(for: base.known, in: file.status) {
            (file.extended, file.digest) = (base.extended, base.digest)
            if policy.alwaysInspects { unexamined[file.path] = (file, base) }
        } else {
            unexamined[file.path] = (file, base)
        }
        let isUncovered = wasUncovered(file, base)
        if isUncovered || file.path.parent.map(wereUncovered.contains) ?? false {
            wereUncovered.insert(file.path)
        }
        deleted.append((file, policy.commitSpans != nil && base == nil && !isUncovered))
        guard policy.pairsByNumber else { return }
        if let base {
            if base.differs(from: file.status) { edited.insert(file.path) }
        } else {
            foreign.insert(file.path)
        }
    }

    /// Entries of an uncovered directory are uncovered.
    private mutating func noteUnrecordedBelowUncovered() {
        guard !wereUncovered.isEmpty else { return }
        for match in matches where match.base == nil && match.target.path.isBelow(anyOf: wereUncovered) {
            wereUncovered.insert(match.target.path)
        }
    }

    /// Displaced objects in the history that match no entry stay there, unless their directory leaves.
    private mutating func leaveDisplaced() {
        guard deleted.indices.contains(where: { deleted.path(at: $0).isInState }) else { return }
        let leaving = Set(
            matches.indices.filter {
                let head = matches.head(at: $0)
                return head.targetIsDirectory && head.targetIsInState
            }.map { matches.targetPath(at: $0) })
        deleted.removeElements(at: { index, deleted in
            let path = deleted.path(at: index)
            return path.isInState && !path.isBelow(anyOf: leaving)
        })
    }

    /// These directories and their ancestors, up to one that moves: its content moves along with it.
    func withAllAbove(_ paths: some Sequence<RelativePath>) -> Set<RelativePath> {
        let moving = Set(
            matches.indices.lazy.filter {
                let head = matches.head(at: $0)
                return head.isRenamed && head.isDirectory
            }.map { matches.targetPath(at: $0) })
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

    /// Keeps directories that hold excluded entries at any depth; if something replaces one, it is a collision.
    mutating func keepDirectories() {
        guard !withExcluded.isEmpty else { return }
        let directories = withAllAbove(withExcluded)
        let going = deleted.lazy.map(\.file.path).filter { directories.contains($0) }
        guard !going.isEmpty else { return }
        let arriving = arrivingPaths
        let moves = MoveMap(self)
        func isTaken(_ path: RelativePath) -> Bool { arriving.contains(moves.carriedPath(of: path)) }
        kept += going.filter { !isTaken($0) }
        collisions += going.filter(isTaken)
        keepDeleted { directories.contains($0.path) }
    }

    /// Directories kept for what they hold, at their new paths.
    var keptDirectories: [File] {
        guard !kept.isEmpty else { return [] }
        let kept = Set(kept)
        return matches.indices.filter { kept.contains(matches.targetPath(at: $0)) }.map { matches[$0].source }
    }

    private mutating func add(_ source: File, _ departure: TreeMerge.Departure, _ causes: Causes) {
        var match = Match(source: source, target: departure.file, base: departure.base)
        match.isMislinked = !linkIndex.admit(
            source.status.paired(by: policy, source.object), departure.file.status, at: departure.file.path,
            as: departure.base)
        match.compare(by: policy)
        match.causes.formUnion(causes)
        matches.append(match)
    }

    /// The matches of which attributes change, and that of the roots.
    func changingAttributes(_ root: Match) -> some Sequence<Match> {
        (-1..<matches.count).lazy.filter { $0 < 0 || matches.head(at: $0).changesAttributes }
            .map { $0 < 0 ? root : matches[$0] }
    }

    /// The matches of which a new object replaces the old one.
    var replacing: some Sequence<Match> {
        matches.indices.lazy.filter { matches.head(at: $0).replacesContent }.map { matches[$0] }
    }

    /// Files of the target that are the source's own objects.
    var shared: [RelativePath] {
        guard policy.replacesShared else { return [] }
        return replacing.filter { policy.isShared($0.source.status, $0.target.status) }.map(\.source.path)
    }

    /// Changes of uncovered entries that go to the history; the manifest no longer has those entries.
    var driftOfDisplaced: [Drift] {
        guard !restingDrift.isEmpty else { return [] }
        let displaced = Set(deleted.indices.lazy.map { deleted.path(at: $0) })
            .union(
                matches.indices.lazy.filter { matches.head(at: $0).replacesContent }
                    .map { matches.targetPath(at: $0) })
        return restingDrift.filter { $0.found.map { displaced.contains($0.path) } ?? false }
    }

    /// The manifest gains, loses or changes entries, although there may be no action.
    ///
    /// - Parameter kept: entries that are left as they are in the target.
    func changesCoverage(except kept: Set<RelativePath> = []) -> Bool {
        !uncovered.isEmpty || forgotten.contains { !kept.contains($0) }
            || matches.contains {
                ($0.changesManifest && !kept.contains($0.source.path)) || isUncovering($0)
            }
    }

    /// The entry is uncovered in the earlier tree and covered now.
    func isUncovering(_ match: Match) -> Bool {
        let path = match.source.path
        return match.base != nil && policy.uncovering.contains(path) || staying.contains(path)
    }
}
