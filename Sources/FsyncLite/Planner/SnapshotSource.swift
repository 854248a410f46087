import FileStorage
import FileSystem

/// An earlier tree of a target, to which the target returns.
struct SnapshotSource: PlanSource {
    private let earlierTree: EarlierTree
    let options: SyncOptions
    private let root: TargetRoot
    private let monitor: any Monitor
    private let restoration: Restoration
    private let scanned: ManifestHeader.Scan
    private let state: StateDirectory
    /// The header of the present manifest.
    private let header: ManifestHeader
    private var tree: ListTree
    /// The header of the wanted list.
    private let earlier: ManifestHeader
    /// The manifest replaces a scan of the target.
    private let trustsManifest: Bool

    private var problems: [Problem] = []
    private var notes: [String] = []
    private var changesCoverage = false
    /// Entries that changed in the target since the last run, and are left unchanged.
    private var leftInPlace: Set<RelativePath> = []
    private var leavesStrangers = false
    /// Entries that no run made, although the manifest has them.
    private let handMade: Set<RelativePath>
    /// Objects in the history are copied, not moved. The old tree needs them until an exchange by links is done.
    private let copiesDisplaced: Bool
    private var isWhole: Bool { restoration.paths.isEmpty }

    init(
        _ restoration: Restoration, _ root: TargetRoot, _ monitor: any Monitor, trustsManifest: Bool
    ) throws {
        scanned = try ManifestHeader.Scan.now()
        self.trustsManifest = trustsManifest
        let found = try FoundSnapshot(of: restoration, in: root)
        let (lists, index) = (found.lists, found.index)
        (self.restoration, self.root, self.monitor) = (restoration, root, monitor)
        (state, header, neededSteps) = (found.state, found.header, index)
        let exchanges = restoration.exchanges ?? header.exchanged
        copiesDisplaced = exchanges && !root.isSubvolume
        tree = try ListTree(
            lists, index, in: found.directory, paths: restoration.paths, isInPlace: true,
            copiesDisplaced: copiesDisplaced,
            withoutUnchanged: trustsManifest)
        earlier = found.header(of: tree)
        // An undo skips runs that only found changes made by hand.
        let first = restoration.keepsDrift && index > 0 ? try lists.undoable(1, from: header).first ?? 0 : 0
        handMade = Set(try lists.madeByHand(before: first))
        notes =
            restoration.keepsDrift
            ? FoundSnapshot.note(
                "changed in the target between these runs, and taken back with them",
                try lists.changedByHand(between: first..<max(first, index)))
            : found.notes(on: tree, within: restoration.paths)
        notes += try found.notesOnDamage
        earlierTree = found.contents(tree)
        var options = restoration.options
        options.attributes = found.attributes(with: earlier).intersection(options.settableAttributes)
        options.exchanges = exchanges
        // No consent is needed: a target with a history was written with it.
        options.allowsWeakCommit = true
        options.attributes = options.attributes.stored(by: root.capabilities)
        self.options = options
    }

    var contents: any ContentSource { earlierTree }
    var identities: [ManifestHeader.Source] { header.sources }
    var recorded: (header: ManifestHeader, summary: ManifestSummary)? { (header, ManifestSummary()) }
    /// A return to the snapshot needs all steps since then.
    let neededSteps: Int

    func planWithoutScan() throws -> Plan? {
        let exchange = try options.exchanges ? root.exchangeRefusal() : nil
        let refusals = try [exchange, root.stateRefusal(exchanges: options.exchanges)].compactMap(\.self)
        return refusals.isEmpty ? nil : Plan(refusing: refusals)
    }

    // MARK: Comparing

    func policy() throws -> ComparisonPolicy {
        var policy = ComparisonPolicy()
        policy.attributes = options.attributes
        policy.adapt(to: root.capabilities)
        policy.targetIsCopy = root.isCopy(of: header)
        policy.earlier = ComparisonPolicy.Earlier(
            recovered: tree.returned.fromHistory.union(tree.recovered)
                .union(restoration.keepsDrift ? tree.returned.new : []),
            uncovering: tree.uncovered, leftOutNames: tree.leftOutNames)
        policy.mayWiden = !header.filters.lines.isEmpty
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
        let entries = try tree.takeEntries()
        guard let present = root.directory else {
            try merge.run(source: entries, target: FileList([]))
            return nil
        }
        if trustsManifest {
            let target = try RecordedTarget(tree.present()) { _, _ in true }
            try merge.run(source: entries, target: target)
            if !copiesDisplaced {
                try merge.offer(displaced: tree.changed, tree.takePlaces(), in: earlierTree.root)
            }
            return nil
        }
        let (monitor, capabilities) = (monitor, root.capabilities)
        var options = TreeScan.Options.target.bounded.on(capabilities)
        options.leavesTargets = true
        let scan = try BackgroundScan { [options] in
            try TreeCursor(present, options, filter: nil, monitor: monitor)
        }
        let manifest = try state.manifest(of: restoration.target, withUncovered: true)
        try merge.run(source: entries, target: scan, manifest: manifest)
        if !copiesDisplaced {
            try merge.offer(displaced: tree.changed, tree.takePlaces(), in: earlierTree.root)
        }
        return scan.findings
    }

    // MARK: Open decisions of the merge

    mutating func decide(_ difference: inout Difference, _ merge: TreeMerge) throws {
        if trustsManifest {
            difference.sourceCount += tree.leftOut
            difference.targetCount += tree.leftOut
        }
        let present = PathResolver(earlierTree.root)
        try difference.decide(
            inspect: { match in
                let there = try present.extendedAttributes(of: match.target, .readable)
                return (match.source.extended, there ?? match.source.extended)
            },
            lookUp: { try present.extendedAttributes(of: $0, .readable) ?? $0.extended },
            compare: { _ in [] })
        if trustsManifest, try !difference.confirm(in: earlierTree.root) { throw ManifestIsWrong() }
        // Otherwise the objects that the plan involves exist and are unchanged.
        if !trustsManifest || !handMade.isEmpty || difference.arriving.contains(where: { !$0.isDirectory }) {
            try decideEdits(in: &difference, present)
        }
        if try keepsRoot() { problems.append(.edited(.root)) }
        changesCoverage = difference.changesCoverage(except: leftInPlace)
    }

    private mutating func decideEdits(in difference: inout Difference, _ present: PathResolver) throws {
        let lost = difference.decideRecovered(tree)
        let staying: [String]
        (problems, staying, leftInPlace) = try difference.decideHandEdits(
            tree, filters: restoration.paths.isEmpty ? Filters(earlier.filters) : nil,
            keepsDrift: restoration.keepsDrift, handMade: handMade, look: { try present.status(of: $0) })
        notes += staying
        leavesStrangers = !staying.isEmpty
        problems += lost
        // A removal by hand alone makes no step of the history.
        if restoration.keepsDrift { leftInPlace.formUnion(difference.forgotten) }
    }

    func rootMatch(_ policy: ComparisonPolicy) throws -> Match? {
        guard restoration.paths.isEmpty else { return nil }
        var match = try Match.ofRoots(earlierTree.rootFile(policy.attributes.extended), root, policy, header)
        if try keepsRoot() { match?.keepTarget() }
        return match
    }

    /// Owner, group or mode of the root changed since the last run, and changes in the target are left in place.
    private func keepsRoot() throws -> Bool {
        guard isWhole, restoration.keepsDrift, let recorded = header.rootEntry,
            let found = try root.directory?.status()
        else { return false }
        return !found.equals(recorded.status, in: .access)
    }

    // MARK: Results

    func describe(_ plan: inout Plan) {
        plan.take(problems)
        plan.notes = (root.capabilities?.notes(leftOut: [:]) ?? []) + notes
    }

    /// The locations of entries that are copied or get attributes, without the tree.
    private func contents(for difference: Difference) -> EarlierTree {
        var locations = PackedMap<PathCoding>()
        func add(_ path: RelativePath) {
            let location = tree.location(of: path)
            if location != path { locations[path] = (path, location) }
        }
        let changes = difference.changes
        for index in changes.indices {
            let head = changes.head(at: index)
            if head.arrives || head.changesAttributes { add(changes.path(at: index)) }
        }
        let known = locations
        return EarlierTree(
            earlierTree.root, earlier: tree.root,
            location: { known[$0]?.other ?? $0 })
    }

    func planned(_ plan: Plan) -> PlannedSync {
        var planned = PlannedSync(
            plan, from: contents(for: plan.difference), identities, attributes: options.attributes,
            scanned: scanned)
        planned.isOfSource = false
        planned.leavesStrangers = leavesStrangers
        planned.trustsTarget = trustsManifest
        planned.header = header
        planned.earlier = isWhole ? earlier : nil
        planned.isStep =
            changesCoverage
            || isWhole && (earlier.filters != header.filters || earlier.attributes != header.attributes)
        return planned
    }
}
