import FileStorage
import FileSystem

/// An earlier tree of a target, to which the target returns or of which another directory becomes a copy.
struct SnapshotSource: PlanSource {
    private let earlierTree: EarlierTree
    let options: SyncOptions
    private let root: TargetRoot
    private let monitor: any Monitor
    private let restoration: Restoration
    private let scanned: ManifestHeader.Scan
    /// The target that has the snapshot.
    private let holder: TargetRoot
    private let state: StateDirectory
    /// The present manifest's.
    private let header: ManifestHeader
    private let tree: ListTree
    /// The wanted list's.
    private let earlier: ManifestHeader
    private let copy: [UInt8]?
    /// The manifest stands in place of a scan of the target.
    private let trustsManifest: Bool

    /// Set if single paths are restored into a directory with other entries.
    private var pathCopy: PathCopy?
    private var problems: [Problem] = []
    private var notes: [String] = []
    private var changesCoverage = false
    /// What changed in the target since the last apply, and stays.
    private var kept: Set<RelativePath> = []
    private var leavesStrangers = false
    /// Entries that no apply brought, and that the manifest has all the same.
    private let taken: Set<RelativePath>
    /// Entries that the other directory cannot hold.
    private let leftOut = LeftOutEntries()

    private var isInPlace: Bool { restoration.destination == nil }
    /// Objects in the history are copied and not moved: until an exchange by links has swapped the trees, the old one
    /// needs them.
    private let copiesDisplaced: Bool
    private var isWhole: Bool { isInPlace && restoration.paths.isEmpty }

    init(
        _ restoration: Restoration, _ root: TargetRoot, _ monitor: any Monitor, trustsManifest: Bool
    ) throws {
        scanned = try ManifestHeader.Scan.now()
        self.trustsManifest = trustsManifest
        let holder = try TargetRoot(restoration.target)
        guard let directory = holder.directory, let state = holder.state else {
            throw SyncError(.inputMissing, path: restoration.target, "nothing was applied here")
        }
        guard let header = try state.manifest()?.header, !header.sources.isEmpty else {
            throw try state.noManifest(restoration.target)
        }
        (self.restoration, self.root, self.monitor) = (restoration, root, monitor)
        (self.holder, self.state, self.header) = (holder, state, header)
        let history = try History(state)
        let snapshots = try history.snapshots()
        let index = try SnapshotName.index(of: restoration.snapshot, in: snapshots)
        let lists = try TargetLists(history)
        copy = restoration.copy(of: snapshots[index])
        let isInPlace = restoration.destination == nil
        neededSteps = isInPlace ? index : 0
        let exchanges = isInPlace && restoration.exchanges ?? header.exchanged
        copiesDisplaced = exchanges && !root.isSubvolume
        let tree = try ListTree(
            lists, index, paths: restoration.paths, isInPlace: isInPlace, copiesDisplaced: copiesDisplaced,
            withoutUnchanged: trustsManifest)
        self.tree = tree
        var earlier = tree.header
        if earlier.sources.isEmpty { earlier.sources = header.sources }
        self.earlier = earlier
        // An undo goes past runs that only found what was changed by hand.
        let first = restoration.keepsDrift && index > 0 ? try lists.undoable(1, from: header).first ?? 0 : 0
        taken = Set(try lists.madeByHand(before: first))
        if restoration.keepsDrift {
            notes = SnapshotSource.note(
                "changed in the target between these applies, and taken back with them",
                try lists.changedByHand(between: first..<max(first, index)))
        } else if index > 0 {
            notes = SnapshotSource.note(of: tree.hand, in: tree, within: restoration.paths)
        }
        earlierTree = EarlierTree(
            directory, earlier: tree.root, linksFiles: restoration.linksFiles,
            location: { [changed = tree.changed] in changed.location(of: $0) })
        var options = restoration.options
        // The manifest records also what is not mirrored.
        options.attributes = header.attributes.union(earlier.attributes)
            .intersection(options.settableAttributes)
        options.exchanges = exchanges
        // No consent is asked for: a target with a history was written with it, and `--to` names the directory.
        options.allowsWeakCommit = true
        if let capabilities = root.capabilities {
            options.attributes = options.attributes.held(by: capabilities)
        }
        self.options = options
    }

    private func manifest(withUncovered: Bool = false) throws -> ManifestReader {
        try state.manifest(of: restoration.target, withUncovered: withUncovered)
    }

    var contents: any ContentSource { earlierTree }
    var identities: [ManifestHeader.Source] { header.sources }
    var recorded: (header: ManifestHeader, summary: ManifestSummary)? {
        isInPlace ? (header, ManifestSummary()) : nil
    }
    var rotten: [RelativePath] { [] }
    var mounted: [SourceMount]? { nil }
    /// A restoration needs the history.
    var retention: RetentionRules? { nil }
    /// Going back needs all steps to the snapshot.
    let neededSteps: Int

    func planWithoutScan() throws -> Plan? {
        if let copy, try root.holds(copy: copy, isAlone: !restoration.goesBesideOthers) {
            var plan = Plan(refusing: [])
            plan.notes = ["an earlier run had restored this, and was cut short at its very end"]
            return plan
        }
        guard !isInPlace else {
            let refusals =
                try (options.exchanges ? root.exchangeRefusals() : [])
                + [root.stateRefusal(exchanges: options.exchanges)].compactMap(\.self)
            return refusals.isEmpty ? nil : Plan(refusing: refusals)
        }
        var refusals = try Preconditions.refusals(
            { try Overlap.refusals(of: earlierTree.root, and: $0, Filters()) }, root, options)
        if restoration.isToSource, root.original?.identity != header.source?.identity {
            refusals.append(.otherSourceDirectory(root.path, isThere: root.original != nil))
        }
        if try root.state?.manifest() != nil {
            refusals.append(
                try root.state?.copy() == nil
                    ? .destinationIsTarget(root.path) : .unfinishedRestore(root.path))
        }
        if !restoration.isToSource, refusals.isEmpty, let refusal = try root.enclosingTargetRefusal() {
            refusals.append(refusal)
        }
        if let refusal = try linkRefusal() { refusals.append(refusal) }
        if refusals.isEmpty, let refusal = try occupiedRefusal() { refusals.append(refusal) }
        // A restore has no option that makes directories or leaves any out.
        let parent = LocalFile(bytes: root.path).parent
        refusals = refusals.map {
            switch $0.kind {
            case .noParent: .noParent(parent)
            case .overlap, .insideState, .insideTarget:
                Refusal($0.kind, $0.reason, .restoringBeside(earlierTree.root.path))
            default: $0
            }
        }
        return refusals.isEmpty ? nil : Plan(refusing: refusals)
    }

    /// A whole tree does not go beside other entries.
    private func occupiedRefusal() throws -> Refusal? {
        guard !restoration.goesBesideOthers, let directory = root.directory else { return nil }
        let others = try DirectoryListing.names(in: directory).filter {
            $0 != FileName.state && $0 != FileName.lostAndFound
        }
        guard !others.isEmpty else { return nil }
        return .occupiedDestination(root.path)
    }

    private func linkRefusal() throws -> Refusal? {
        guard restoration.linksFiles,
            try root.anchor().status().device != earlierTree.root.status().device
        else { return nil }
        return .linkToOtherFileSystem(root.path)
    }

    // MARK: Comparing

    func policy() throws -> ComparisonPolicy {
        var policy = ComparisonPolicy()
        policy.attributes = options.attributes
        policy.adapt(to: root.capabilities)
        policy.targetIsCopy = isInPlace && root.isCopy(of: header)
        if isInPlace {
            policy.earlier = ComparisonPolicy.Earlier(
                recovered: tree.returned.fromHistory.union(tree.recovered)
                    .union(restoration.keepsDrift ? tree.returned.new : []),
                uncovering: tree.uncovered, leftOutNames: tree.leftOutNames)
        }
        policy.mayWiden = isInPlace && !header.filters.lines.isEmpty
        policy.earlierFilters = Filters(header.filters)
        policy.commitSpans = try state.commitSpans(header)
        policy.hasOldTrees = try state.has(.trees)
        guard
            !trustsManifest
                || root.directory != nil && header.scanned != nil && !policy.targetIsCopy
                    && !tree.changesCoverage
        else { throw ManifestIsWrong() }
        policy.trustsTarget = trustsManifest
        return policy
    }

    mutating func scan(into merge: inout TreeMerge) throws -> TreeScan.Findings? {
        let entries = try tree.entries()
        let keepsMarks = try root.keepsMarks()
        guard root.capabilities != nil || !keepsMarks, !isInPlace else {
            return try scan(entries, into: &merge)
        }
        let held = HeldEntries(entries, in: root.capabilities, keepsMarks: keepsMarks, noting: leftOut)
        return try scan(held, into: &merge)
    }

    private mutating func scan(
        _ entries: any EntryStream, into merge: inout TreeMerge
    ) throws -> TreeScan.Findings? {
        guard let present = root.directory else {
            try merge.run(source: entries, target: FileList([]))
            return nil
        }
        if restoration.goesBesideOthers { return try scanBeside(entries, in: present, into: &merge) }
        if trustsManifest {
            let target = try RecordedTarget(tree.present()) { _, _ in true }
            try merge.run(source: entries, target: target)
            if !copiesDisplaced { try merge.offer(displaced: tree, in: earlierTree.root) }
            return nil
        }
        let (monitor, capabilities) = (monitor, root.capabilities)
        var options = TreeScan.Options.target.bounded.on(capabilities)
        options.leavesTargets = true
        let scan = try BackgroundScan { [options] in
            try TreeCursor(present, options, filter: nil, monitor: monitor)
        }
        if isInPlace {
            try merge.run(source: entries, target: scan, manifest: manifest(withUncovered: true))
            if !copiesDisplaced { try merge.offer(displaced: tree, in: earlierTree.root) }
        } else {
            try merge.run(source: entries, target: scan)
        }
        return scan.findings
    }

    /// Looks only at the paths that the copy has.
    private mutating func scanBeside(
        _ entries: any EntryStream, in directory: Directory, into merge: inout TreeMerge
    ) throws -> TreeScan.Findings {
        pathCopy = PathCopy(restoration, from: earlierTree, to: directory)
        let present = try PresentEntries(at: tree.entries(), in: directory)
        try merge.run(source: entries, target: present)
        var findings = TreeScan.Findings()
        (findings.mounts, findings.locked) = (present.mounts, present.locked)
        return findings
    }

    // MARK: Open decisions of the merge

    mutating func settle(_ difference: inout Difference, _ merge: TreeMerge) throws {
        difference.sourceCount += leftOut.problems.count
        if trustsManifest {
            difference.sourceCount += tree.leftOut
            difference.targetCount += tree.leftOut
        }
        if isInPlace {
            try settleInPlace(&difference)
        } else {
            if var copy = pathCopy {
                try copy.settle(&difference, options.attributes.extended, monitor)
                pathCopy = copy
            }
            let present = PathResolver(earlierTree.root)
            let lost = try difference.lost(tree) { try present.status(of: $0) }.sorted()
            difference.omit(lost)
            problems = lost.map(tree.problem)
            // Of files with a digest, the stage finds it out. In a copy of a target, inodes do not tell.
            if !holder.isCopy(of: header) {
                let written = try state.status(of: .manifest)?.modified
                let replaced = try tree.replaced(written: written, in: earlierTree.root)
                problems += difference.arriving.filter { file in
                    replaced.contains(file.path) && file.digest == nil
                }.map { .replaced($0.path) }
            }
        }
        changesCoverage = difference.changesCoverage(except: kept)
    }

    private mutating func settleInPlace(_ difference: inout Difference) throws {
        let present = PathResolver(earlierTree.root)
        try difference.settle(
            inspect: { match in
                let there = try present.extendedAttributes(of: match.target, .readable)
                return (match.source.extended, there ?? match.source.extended)
            },
            lookUp: { try present.extendedAttributes(of: $0, .readable) ?? $0.extended },
            haveSameContent: { _ in true })
        if trustsManifest, try !difference.confirm(in: earlierTree.root) { throw ManifestIsWrong() }
        // Otherwise what the plan touches is as recorded, and all of it is there.
        if !trustsManifest || !taken.isEmpty || difference.arriving.contains(where: { !$0.isDirectory }) {
            try settleEdits(in: &difference, present)
        }
        if try keepsRoot() { problems.append(.edited(.root)) }
    }

    private mutating func settleEdits(in difference: inout Difference, _ present: PathResolver) throws {
        let lost = difference.settleRecovered(tree)
        let staying: [String]
        (problems, staying, kept) = try difference.settleDrift(
            tree, filters: restoration.paths.isEmpty ? Filters(earlier.filters) : nil,
            isKept: restoration.keepsDrift, taken: taken, look: { try present.status(of: $0) })
        notes += staying
        leavesStrangers = !staying.isEmpty
        problems += lost
        // A removal by hand alone makes no step of the history.
        if restoration.keepsDrift { kept.formUnion(difference.forgotten) }
    }

    /// Names the first wanted entry that was changed in the target between the apply that made the tree and the run
    /// that found it, which recorded it as it was found.
    private static func note(
        of hand: ListLayer, in tree: ListTree, within paths: [RelativePath]
    ) -> [String] {
        let changed = hand.lines.values.filter { line in
            // No apply brought it: it is in the tree if the next run displaced it.
            guard let entry = line.entry else { return tree.isChanged(line.path) }
            return !entry.isUncovered && line.below == nil
        }.map(\.path)
        return note(
            "changed in the target after this snapshot was made, and restored as the next run found it",
            Set(changed.filter { paths.isEmpty || $0.isWithin(paths) }))
    }

    private static func note(_ what: String, _ paths: Set<RelativePath>) -> [String] {
        paths.min().map { ["\(what): \(Amount.list([$0.description], of: paths.count))"] } ?? []
    }

    func rereadSource(of difference: inout Difference) throws {}

    func mayCopy(_ match: Match) -> Bool { false }

    func rootMatch(_ policy: ComparisonPolicy) throws -> Match? {
        guard restoration.paths.isEmpty else {
            return isInPlace ? nil : try Match.ofRoots(nil, root, policy, nil)
        }
        var match = try Match.ofRoots(earlierTree.rootFile(policy.attributes.extended), root, policy, header)
        if try keepsRoot() { match?.keepTarget() }
        return match
    }

    /// The root has another owner, group or mode than the last apply gave it, and changes in the target stay.
    private func keepsRoot() throws -> Bool {
        guard isWhole, restoration.keepsDrift, let recorded = header.rootEntry,
            let found = try root.directory?.status()
        else { return false }
        return !found.equals(recorded.status, in: .access)
    }

    // MARK: Results

    func describe(_ plan: inout Plan) {
        plan.take(problems + leftOut.problems)
        plan.notes =
            (root.capabilities?.notes(leftOut: leftOut.kinds) ?? []) + notes + (pathCopy?.notes ?? [])
    }

    func conclude(_ plan: inout Plan) {
        plan.refusals += pathCopy?.refusals ?? []
        if !plan.refusals.isEmpty, let pathCopy { plan.notes.removeAll(where: pathCopy.notes.contains) }
    }

    /// The locations of what is copied or gets attributes, without the tree.
    private func contents(for difference: Difference) -> EarlierTree {
        var locations = PackedMap<PathCoding>()
        func add(_ path: RelativePath) {
            let location = tree.location(of: path)
            if location != path { locations[path] = (path, location) }
        }
        let (created, matches) = (difference.created, difference.matches)
        for index in created.indices { add(created.path(at: index)) }
        for index in matches.indices {
            let head = matches.head(at: index)
            if head.replacesContent || head.changesAttributes { add(matches.path(at: index)) }
        }
        let known = locations
        return EarlierTree(
            earlierTree.root, earlier: tree.root, linksFiles: restoration.linksFiles,
            location: { known[$0]?.other ?? $0 })
    }

    func planned(_ plan: Plan) -> PlannedSync {
        var planned = PlannedSync(
            plan, from: contents(for: plan.difference), identities, attributes: options.attributes,
            scanned: scanned)
        planned.isOfSource = false
        planned.copy = copy
        planned.leavesStrangers = leavesStrangers
        planned.trustsTarget = trustsManifest
        guard isInPlace else { return planned }
        planned.header = header
        planned.earlier = isWhole ? earlier : nil
        planned.isStep =
            changesCoverage
            || isWhole && (earlier.filters != header.filters || earlier.attributes != header.attributes)
        return planned
    }
}
