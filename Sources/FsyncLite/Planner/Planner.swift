import FileStorage
import FileSystem

/// Makes a plan for a source of either kind: scan, merge, difference, guards, in this order.
///
/// `plan` and `apply` do the same here, and write no file.
struct Planner {
    let root: TargetRoot
    let monitor: any Monitor

    /// The plan of the target as a mirror of a directory.
    ///
    /// - Parameter open: opens the source.
    func plan(
        mirroring open: () throws -> any SourceTree, _ options: SyncOptions
    ) throws -> PlannedSync {
        if options.allowsWeakCommit { try root.probe() }
        return try plan(trustingManifest: options.trustsManifest) { trustsManifest in
            try DirectorySource(open(), root, options, monitor, trustsManifest: trustsManifest)
        }
    }

    /// The plan of another directory as a copy of an earlier tree, or with paths of it.
    func plan(copying snapshot: CopiedSnapshot, _ restoration: Restoration) throws -> PlannedSync {
        try root.probe()
        return try plan(SnapshotCopy(snapshot, restoration, root, monitor))
    }

    /// The plan of the target as an earlier tree.
    func plan(_ restoration: Restoration) throws -> PlannedSync {
        try root.probe()
        return try plan(trustingManifest: restoration.keepsDrift) { trustsManifest in
            try SnapshotSource(restoration, root, monitor, trustsManifest: trustsManifest)
        }
    }

    /// - Parameter trustingManifest: a plan without a scan of the target is tried first.
    private func plan(
        trustingManifest: Bool, _ source: (_ trustsManifest: Bool) throws -> some PlanSource
    ) throws -> PlannedSync {
        if trustingManifest {
            do {
                return try plan(source(true))
            } catch  where (error as? SyncError)?.code != .interrupted {
                // A missing directory, or a symlink in its place. The scan that is needed reports any other error
                // again.
            }
        }
        return try plan(source(false))
    }

    private func plan(_ begun: consuming some PlanSource) throws -> PlannedSync {
        var source = begun
        if var plan = try source.planWithoutScan() {
            plan.exchanges = source.options.exchanges
            return source.planned(plan)
        }
        monitor.report(SyncProgress(.scanning))
        var merge = TreeMerge(try source.policy())
        let findings = try source.scan(into: &merge)
        var difference = try Difference(taking: &merge)
        try source.decide(&difference, merge)
        let domains = try domains(of: &difference, source)

        assert(difference.isBetweenEdits)
        var plan = Plan(
            difference, root: try source.rootMatch(merge.policy))
        plan.exchanges = source.options.exchanges
        plan.fileSystem = root.capabilities
        source.describe(&plan)
        let targets = findings?.targets ?? []
        if !targets.isEmpty {
            plan.problems = (plan.problems + targets.map { .otherTarget($0) }).sorted { $0.path < $1.path }
        }
        plan.notes += [try root.nestingNote()].compactMap(\.self)
        let facts = try facts(plan, source, merge, findings)
        plan.refusals = facts.refusals() + domains.refusals
        if plan.refusals.isEmpty { plan.givingWay = facts.givingWay ?? [] }
        source.conclude(&plan)
        var planned = source.planned(plan)
        planned.projects = domains.projects
        planned.need = facts.need
        planned.neededSteps = source.neededSteps
        return planned
    }

    /// Objects that cannot be moved into another project are copied if the source allows it.
    private func domains(
        of difference: inout Difference, _ source: some PlanSource
    ) throws -> TargetDomains {
        let found = try TargetDomains(difference, in: root)
        guard !found.obstacles.isEmpty else { return found }
        let movable = Set(difference.matches.lazy.filter { source.mayCopy($0) }.map(\.target.path))
        let copied = movable.intersection(found.obstacles.map(\.path))
        guard !copied.isEmpty else { return found }
        difference.copy(insteadOfMoving: copied)
        try source.rereadSource(of: &difference)
        return try TargetDomains(difference, in: root)
    }

    private func facts(
        _ plan: Plan, _ source: some PlanSource, _ merge: TreeMerge, _ findings: TreeScan.Findings?
    ) throws -> GuardFacts {
        var facts = GuardFacts(
            plan: plan, options: source.options, recorded: source.recorded, sources: source.identities,
            topCounts: merge.topCounts,
            info: try HistorySpace.info(root), capabilities: root.capabilities,
            root: root.original,
            mounts: findings?.mounts ?? [], targets: findings?.targets ?? [], locked: findings?.locked ?? [:],
            collisions: merge.folding?.collisions ?? [], rotten: source.rotten)
        facts.mounted = source.mounted
        if let directory = source.contents.resolver()?.root, !directory.isJoined,
            try directory.clonesFiles(to: root.anchor())
        {
            facts.clonedDevice = try directory.status().device
        }
        if source.recorded == nil, plan.difference.targetCount > 0 {
            facts.stateElsewhere = try root.stateOfOtherName()
            facts.hasHistory = try root.state?.transactions().isEmpty == false
        }
        if let rules = source.retention, let state = root.state {
            let found = try Retention(state).removal(
                by: rules.policy, after: plan.summary.actions > 0 ? plan.summary : nil, began: .now)
            facts.removal = (rules, found.removed, found.count)
        }
        try computeNeed(of: &facts, source.contents)
        guard !facts.shortage.isOver else { return facts }
        if source.retention?.removesWhenFull ?? false,
            let parts = try HistorySpace(root)?.parts(for: facts.shortage)
        {
            facts.givingWay = parts.flatMap(\.names)
        } else if let state = root.state {
            facts.prunable = try PrunableHistory(
                state, keeping: source.neededSteps, for: facts.shortage)
        }
        return facts
    }

    /// A manifest does not record the allocated space. For an earlier tree, the present objects are looked at.
    private func computeNeed(of facts: inout GuardFacts, _ contents: any ContentSource) throws {
        guard contents.isEarlier else {
            return facts.computeNeed { $0.status.allocated }
        }
        guard let resolver = contents.resolver() else {
            return facts.computeNeed { $0.isFile ? $0.size : 0 }
        }
        let sharesBlocks = try resolver.root.clonesFiles(to: root.anchor())
        let monitor = monitor
        try facts.computeNeed { file in
            guard file.isFile else { return 0 }
            guard !sharesBlocks else { return nil }
            try monitor.checkCancellation()
            return try resolver.status(of: file.path)?.allocated ?? 0
        }
    }
}

/// The source of a plan: a directory as it is now, or an earlier tree of a target. The calls come in this order.
protocol PlanSource {
    var contents: any ContentSource { get }
    /// The sources for the manifest.
    var identities: [ManifestHeader.Source] { get }
    var options: SyncOptions { get }
    /// The target's manifest and its totals, after the scan; nil without one.
    var recorded: (header: ManifestHeader, summary: ManifestSummary)? { get }
    /// The mounts in the source; nil if they are unknown.
    var mounted: [SourceMount]? { get }
    /// Files to be copied that changed since they were recorded, although no time shows an edit.
    var rotten: [RelativePath] { get }
    /// The rules that remove snapshots afterwards; nil if none is removed.
    var retention: RetentionRules? { get }
    /// The newest steps of the target's history that the plan needs.
    var neededSteps: Int { get }

    /// A plan if a scan makes no sense; else nil.
    func planWithoutScan() throws -> Plan?
    mutating func policy() throws -> ComparisonPolicy
    /// Merges source, target and manifest.
    ///
    /// - Returns: the findings of the target's scan; nil if there was none.
    mutating func scan(into merge: inout TreeMerge) throws -> TreeScan.Findings?
    /// Makes the decisions that the merge left open.
    mutating func decide(_ difference: inout Difference, _ merge: TreeMerge) throws
    /// Reads entries of the source again that were assumed to be unchanged and are needed now.
    func rereadSource(of difference: inout Difference) throws
    /// Whether a new object may be made instead of moving the old one.
    func mayCopy(_ match: Match) -> Bool
    /// The match of the roots; nil if the root is left unchanged or does not exist.
    func rootMatch(_ policy: ComparisonPolicy) throws -> Match?
    /// Adds problems and notes.
    func describe(_ plan: inout Plan)
    /// Adds the parts that depend on the refusals.
    func conclude(_ plan: inout Plan)
    func planned(_ plan: Plan) -> PlannedSync
}

/// The answers of an earlier tree.
extension PlanSource {
    var mounted: [SourceMount]? { nil }
    var rotten: [RelativePath] { [] }
    /// A restoration needs the history.
    var retention: RetentionRules? { nil }
    var neededSteps: Int { 0 }
    func rereadSource(of difference: inout Difference) throws {}
    func mayCopy(_ match: Match) -> Bool { false }
    func conclude(_ plan: inout Plan) {}
}

extension Match {
    /// The match of the roots, which are no entries: only the omissions of the target's root are recorded.
    ///
    /// - Parameter source: nil if the target's root is left unchanged.
    static func ofRoots(
        _ source: File?, _ target: TargetRoot, _ policy: ComparisonPolicy, _ header: ManifestHeader?
    ) throws -> Match? {
        guard let target = target.directory else { return nil }
        var policy = policy
        policy.knowsExtended = true
        let present = try File(rootOf: target, .readable)
        var match = Match(source: source ?? present, target: present)
        guard let source else { return match }
        let unread = source.omitted.intersection(.unread)
        if !unread.isEmpty { match.source.extended = present.extended }
        match.compare(by: policy)
        // They are valid only while the source's root is unchanged.
        let isSame = header?.rootChanged == Timestamp(match.source.status.changed)
        let omitted = isSame ? header?.rootOmitted ?? [] : []
        let causes: [(Omissions, Causes)] = [
            (.modified, .modified), (.mode, .mode), (.owner, .owner), (.owner, .group), (.xattrs, .xattrs),
            (.acls, .acls),
        ]
        for (omission, cause) in causes where omitted.contains(omission) { match.causes.remove(cause) }
        match.source.omitted = omitted.union(unread)
        return match
    }
}
