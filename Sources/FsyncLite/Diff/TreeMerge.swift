import FileStorage
import FileSystem

/// The merge of source, target and manifest: three streams in one order, in one pass, without I/O of its own.
///
/// An entry is *settled* if the source's object is the one that the manifest recorded at that path. It is compared at
/// once, and stored only if it needs a change. Other entries become arrivals and departures.
/// `Difference.init(matching:)` pairs those.
package struct TreeMerge {
    package let policy: ComparisonPolicy

    /// Objects that keep their path and need a change, of themselves or of their manifest entry.
    package internal(set) var matches = ChangeList()
    /// Entries of the source without a settled counterpart.
    var arrivals = ChangeList()
    /// Directories among them that could not be listed.
    private(set) var unlistedArrivals: Set<RelativePath> = []
    private var arrivalBytes = 0
    /// Entries of the target without a settled counterpart.
    var departures = ChangeList()
    package typealias Departure = (file: File, base: BaseEntry?)
    /// The findings about target and manifest.
    package private(set) var findings: ManifestFindings
    package private(set) var sourceCount = 0
    package private(set) var targetCount = 0
    /// The entries at the top, and how many entries of both trees precede each.
    package private(set) var tops: [(path: RelativePath, source: Int, target: Int)] = []
    package private(set) var linkIndex = HardLinkIndex()
    /// Directories of the target that contain excluded entries.
    package private(set) var withExcluded: Set<RelativePath> = []
    /// Excluded entries in directories of the target that may move.
    package private(set) var excludedBelowMoving: [(path: RelativePath, status: FileStatus)] = []
    /// Paths that are excluded in the target and not in the source.
    package private(set) var collisions: [RelativePath] = []
    /// Attributes that the target could not store and that are not tried again.
    private(set) var omissions = OmissionList()

    /// New entries that their owner in the source may not read, but their owner in the target may.
    private(set) var opened: (first: RelativePath, count: Int)?

    private(set) var folding: NameFolding?
    /// Directories above the present path with another object than before. Entries in them become matches even if they
    /// are settled. These are the lengths of the paths; each path is a prefix of the next one.
    private var unsettled: [Int] = []
    private var unsettledPath = RelativePath.root
    /// An entry of the source that could not be looked at, or a directory that could not be listed. The target's
    /// entries there and below are left unchanged.
    private var unlisted: RelativePath?
    /// The entries that could not be looked at; `isInTarget` if the target has one at the path.
    private(set) var unseen: [(path: RelativePath, isInTarget: Bool)] = []
    /// Another target in the tree of this one. It is left unchanged.
    private var otherTarget: RelativePath?

    package init(_ policy: ComparisonPolicy) {
        self.policy = policy
        findings = ManifestFindings(policy)
        folding = NameFolding(policy.merging.folding)
    }

    /// The numbers of entries of both trees below each entry at the top.
    package var topCounts: [RelativePath: (source: Int, target: Int)] {
        let ends = tops.dropFirst().map { ($0.source, $0.target) } + [(sourceCount, targetCount)]
        return Dictionary(
            uniqueKeysWithValues: zip(tops, ends).map { top, end in
                (top.path, (end.0 - top.source, end.1 - top.target))
            })
    }

    /// - Parameter manifest: nil if there is none, or if the target's stream has the recorded entries.
    package mutating func run(
        source: any EntryStream, target: any EntryStream, manifest: (any EntryStream)? = nil
    ) throws {
        try run(AnyEntries(source), AnyEntries(target), manifest.map(AnyEntries.init))
    }

    /// The same, compiled for the streams of most runs.
    mutating func run<Manifest: EntryStream>(
        _ source: some EntryStream, _ target: some EntryStream, _ manifest: Manifest?
    ) throws {
        guard let manifest else { return try join(source, target, FileList([])) }
        findings.hasManifest = true
        try join(source, target, manifest)
    }

    private mutating func join<Manifest: EntryStream>(
        _ source: some EntryStream, _ target: some EntryStream, _ manifest: Manifest
    ) throws {
        var entries = MergeJoin(MergeJoin(source, target), manifest)
        while try entries.advance() {
            switch entries.side {
            case .left: try take(entries.left.side, source, target, nil as Manifest?)
            case .both: try take(entries.left.side, source, target, manifest)
            case .right: findings.leave(manifest, isProtected: isProtected(manifest.path))
            }
            if entries.side != .left { findings.pass(manifest) }
        }
    }

    /// - Parameters:
    ///   - side: which trees have the entry.
    ///   - manifest: nil if it lacks the entry.
    private mutating func take(
        _ side: MergeSide, _ source: some EntryStream, _ target: some EntryStream,
        _ manifest: (some EntryStream)?
    ) throws {
        if policy.merging.countsTops { countTop(side == .right ? target.path : source.path) }
        if side == .both, isAsRecorded(source, target, manifest) {
            (sourceCount, targetCount) = (sourceCount + 1, targetCount + 1)
            folding?.admit(source.path)
            if let manifest { findings.noteTime(of: target.status, manifest.targetChanged) }
            return
        }
        var side = side
        if side != .right, source.sight == .unseen, source.exclusion == .none,
            !(otherTarget.map(source.path.isBelow) ?? false)
        {
            leaveUnseen(source, isInTarget: side == .both)
            guard side == .both else {
                if let manifest { _ = findings.baseOfMissing(manifest, isProtected: true) }
                return
            }
            side = .right
        }
        let excluded = exclusions(side, source, target)
        let (base, resting) = base(side, target, manifest, excluded)
        leaveUnsettled(side == .right ? target.path : source.path)
        try take(side, source, target, base, excluded, resting: resting)
        count(side, source, target, base, excluded, isResting: resting != nil)
    }

    private mutating func leaveUnseen(_ source: some EntryStream, isInTarget: Bool) {
        unlisted = source.path
        unseen.append((source.path, isInTarget))
        sourceCount += 1
        folding?.admit(source.path)
    }

    private mutating func countTop(_ path: RelativePath) {
        guard !path.bytes.contains(UInt8(ascii: "/")) else { return }
        tops.append((path, sourceCount, targetCount))
    }

    /// Which sides are excluded.
    private typealias Exclusions = (source: Bool, target: Bool)

    private mutating func exclusions(
        _ side: MergeSide, _ source: some EntryStream, _ target: some EntryStream
    ) -> Exclusions {
        if side != .left, target.exclusion == .asTarget {
            otherTarget = target.path
            return (side == .both, true)
        }
        let isSourceExcluded =
            side != .right && (source.exclusion != .none || otherTarget.map(source.path.isBelow) ?? false)
        guard side != .left, !policy.merging.deletesExcluded else { return (isSourceExcluded, false) }
        // If both are files, the source's exclusion decides. A rule for directories does not exclude a file of that
        // name, and a rule for sizes excludes only files.
        let isTargetExcluded =
            (isSourceExcluded
                && (source.exclusion == .byStatus
                    ? target.status.type == source.status.type : target.exclusion != .none))
            || target.exclusion == .byRule || (side == .right && target.exclusion == .byStatus)
        return (isSourceExcluded, isTargetExcluded)
    }

    private mutating func base(
        _ side: MergeSide, _ target: some EntryStream, _ manifest: (some EntryStream)?, _ excluded: Exclusions
    ) -> (BaseEntry?, resting: BaseEntry?) {
        if side == .left {
            let base = manifest.map { findings.baseOfMissing($0, isProtected: isProtected($0.path)) }
            return (base, nil)
        }
        if let manifest { return findings.base(manifest, target, isExcluded: excluded.target) }
        if let recorded = target.recorded { return (findings.base(recorded), nil) }
        return (policy.targetIsBase ? BaseEntry(of: target) : nil, nil)
    }

    private mutating func take(
        _ side: MergeSide, _ source: some EntryStream, _ target: some EntryStream, _ base: BaseEntry?,
        _ excluded: Exclusions, resting: BaseEntry?
    ) throws {
        if excluded.target {
            leaveExcluded(target, base)
            if side == .both, !excluded.source { collisions.append(target.path) }
        } else if excluded.source {
            if side == .both { takeDeparture(target, base, resting) }
        } else {
            switch side {
            case .both: takeBoth(source, target, base, resting: resting)
            case .left: try takeArrival(source, base)
            case .right: if !isProtected(target.path) { takeDeparture(target, base, resting) }
            }
        }
    }

    private mutating func leaveExcluded(_ target: some EntryStream, _ base: BaseEntry?) {
        let path = target.path
        if let directory = path.parent, !directory.isRoot { withExcluded.insert(directory) }
        if !unsettled.isEmpty { excludedBelowMoving.append((path, target.status)) }
        findings.exclude(target, base)
    }

    private mutating func count(
        _ side: MergeSide, _ source: some EntryStream, _ target: some EntryStream, _ base: BaseEntry?,
        _ excluded: Exclusions, isResting: Bool
    ) {
        if side != .right, !excluded.source {
            sourceCount += 1
            folding?.admit(source.path)
        }
        guard side != .left, !excluded.target else { return }
        targetCount += 1
        if base == nil, !isResting { findings.noteNew(target) }
    }

    /// Adds an object outside both trees that may match an entry of the source.
    mutating func offer(_ file: File, _ base: BaseEntry) { addDeparture((file, base)) }

    /// - Parameter resting: the base of an uncovered target entry that is another object than the source's.
    private mutating func takeBoth(
        _ source: some EntryStream, _ target: some EntryStream, _ base: BaseEntry?, resting: BaseEntry?
    ) {
        let isDirectory = source.status.type == .directory
        if isDirectory, !source.isListed { unlisted = source.path }
        let isOther =
            policy.followsIdentity && policy.mayBeSame(source.path, source.path)
            && base.map { policy.key(of: $0) != policy.key(source.status, source.object) }
                // An older list has no object that was made by hand.
                ?? (resting != nil || policy.pairsByNumber)
        if source.status.type != target.status.type || (isOther && source.isListed) {
            let file = source.file
            addArrival(source, file, base)
            addDeparture((found(target, base ?? resting, at: file.path), base))
            if isDirectory || target.status.type == .directory { addUnsettled(source.path) }
            return
        }
        let isLinkedAlike = linkIndex.admit(
            source.status.paired(by: policy, source.object), target.status, at: source.path, as: base,
            // A file that somebody edited is not the one of an older list.
            mayBeCounterpart: !policy.pairsByNumber
                || base.map { policy.object(of: target.status, $0) == source.object } ?? false)
        if isLinkedAlike, let base, isAsRecorded(source.status, target.status, base.known),
            !isBelowUnsettled(source.path),
            !policy.knowsExtended
                || (source.extended == target.extended && source.digest == target.digest),
            // If the source is an earlier tree, change times do not show changes of extended attributes.
            !policy.pairsByNumber || source.extended == base.extended,
            policy.uncovering.isEmpty || !policy.uncovering.contains(source.path)
        {
            return
        }
        let file = source.file
        var match = Match(source: file, target: found(target, base ?? resting, at: file.path), base: base)
        match.isMislinked = !isLinkedAlike
        match.compare(by: policy)
        omissions.add(match.source)
        if policy.uncovering.contains(source.path) || !match.causes.isEmpty || match.needsContentComparison
            || match.needsInspection
            || (!policy.targetIsBase && match.isStale(policy)) || isBelowUnsettled(source.path)
        {
            matches.append(.match(match))
        }
    }

    /// Whether source and target have the recorded entry and need no change. It is true for almost every entry, and
    /// found without allocating.
    private func isAsRecorded(
        _ source: some EntryStream, _ target: some EntryStream, _ manifest: (some EntryStream)?
    ) -> Bool {
        guard unsettled.isEmpty, source.isListed, source.exclusion == .none, target.exclusion == .none,
            !policy.knowsExtended, !policy.pairsByNumber || policy.trustsTarget && source.isPresent
        else { return false }
        let (sourceStatus, targetStatus) = (source.status, target.status)
        guard sourceStatus.type == .directory || (sourceStatus.links == 1 && targetStatus.links == 1) else {
            return false
        }
        // Both entries are the same line.
        if policy.pairsByNumber { return true }
        if let recorded = target.recorded { return isAsRecorded(sourceStatus, targetStatus, recorded.base) }
        return manifest.map { isAsRecorded(sourceStatus, targetStatus, $0.base) } ?? false
    }

    /// The same for files and directories. Their statuses show all changes except those of extended attributes.
    private func isAsRecorded(_ source: FileStatus, _ target: FileStatus, _ base: BaseStatus) -> Bool {
        guard source.type == .file || source.type == .directory, source.type == target.type,
            base.omitted.isEmpty
        else { return false }
        // Here, entries of two lists are those of one object.
        let payload = Comparison.Payload(isSameObject: policy.pairsByNumber)
        return policy.compare(source, target, base, payload).isEqual
            && (policy.targetIsBase || !policy.isStale(base, source, target))
    }

    private mutating func addArrival(_ source: some EntryStream, _ file: File, _ base: BaseEntry?) {
        arrivals.append(
            .created(file, isDrift: base.map { policy.key(of: $0) == policy.key(of: file) } ?? false))
        if !source.isListed { unlistedArrivals.insert(file.path) }
    }

    private mutating func takeArrival(_ source: some EntryStream, _ base: BaseEntry?) throws {
        // A plan needs up to 250 bytes for each arrival, and its path.
        arrivalBytes += 250 + source.withPathBytes(\.count)
        guard arrivalBytes < policy.merging.arrivalMemory else {
            throw SyncError(.tooManyEntries(arrivals.count))
        }
        addArrival(source, arriving(source), base)
        guard source.status.type == .directory else { return }
        addUnsettled(source.path)
        if !source.isListed { unlisted = source.path }
    }

    /// The entry as it is made. If its owner is not mirrored, this user becomes the owner.
    private mutating func arriving(_ source: some EntryStream) -> File {
        guard let status = policy.opened(source.status) else { return source.file }
        opened = (opened?.first ?? source.path, (opened?.count ?? 0) + 1)
        return source.file.with(status)
    }

    /// The target's entry. It gets the recorded number if its object is the recorded one.
    private func found(_ target: some EntryStream, _ base: BaseEntry?, at path: RelativePath) -> File {
        var file = target.file(at: path)
        if let base { file.object = policy.object(of: file.status, base) }
        return file
    }

    private mutating func takeDeparture(
        _ target: some EntryStream, _ base: BaseEntry?, _ resting: BaseEntry?
    ) {
        addDeparture((found(target, base ?? resting, at: target.path), base))
        if target.status.type == .directory { addUnsettled(target.path) }
    }

    private mutating func addDeparture(_ departure: Departure) {
        departures.append(.deleted(departure.file, isDrift: false, base: departure.base))
    }

    private func isProtected(_ path: RelativePath) -> Bool {
        unlisted.map { path == $0 || path.isBelow($0) } ?? false
    }

    private mutating func addUnsettled(_ path: RelativePath) {
        unsettled.append(path.bytes.count)
        unsettledPath = path
    }

    private mutating func leaveUnsettled(_ path: RelativePath) {
        guard !unsettled.isEmpty else { return }
        let shared = path.firstDifference(from: unsettledPath)
        while let length = unsettled.last,
            shared < length || path.bytes.count <= length || path.bytes[length] != UInt8(ascii: "/")
        {
            unsettled.removeLast()
        }
    }

    /// - Parameter path: the present one.
    private func isBelowUnsettled(_ path: RelativePath) -> Bool {
        unsettled.last.map { path.bytes.lastIndex(of: UInt8(ascii: "/")) == $0 } ?? false
    }
}
