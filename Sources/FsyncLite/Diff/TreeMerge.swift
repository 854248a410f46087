import FileSystem

/// The merge-join of source, target and manifest: three streams in one order, one pass, no I/O of its own.
///
/// An entry is *settled* when the source's object at a path is the one that the manifest recorded there: it
/// is compared on the spot and kept only when there is something to do. What is not settled goes to the
/// arrivals and departures, from which `matchMoves` makes matches.
package struct TreeMerge {
    package let policy: ComparisonPolicy

    /// Objects that stay where they are and need something, or whose record does.
    package private(set) var matches: [Match] = []
    /// Entries of the source without a settled counterpart; the record is that of their path.
    package private(set) var arrivals: [Arrival] = []
    package typealias Arrival = (file: File, base: BaseEntry?, isListed: Bool)
    /// Entries of the target without one.
    package private(set) var departures: [Departure] = []
    package typealias Departure = (file: File, base: BaseEntry?)
    /// Paths that the manifest has and the target has not.
    package private(set) var forgotten: [RelativePath] = []
    /// Entries that the manifest has and that take no part from now on, as the target has them.
    package private(set) var uncovered: [Uncovered] = []
    /// - isSeen: the file's status is that of the target's object; else the record's, since nobody looked.
    package typealias Uncovered = (file: File, base: BaseEntry, isSeen: Bool)

    /// What takes no part, in the earlier tree neither.
    package private(set) var resting: Set<RelativePath> = []
    /// What somebody changed of it, which matters where it goes to the history.
    private(set) var restingDrift: [Drift] = []
    /// The manifest has entries that take no part.
    package private(set) var hasUncovered = false
    /// The directory of the target on whose entries nobody looks, since it takes no part.
    private var excludedDirectory: RelativePath?
    package private(set) var sourceCount = 0
    package private(set) var targetCount = 0
    package private(set) var census = HardLinkIndex()
    /// Directories of the target that hold what is excluded.
    package private(set) var withExcluded: Set<RelativePath> = []
    /// What is excluded in directories of the target that may move.
    package private(set) var excludedBelowMoving: [(path: RelativePath, status: FileStatus)] = []
    /// Paths that the source has for the mirror, and the target for something that is excluded.
    package private(set) var collisions: [RelativePath] = []
    /// What the mirror could not hold and nothing is done about.
    private(set) var omissions = OmissionList()

    /// The change times of entries of the target that the manifest has none of.
    package private(set) var targetTimes = TargetTimes()
    /// The number of the manifest's entry that comes next, from 0, among those that take part.
    private var recordNumber: UInt32 = 0

    /// What somebody changed in the target since the last apply.
    private(set) var drift: [Drift] = []

    /// Names that the target would take for one.
    private(set) var folding: NameFolding?

    /// Directories on the way to the present path whose object changed: what they hold has to be told where
    /// it belongs, settled or not.
    private var unsettled: [RelativePath] = []
    /// A source directory that could not be listed: the target keeps what is below it.
    private var unlisted: RelativePath?

    package init(_ policy: ComparisonPolicy) {
        self.policy = policy
        if policy.foldsNames { folding = NameFolding() }
    }

    package mutating func run<Manifest: EntryStream>(
        source: some EntryStream, target: some EntryStream, manifest: Manifest?
    ) throws {
        var trees = MergeJoin(source, target)
        var hasBase = try manifest?.advance() ?? false
        while try trees.advance() {
            let side = trees.side
            if side == .both, isAsRecorded(source, target, hasBase ? manifest : nil) {
                (sourceCount, targetCount) = (sourceCount + 1, targetCount + 1)
                folding?.admit(source.path)
                if hasBase, let manifest {
                    noteTime(of: target.status, manifest.targetChanged)
                    hasBase = try next(manifest)
                }
                continue
            }
            let path = trees.path
            let excluded = exclusions(side, source, target)
            var (base, isResting): (BaseEntry?, Bool) = (nil, false)
            while hasBase, let manifest {
                let order = manifest.path.order(comparedTo: path)
                if order > 0 { break }
                if order == 0 {
                    (base, isResting) = takeBase(
                        manifest, side == .left ? nil : target, isExcluded: excluded.target)
                } else {
                    leave(manifest)
                }
                hasBase = try next(manifest)
            }
            if side != .left {
                if let recorded = target.recorded {
                    base = BaseEntry(recorded)
                    if recorded.marks.contains(.uncovered) { hasUncovered = true }
                }
                if policy.isRecordItself { base = BaseEntry(of: target) }
            }
            leaveUnsettled(path)
            // What arrives there is recorded as what it is, if it arrives.
            if base != nil, side == .left { forget(path) }
            take(side, source, target, base, excluded, isResting: isResting)
            count(side, source, target, base, excluded, isResting: isResting, hasManifest: manifest != nil)
        }
        while hasBase, let manifest {
            leave(manifest)
            hasBase = try next(manifest)
        }
    }

    /// What takes no part on either side.
    private typealias Exclusions = (source: Bool, target: Bool)

    private func exclusions(
        _ side: MergeSide, _ source: some EntryStream, _ target: some EntryStream
    ) -> Exclusions {
        let isSourceExcluded = side != .right && source.exclusion != .none
        guard side != .left, !policy.deletesExcluded else { return (isSourceExcluded, false) }
        // Where both have it, the size in the source counts. A rule for directories leaves out no file of that name.
        let isTargetExcluded =
            (isSourceExcluded && (source.exclusion == .bySize || target.exclusion != .none))
            || target.exclusion == .byRule || (side == .right && target.exclusion == .bySize)
        return (isSourceExcluded, isTargetExcluded)
    }

    /// The manifest's entry of the present path.
    ///
    /// - Parameter target: nil where the target has none.
    /// - Returns: the base; none for what takes no part in the earlier tree either.
    private mutating func takeBase(
        _ manifest: some EntryStream, _ target: (some EntryStream)?, isExcluded: Bool
    ) -> (BaseEntry?, isResting: Bool) {
        let base = BaseEntry(manifest)
        guard let target else {
            noteDrift(of: base, manifest, target)
            return (base, false)
        }
        noteTime(of: target.status, base)
        // What takes no part may be edited at will.
        guard base.isUncovered,
            isExcluded || policy.recovered.map({ !$0.contains(manifest.path) }) ?? false
        else {
            noteDrift(of: base, manifest, target)
            return (base, false)
        }
        if isExcluded { return (base, true) }
        resting.insert(manifest.path)
        if base.differs(from: target.status) {
            restingDrift.append(
                Drift(recorded: manifest.file, base, found: target.file))
        }
        return (nil, true)
    }

    private mutating func take(
        _ side: MergeSide, _ source: some EntryStream, _ target: some EntryStream, _ base: BaseEntry?,
        _ excluded: Exclusions, isResting: Bool
    ) {
        if excluded.target {
            leaveExcluded(target, base)
            if side == .both, !excluded.source { collisions.append(target.path) }
        } else if excluded.source {
            if side == .both { takeDeparture(target, base) }
        } else {
            switch side {
            case .both: takeBoth(source, target, base, isResting: isResting)
            case .left: takeArrival(source, base)
            case .right: if !isProtected(target.path) { takeDeparture(target, base) }
            }
        }
    }

    private mutating func leaveExcluded(_ target: some EntryStream, _ base: BaseEntry?) {
        let path = target.path
        if let directory = path.parent, !directory.isRoot { withExcluded.insert(directory) }
        if !unsettled.isEmpty { excludedBelowMoving.append((path, target.status)) }
        if target.status.type == .directory { excludedDirectory = path }
        if let base, !base.isUncovered { uncover(target.file, base, isSeen: true) }
    }

    private mutating func count(
        _ side: MergeSide, _ source: some EntryStream, _ target: some EntryStream, _ base: BaseEntry?,
        _ excluded: Exclusions, isResting: Bool, hasManifest: Bool
    ) {
        if side != .right, !excluded.source {
            sourceCount += 1
            folding?.admit(source.path)
        }
        guard side != .left, !excluded.target else { return }
        targetCount += 1
        if base == nil, hasManifest, !isResting,
            !policy.mayHaveBeenExcluded(target.path, target.status.type)
        {
            drift.append(Drift(found: target.file))
        }
    }

    private mutating func next(_ manifest: some EntryStream) throws -> Bool {
        if manifest.marks.contains(.uncovered) { hasUncovered = true } else { recordNumber += 1 }
        return try manifest.advance()
    }

    /// Notes a change time that a commit accounts for, for the next manifest.
    private mutating func noteTime(of target: FileStatus, _ recorded: FileTime?) {
        guard recorded == nil, !policy.movesLater(target) else { return }
        targetTimes.append(target.changed, of: recordNumber)
    }

    private mutating func noteTime(of target: FileStatus, _ base: BaseEntry) {
        if !base.isUncovered, !base.differs(from: target),
            policy.trust?.accounts(for: target.changed) ?? false
        {
            noteTime(of: target, base.known.targetChanged)
        }
    }

    /// - Parameter target: on the record's entry; nil where the target has none.
    private mutating func noteDrift(
        of base: BaseEntry?, _ manifest: some EntryStream, _ target: (some EntryStream)?
    ) {
        guard let target else {
            guard !isProtected(manifest.path) else { return }
            drift.append(
                Drift(recorded: manifest.file, wasUncovered: manifest.marks.contains(.uncovered)))
            return
        }
        guard let base, base.differs(from: target.status) else { return }
        drift.append(Drift(recorded: manifest.file, base, found: target.file))
    }

    /// Takes in an object that is in no tree and that an entry of the source may turn out to be.
    mutating func offer(_ file: File, _ base: BaseEntry) {
        departures.append((file, base))
    }

    /// - Parameter isResting: the target's entry takes no part, and is known to be another object than the source's.
    private mutating func takeBoth(
        _ source: some EntryStream, _ target: some EntryStream, _ base: BaseEntry?, isResting: Bool
    ) {
        let isDirectory = source.status.type == .directory
        if isDirectory, !source.isListed { unlisted = source.path }
        let isOther =
            policy.followsIdentity && base.map { $0.status.identity != source.status.identity } ?? isResting
        if source.status.type != target.status.type || (isOther && source.isListed) {
            arrivals.append((source.file, base, source.isListed))
            departures.append((target.file, base))
            if isDirectory || target.status.type == .directory { unsettled.append(source.path) }
            return
        }
        let isLinkedAlike = census.admit(source.status, target.status, at: source.path, as: base)
        if isLinkedAlike, let base, isAsRecorded(source.status, target.status, base.known),
            !isBelowUnsettled(source.path),
            !policy.knowsExtended
                || (source.extended == target.extended && source.digest == target.digest),
            // No change time tells of them where the source is an earlier tree.
            !policy.identityTellsContent || source.extended == base.extended,
            policy.uncovering.isEmpty || !policy.uncovering.contains(source.path)
        {
            return
        }
        var match = Match(source: source.file, target: target.file, base: base)
        match.isMislinked = !isLinkedAlike
        match.compare(by: policy)
        omissions.add(match.source)
        if policy.uncovering.contains(source.path) || !match.causes.isEmpty || match.needsContentComparison
            || match.needsInspection
            || (!policy.isRecordItself && match.isStale(policy)) || isBelowUnsettled(source.path)
        {
            matches.append(match)
        }
    }

    /// Whether the entry that source and target are on is the recorded one, and nothing is to be done about it: the
    /// answer for all but a few, found without making a value.
    private func isAsRecorded(
        _ source: some EntryStream, _ target: some EntryStream, _ manifest: (some EntryStream)?
    ) -> Bool {
        guard unsettled.isEmpty, source.isListed, source.exclusion == .none, target.exclusion == .none,
            !policy.knowsExtended, !policy.identityTellsContent,
            source.status.type == .directory || (source.status.links == 1 && target.status.links == 1)
        else { return false }
        if let recorded = target.recorded {
            return isAsRecorded(source.status, target.status, recorded.base)
        }
        guard let manifest, manifest.path == source.path else { return false }
        return isAsRecorded(source.status, target.status, manifest.base)
    }

    /// The same of files and directories, whose statuses tell all but their extended attributes.
    private func isAsRecorded(_ source: FileStatus, _ target: FileStatus, _ base: BaseStatus) -> Bool {
        guard source.type == .file || source.type == .directory, source.type == target.type,
            base.omitted.isEmpty
        else { return false }
        return policy.compare(source, target, base, Comparison.Payload()).isEqual
            && (policy.isRecordItself || !policy.isStale(base, source, target))
    }

    private mutating func takeArrival(_ source: some EntryStream, _ base: BaseEntry?) {
        arrivals.append((source.file, base, source.isListed))
        guard source.status.type == .directory else { return }
        unsettled.append(source.path)
        if !source.isListed { unlisted = source.path }
    }

    private mutating func takeDeparture(_ target: some EntryStream, _ base: BaseEntry?) {
        departures.append((target.file, base))
        if target.status.type == .directory { unsettled.append(target.path) }
    }

    private func isProtected(_ path: RelativePath) -> Bool {
        unlisted.map { path.isBelow($0) } ?? false
    }

    /// An entry of the manifest that neither tree shows.
    private mutating func leave(_ manifest: some EntryStream) {
        guard let directory = excludedDirectory, manifest.path.isBelow(directory) else {
            noteDrift(of: nil, manifest, nil as FileList?)
            return forget(manifest.path)
        }
        guard !manifest.marks.contains(.uncovered) else { return }
        var file = manifest.file
        file = file.with(FileIdentity(inode: manifest.targetInode, created: nil))
        uncover(file, BaseEntry(manifest), isSeen: false)
    }

    private mutating func uncover(_ file: File, _ base: BaseEntry, isSeen: Bool) {
        var file = file
        (file.extended, file.omitted) = (base.extended, base.omitted)
        file.digest = base.known.isIntact(in: file.status) ? base.digest : nil
        uncovered.append((file, base, isSeen))
    }

    private mutating func forget(_ path: RelativePath) {
        if !isProtected(path) { forgotten.append(path) }
    }

    private mutating func leaveUnsettled(_ path: RelativePath) {
        while let last = unsettled.last, !path.isBelow(last) { unsettled.removeLast() }
    }

    private func isBelowUnsettled(_ path: RelativePath) -> Bool {
        unsettled.last.map { $0 == path.parent } ?? false
    }
}
