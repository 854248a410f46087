import FileStorage
import FileSystem

/// The changes that make the target a mirror of the source, object by object: a pure value.
package struct Difference: Sendable {
    package var changes = ChangeList() { didSet { isBetweenEdits = false } }
    /// The changes are as an `edit` left them.
    var isBetweenEdits = true
    /// Paths that the manifest has and the target lacks.
    package var forgotten: [RelativePath] = []
    /// Entries that changed in the target since the last run.
    package internal(set) var drift: [Drift] = []
    /// The same for uncovered entries.
    private var restingDrift: [Drift] = []
    /// Entries of the manifest that filters exclude from now on, as the target has them.
    package var uncovered: [ManifestFindings.Uncovered] = []
    /// The manifest has uncovered entries.
    package private(set) var hasUncovered = false
    /// Entries of the target that were uncovered until now, at their present paths.
    package var wereUncovered: Set<RelativePath> = []
    /// For a difference from an earlier tree: the deleted entries that no run made, and those changed since.
    private(set) var foreign: Set<RelativePath> = []
    private(set) var edited: Set<RelativePath> = []
    /// Entries that the source lacks and that remain uncovered. They are directories with such entries in them, and
    /// entries that a directory moves to an excluded path.
    package var staying: Set<RelativePath> = []
    package private(set) var targetTimes = TargetTimes()
    /// The policy of the comparison.
    @Boxed package private(set) var policy = ComparisonPolicy()
    package var sourceCount = 0
    package var targetCount = 0
    /// Entries of the target that a source's entry would replace although they, or entries in them, are excluded.
    package private(set) var collisions: [RelativePath] = []
    private var withExcluded: Set<RelativePath> = []
    /// Directories that would be deleted, but contain excluded entries.
    package private(set) var protectedPaths: [RelativePath] = []
    /// Entries of the source that could not be read or copied, and that the target lacks.
    var missing: Set<RelativePath> = []
    /// Entries whose new object is one more name of another file.
    package var links: [RelativePath: Link] = [:]
    var linkIndex = HardLinkIndex()
    /// The target's entries whose extended attributes must be read, with their base, besides the deleted ones: they are
    /// uncovered, or remain in the target.
    var unexamined = PackedMap<ChangeCoding>()
    /// If false, files are only protected from changes through other names.
    var mirrorsLinks: Bool { policy.attributes.contains(.hardLinks) }

    /// A new name of a file that has several.
    package enum Link: Hashable, Sendable {
        /// Of a staged file, at its final path.
        case staged(RelativePath)
        /// Of a file that remains in the target, with its present path.
        case existing(File)
    }

    /// Objects that remain in the target.
    package var matches: some Collection<Match> {
        changes.indices(of: .match).map { [changes] in changes[match: $0] }
    }
    /// Entries of the source without an object of their kind in the target.
    package var created: some Collection<File> {
        changes.indices(of: .created).map { [changes] in changes[file: $0] }
    }
    /// Entries that are removed from the target.
    package var deleted: some Collection<File> {
        changes.indices(of: .deleted).map { [changes] in changes[file: $0] }
    }
    /// Entries of the source that get a new object.
    var arriving: some Collection<File> {
        changes.indices(where: \.arrives).map { [changes] in changes[file: $0] }
    }

    /// A difference without changes.
    package init() {}

    /// Pairs arrivals and departures that are one object, then the others at the same path.
    ///
    /// - Throws: `SyncError` if a directory was moved *and* cannot be read: the entries to delete below it are unknown.
    package init(matching merge: TreeMerge) throws {
        var merge = merge
        try self.init(taking: &merge)
    }

    /// The same, and frees the merge's matches and arrivals.
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
        where isSeen && !policy.isProvenUnchanged(base.known, in: file.status) {
            unexamined[file.path] = .deleted(file, isDrift: false, base: base)
        }
        wereUncovered = findings.resting
        collisions = merge.collisions
        withExcluded = merge.withExcluded
        try edit { try $0.match(&merge) }
    }

    private mutating func match(_ merge: inout TreeMerge) throws {
        changes = merge.matches.take()
        var arrivals = merge.arrivals.take()
        var objects = ObjectMatching(&merge, arrivals)
        var rest = ChangeList()
        try arrivals.drain { _, arrival in
            let file = arrival.file
            if let departure = try objects.moved(file) {
                add(file, departure)
            } else {
                rest.append(arrival)
            }
        }
        rest.drain { _, arrival in
            if let departure = objects.atPath(of: arrival.file) {
                add(arrival.file, departure)
            } else {
                changes.append(arrival)
            }
        }
        if hasUncovered || policy.mayWiden {
            for match in matches where wasUncovered(match.target, match.base) {
                wereUncovered.insert(match.target.path)
            }
        }
        noteUnrecordedBelowUncovered()
        objects.drainUnmatched { delete($0) }
        noteUnrecordedBelowUncovered()
        changes.sort()
        leaveDisplaced()
        try keepUnseen(merge.unseen)
        keepDirectories()
    }

    /// Leaves the target's entries unchanged if the source's cannot be looked at, also in a renamed directory.
    ///
    /// - Throws: `SyncError` if they would move to another path, or be deleted.
    private mutating func keepUnseen(_ unseen: [(path: RelativePath, isInTarget: Bool)]) throws {
        guard !unseen.isEmpty else { return }
        let moves = MoveMap(self)
        for (path, isInTarget) in unseen where isInTarget && moves.newPath(of: path.parent) != path.parent {
            throw SyncError(
                .failed, path: path.bytes,
                "it is in a renamed or replaced directory, and cannot be read; make it readable first"
            )
        }
        let oldPaths = Set(unseen.map { moves.oldPath(of: $0.path) })
        _ = keepUnreplaced { $0.path.isWithin(oldPaths) }
    }

    private func wasUncovered(_ file: File, _ base: BaseEntry?) -> Bool {
        // The base of an entry of another type shows nothing about this one.
        if let base, base.isUncovered || base.status.type == file.status.type { return base.isUncovered }
        return policy.mayHaveBeenExcluded(file.path, file.status.type)
    }

    private mutating func delete(_ departure: TreeMerge.Departure) {
        var (file, base) = departure
        var isOpen = true
        // The history's record gets these attributes and the digest, too.
        if let base, policy.isProvenUnchanged(base.known, in: file.status) {
            (file.extended, file.digest) = (base.extended, base.digest)
            isOpen = policy.alwaysInspects
        }
        let isUncovered = wasUncovered(file, base)
        if isUncovered || file.path.parent.map(wereUncovered.contains) ?? false {
            wereUncovered.insert(file.path)
        }
        changes.append(
            .deleted(
                file, isDrift: policy.commitSpans != nil && base == nil && !isUncovered,
                base: base, isOpen: isOpen))
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

    /// Objects in the history that match no entry remain there, unless their directory leaves.
    private mutating func leaveDisplaced() {
        guard changes.heads.contains(where: { $0.kind == .deleted && $0.targetIsInState }) else { return }
        let leaving = changes.targetDirectories(where: \.targetIsInState)
        changes.remove(.deleted) { index, changes in
            changes.head(at: index).targetIsInState && !changes.path(at: index).isBelow(anyOf: leaving)
        }
    }

    /// The present paths of directories that get another path.
    var movingDirectories: Set<RelativePath> { changes.targetDirectories(where: \.isRenamed) }

    /// These directories and their ancestors, up to one that moves, because its content moves with it.
    func withAllAbove(_ paths: some Sequence<RelativePath>) -> Set<RelativePath> {
        let moving = movingDirectories
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

    /// Protects directories with excluded entries at any depth. If an entry replaces one, it is a collision.
    mutating func keepDirectories() {
        guard !withExcluded.isEmpty else { return }
        let directories = withAllAbove(withExcluded)
        let going = deleted.lazy.map(\.path).filter { directories.contains($0) }
        guard !going.isEmpty else { return }
        let arriving = arrivingPaths
        let moves = MoveMap(self)
        func isReplaced(_ path: RelativePath) -> Bool { arriving.contains(moves.carriedPath(of: path)) }
        protectedPaths += going.filter { !isReplaced($0) }
        collisions += going.filter(isReplaced)
        keepDeleted { directories.contains($0.path) }
    }

    /// Directories that remain for the excluded entries in them, at their new paths.
    var protectedDirectories: [File] {
        guard !protectedPaths.isEmpty else { return [] }
        let paths = Set(protectedPaths)
        return changes.indices(of: .match).filter { paths.contains(changes.targetPath(at: $0)) }
            .map { changes[file: $0] }
    }

    private mutating func add(_ source: File, _ departure: TreeMerge.Departure) {
        var match = Match(source: source, target: departure.file, base: departure.base)
        match.isMislinked = !linkIndex.admit(
            source.status.paired(by: policy, source.object), departure.file.status, at: departure.file.path,
            as: departure.base,
            mayBeCounterpart: !policy.pairsByNumber || departure.file.object == source.object)
        match.compare(by: policy)
        if source.path != departure.file.path { match.causes.insert(.renamed) }
        changes.append(.match(match))
    }

    /// The matches with changed attributes, and that of the roots.
    func changingAttributes(_ root: Match) -> some Sequence<Match> {
        (-1..<changes.count).lazy.filter { $0 < 0 || changes.head(at: $0).changesAttributes }
            .map { $0 < 0 ? root : changes[match: $0] }
    }

    /// The matches in which a new object replaces the old one.
    var replacing: some Sequence<Match> {
        changes.indices(where: \.replacesContent).map { changes[match: $0] }
    }

    /// Files of the target that are the source's own objects.
    var shared: [RelativePath] {
        guard policy.replacesShared else { return [] }
        return replacing.filter { policy.isShared($0.source.status, $0.target.status) }.map(\.source.path)
    }

    /// Changes of uncovered entries that move to the history. The new manifest lacks these entries.
    var driftOfDisplaced: [Drift] {
        guard !restingDrift.isEmpty else { return [] }
        let displaced = changes.targetPaths { $0.kind == .deleted || $0.replacesContent }
        return restingDrift.filter { $0.found.map { displaced.contains($0.path) } ?? false }
    }

    /// The manifest gains, loses or changes entries, although there may be no action.
    ///
    /// - Parameter unchanged: entries that are left unchanged in the target.
    func changesCoverage(except unchanged: Set<RelativePath> = []) -> Bool {
        !uncovered.isEmpty || forgotten.contains { !unchanged.contains($0) }
            || matches.contains {
                ($0.changesManifest && !unchanged.contains($0.source.path)) || isUncovering($0)
            }
    }

    /// The entry is uncovered in the earlier tree and covered now.
    func isUncovering(_ match: Match) -> Bool {
        let path = match.source.path
        return match.base != nil && policy.uncovering.contains(path) || staying.contains(path)
    }
}
