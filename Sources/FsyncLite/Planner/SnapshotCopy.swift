import FileStorage
import FileSystem

/// An earlier tree of a target. Another directory becomes a copy of it, or gets some of its paths.
struct SnapshotCopy: PlanSource {
    let options: SyncOptions
    private let snapshot: CopiedSnapshot
    private let restoration: Restoration
    private let root: TargetRoot
    private let monitor: any Monitor
    private let scanned: ManifestHeader.Scan
    private let copy: [UInt8]
    /// Set if single paths are restored into a directory with other entries.
    private var pathCopy: PathCopy?
    private var problems: [Problem] = []
    /// Entries that the directory cannot store.
    private let leftOut = LeftOutEntries()

    init(
        _ snapshot: CopiedSnapshot, _ restoration: Restoration, _ root: TargetRoot, _ monitor: any Monitor
    ) throws {
        scanned = try ManifestHeader.Scan.now()
        (self.snapshot, self.restoration, self.root, self.monitor) = (snapshot, restoration, root, monitor)
        copy = restoration.copy(of: snapshot.id)
        var options = restoration.options
        options.attributes = snapshot.attributes.intersection(options.settableAttributes)
        // No consent is needed: `--to` names the directory.
        options.allowsWeakCommit = true
        options.attributes = options.attributes.stored(by: root.capabilities)
        self.options = options
    }

    var contents: any ContentSource { snapshot.contents }
    var identities: [ManifestHeader.Source] { snapshot.header.sources }
    var recorded: (header: ManifestHeader, summary: ManifestSummary)? { nil }

    func planWithoutScan() throws -> Plan? {
        if try root.holds(copy: copy, isAlone: !restoration.isBesideOthers) {
            var plan = Plan(refusing: [])
            plan.notes = ["an earlier restore, which was cut short, had already restored this"]
            return plan
        }
        let holder = contents.resolver()?.root
        var refusals = try Preconditions.refusals(
            { goal in try holder.flatMap { try overlap(of: $0, and: goal) }.map { [$0] } ?? [] }, root,
            options)
        if restoration.isToSource, root.original?.identity != snapshot.header.source?.identity {
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
        if refusals.isEmpty, let refusal = try occupiedRefusal() { refusals.append(refusal) }
        // A restore has no option that makes directories or leaves any out.
        let parent = LocalFile(bytes: root.path).parent
        refusals = refusals.map { refusal in
            switch refusal.kind {
            case .noParent: .noParent(parent)
            case .overlap, .insideState, .insideTarget:
                Refusal(
                    refusal.kind, refusal.reason,
                    holder.map { .restoringBeside($0.path) } ?? .restoringElsewhere)
            default: refusal
            }
        }
        return refusals.isEmpty ? nil : Plan(refusing: refusals)
    }

    /// Paths may be copied into a directory that contains the target, but not into the target.
    private func overlap(of holder: Directory, and goal: Overlap.Goal) throws -> Refusal? {
        let found = try Overlap.found(
            between: Overlap.places(of: holder), and: Overlap.chain(from: goal.directory),
            isThere: goal.isThere)
        switch found.first {
        // Its manifest shows that it is a target.
        case nil, .isTarget?: return nil
        case .inTarget?:
            if restoration.isBesideOthers,
                let place = try Overlap.path(from: goal.directory, to: holder),
                !restoration.paths.contains(where: { $0.isWithin([place]) || place.isWithin([$0]) })
            {
                return nil
            }
            return .overlap("the target lies inside the destination")
        case .holdsTarget?, .holdsSource?: return .overlap("the destination lies inside the target")
        }
    }

    /// A whole tree cannot be copied beside other entries.
    private func occupiedRefusal() throws -> Refusal? {
        guard !restoration.isBesideOthers, let directory = root.directory else { return nil }
        let others = try DirectoryListing.names(in: directory).filter {
            $0 != FileName.state && $0 != FileName.lostAndFound
        }
        guard !others.isEmpty else { return nil }
        return .occupiedDestination(root.path)
    }

    // MARK: Comparing

    func policy() throws -> ComparisonPolicy {
        var policy = ComparisonPolicy()
        policy.attributes = options.attributes
        policy.adapt(to: root.capabilities)
        policy.commitSpans = CommitSpans(spans: [])
        return policy
    }

    mutating func scan(into merge: inout TreeMerge) throws -> TreeScan.Findings? {
        let entries = try snapshot.entries()
        let keepsMarks = try root.keepsMarks()
        guard root.capabilities != nil || !keepsMarks else { return try scan(entries, into: &merge) }
        let storable = StorableEntries(
            entries, in: root.capabilities, keepsMarks: keepsMarks, noting: leftOut)
        return try scan(storable, into: &merge)
    }

    private mutating func scan(
        _ entries: any EntryStream, into merge: inout TreeMerge
    ) throws -> TreeScan.Findings? {
        guard let directory = root.directory else {
            try merge.run(source: entries, target: FileList([]))
            return nil
        }
        if restoration.isBesideOthers { return try scanBeside(entries, in: directory, into: &merge) }
        let (monitor, capabilities) = (monitor, root.capabilities)
        var options = TreeScan.Options.target.bounded.on(capabilities)
        options.leavesTargets = true
        let scan = try BackgroundScan { [options] in
            try TreeCursor(directory, options, filter: nil, monitor: monitor)
        }
        try merge.run(source: entries, target: scan)
        return scan.findings
    }

    /// Looks only at the paths that the copy has.
    private mutating func scanBeside(
        _ entries: any EntryStream, in directory: Directory, into merge: inout TreeMerge
    ) throws -> TreeScan.Findings {
        pathCopy = PathCopy(restoration, from: contents, to: directory)
        let present = try PresentEntries(at: snapshot.entries(), in: directory)
        try merge.run(source: entries, target: present)
        var findings = TreeScan.Findings()
        (findings.mounts, findings.locked) = (present.mounts, present.locked)
        return findings
    }

    // MARK: Open decisions of the merge

    mutating func decide(_ difference: inout Difference, _ merge: TreeMerge) throws {
        difference.sourceCount += leftOut.problems.count
        if var copy = pathCopy {
            problems += try copy.decide(&difference, options, monitor)
            pathCopy = copy
        }
        let faults = try snapshot.faults()
        let lost = faults.lost.filter { difference.copies($0.path) }
        difference.omit(lost.map(\.path))
        problems += lost + faults.replaced.filter { difference.copies($0.path) }
    }

    func rootMatch(_ policy: ComparisonPolicy) throws -> Match? {
        let source = restoration.paths.isEmpty ? try contents.rootFile(policy.attributes.extended) : nil
        return try Match.ofRoots(source, root, policy, nil)
    }

    // MARK: Results

    func describe(_ plan: inout Plan) {
        plan.take(problems + leftOut.problems)
        plan.notes =
            (root.capabilities?.notes(leftOut: leftOut.kinds) ?? []) + snapshot.notes
            + (pathCopy?.notes ?? [])
    }

    func conclude(_ plan: inout Plan) {
        plan.refusals += pathCopy?.refusals ?? []
        if !plan.refusals.isEmpty, let pathCopy { plan.notes.removeAll(where: pathCopy.notes.contains) }
    }

    func planned(_ plan: Plan) -> PlannedSync {
        var planned = PlannedSync(
            plan, from: contents, identities, attributes: options.attributes, scanned: scanned)
        planned.isOfSource = false
        planned.copy = copy
        return planned
    }
}

extension Difference {
    /// Whether the content of an entry has to come from the source.
    fileprivate func copies(_ path: RelativePath) -> Bool {
        if changes.index(of: .created, at: path) != nil {
            if case .existing? = links[path] { return false }
            return true
        }
        return changes.index(of: .match, at: path).map { changes.head(at: $0).replacesContent } ?? false
    }
}
