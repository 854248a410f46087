import FileStorage
import FileSystem

/// A directory as it is now, with its filters.
struct DirectorySource: PlanSource {
    let tree: any SourceTree
    let options: SyncOptions
    let root: TargetRoot
    private let monitor: any Monitor
    private let scanned: ManifestHeader.Scan
    /// The filters' decisions, once the scan has begun.
    private var decide: Filters.Decisions = { _, _, _ in .includedByDefault }
    private let targetFileSystem: String?
    /// The target's manifest was requested in place of a scan.
    let trustsManifest: Bool

    private(set) var manifest: ManifestReader?
    private(set) var isTargetRecorded = false
    private(set) var rotten: [RelativePath] = []
    private(set) var retention: RetentionRules?
    var mounted: [SourceMount]? { findings.mounted }
    /// The mounts to record in the manifest.
    private var mounts: [SourceMount] = []
    private(set) var findings = TreeScan.Findings()
    /// Entries that the target cannot store.
    let leftOut = LeftOutEntries()
    private(set) var problems: [Problem] = []
    /// The attributes that the target lacks, of entries below its root.
    private(set) var omissions = OmissionList()
    private var passedOver: [RelativePath] = []
    /// See `TreeMerge`.
    private(set) var opened: (first: RelativePath, count: Int)?
    private var isRecordOutdated = false
    private var isStep = false
    /// Number of files that were read only because their change time moved, and were equal.
    private(set) var movedTimes = 0

    var contents: any ContentSource { tree }
    var identities: [ManifestHeader.Source] { tree.facts.identities }
    var header: ManifestHeader? { manifest?.header }
    var attributes: MirroredAttributes { options.settableAttributes }
    /// Comparisons are requested; results of earlier runs are not used.
    var isComparisonAsked: Bool { options.comparesContent || !options.repairs.isEmpty }

    init(
        _ source: any SourceTree, _ root: TargetRoot, _ options: SyncOptions, _ monitor: any Monitor,
        trustsManifest: Bool
    ) throws {
        scanned = try ManifestHeader.Scan.now()
        tree = source
        var options = options
        options.attributes = options.attributes.stored(by: root.capabilities)
        (self.root, self.options, self.monitor) = (root, options, monitor)
        targetFileSystem = try root.directory?.fileSystemUUID()
        self.trustsManifest = trustsManifest
    }

    /// Change times and inodes of the sources are meaningful.
    var keepsIdentity: Bool { tree.facts.keepsIdentity.allSatisfy(\.self) }

    var recorded: (header: ManifestHeader, summary: ManifestSummary)? {
        manifest.map { ($0.header, $0.summary) }
    }

    func planWithoutScan() throws -> Plan? {
        var refusals = try Preconditions.refusals(
            { try tree.overlaps(with: $0, options.filters) }, root, options)
        if refusals.isEmpty, root.state == nil, let refusal = try root.enclosingTargetRefusal() {
            refusals.append(refusal)
        }
        let keepsIdentity = tree.facts.keepsIdentity
        if let weak = zip(identities, keepsIdentity).first(where: { !$0.1 })?.0, keepsIdentity.contains(true)
        {
            refusals.append(.weakSourceAmongOthers(weak.title))
        }
        return refusals.isEmpty ? nil : Plan(refusing: refusals)
    }

    // MARK: Comparing

    mutating func policy() throws -> ComparisonPolicy {
        let settings = try root.state?.settings()
        manifest = try root.state?.manifest(withUncovered: true)
        if options.repairs.isEmpty {
            retention = options.retention.rules(
                stored: header?.retention, settings?.rules ?? RetentionPolicy())
        }
        var policy = ComparisonPolicy()
        policy.attributes = attributes
        policy.merging.deletesExcluded = options.deletesExcluded
        policy.suspects = options.repairs
        policy.merging.folding = try root.anchor().foldsNames() ? [.ofCase, .ofForms] : []
        policy.adapt(to: root.capabilities)
        policy.targetIsCopy = root.isCopy(of: header)
        policy.linkLimit = try FileSystemInfo(of: root.anchor()).linkLimit
        policy.alwaysInspects = header?.attributes != policy.attributes
        if let header, let state = root.state {
            policy.commitSpans = try state.commitSpans(header)
            policy.hasOldTrees = try state.has(.trees)
        }
        policy.keepsIdentity = keepsIdentity
        policy.mayWiden =
            header.map {
                $0.filters != options.filters.summary || options.filters.dependOnTree
                    || options.deletesExcluded
            } ?? false
        policy.earlierFilters = header.flatMap { Filters($0.filters) }
        let racyCheck = racyCheck()
        policy.racyCheck = racyCheck
        policy.probes = SettlingProbes(racyCheck)
        if let previous = racyCheck.previous,
            previous.clock.boot != racyCheck.clock.boot || header?.disks ?? "" != tree.facts.disks
        {
            policy.lastingUntil = previous.scanned.advanced(bySeconds: -racyCheck.window)
        }
        policy.replacesShared = !tree.facts.isRemote
        // Without a manifest, equal times do not mean equal content.
        policy.alwaysComparesContent = policy.commitSpans == nil || options.comparesContent
        // Inodes of another disk cannot be compared.
        let domains = IdentityDomains(
            identities, on: tree.facts.devices, recorded: header?.sources ?? [])
        policy.followsIdentity = keepsIdentity && !domains.isEmpty
        policy.merging.countsTops = isJoined
        if isJoined { policy.haveSameDomain = { domains.mayBeSame($0, $1) } }
        if tree.facts.isRemote { policy.merging.arrivalMemory = HostProcess.memory / 2 }
        isTargetRecorded = trustsManifest && isTargetKnown(policy)
        policy.trustsTarget = isTargetRecorded
        return policy
    }

    /// There are several sources, with names.
    var isJoined: Bool { identities.contains { $0.name != nil } }

    private func racyCheck() -> RacyCheck {
        var check = tree.facts.racyCheck
        check.previous = (header?.sourceScanned ?? header?.scanned).map { ($0.time.fileTime, $0.clock) }
        check.usesChangeTime = keepsIdentity
        return check
    }

    /// The manifest covers enough of the target to replace a scan.
    private func isTargetKnown(_ policy: ComparisonPolicy) -> Bool {
        guard let header else { return false }
        return !policy.targetIsCopy && !policy.alwaysComparesContent && !policy.alwaysInspects
            && options.repairs.isEmpty
            && header.scanned != nil && header.filters == options.filters.summary
            // Excluded entries are in no manifest.
            && (!options.deletesExcluded || options.filters.isEmpty)
    }

    mutating func scan(into merge: inout TreeMerge) throws -> TreeScan.Findings? {
        guard let record = record(merge.policy) else { return try scan(into: &merge, record: nil) }
        let begun = merge
        do {
            return try scan(into: &merge, record: record)
        } catch is SourceHasChanged {
            merge = begun
            manifest = try root.state?.manifest(withUncovered: true)
            return try scan(into: &merge, record: record)
        }
    }

    /// - Parameter record: entries that the source need not list again.
    private mutating func scan(
        into merge: inout TreeMerge, record: SourceRecord?
    ) throws -> TreeScan.Findings? {
        let sourceScan = try tree.scan(
            options.filters, prefetching(.source.apart(from: [root.original].compactMap(\.self))), monitor,
            record: record)
        let rules = try tree.rules()
        decide = options.filters.decisions(by: rules)
        let keepsMarks = try root.keepsMarks()
        let target =
            root.capabilities == nil && keepsMarks
            ? try scan(sourceScan, rules, into: &merge)
            : try scan(
                StorableEntries(sourceScan, in: root.capabilities, keepsMarks: keepsMarks, noting: leftOut),
                rules, into: &merge)
        findings = sourceScan.findings
        findings.problems += target?.problems.filter { !findings.problems.contains($0) } ?? []
        return target
    }

    /// The same with the entries of the source.
    private func scan(
        _ source: any EntryStream, _ rules: DirectoryRules, into merge: inout TreeMerge
    ) throws -> TreeScan.Findings? {
        if isTargetRecorded, let manifest {
            let decide = decide
            let target = RecordedTarget(manifest) { try decide($0, $1.type, $1.size).isExcluded }
            try DirectorySource.run(&merge, source, target, nil)
            return nil
        }
        guard let directory = root.directory else {
            try DirectorySource.run(&merge, source, FileList([]), manifest)
            return nil
        }
        let filters = options.deletesExcluded ? Filters() : options.filters
        var scanOptions = try prefetching(.target.bounded.apart(from: tree.roots)).on(root.capabilities)
        scanOptions.leavesTargets = !options.deletesTargets
        let monitor = monitor
        let targetScan = try BackgroundScan { [scanOptions] in
            try TreeCursor(directory, scanOptions, filter: FilteredWalk(filters, rules), monitor: monitor)
        }
        try DirectorySource.run(&merge, source, targetScan, manifest)
        return targetScan.findings
    }

    /// The merge is compiled for a source whose entries the target can store completely.
    private static func run(
        _ merge: inout TreeMerge, _ source: any EntryStream, _ target: some EntryStream,
        _ manifest: ManifestReader?
    ) throws {
        if let source = source as? BackgroundScan {
            try merge.run(source, target, manifest)
        } else {
            try merge.run(source: source, target: target, manifest: manifest)
        }
    }

    private func prefetching(_ scan: TreeScan.Options) -> TreeScan.Options {
        let trees = isTargetRecorded || root.directory == nil ? 1 : 2
        return scan.prefetching(trees: trees, threads: options.threads)
    }

    // MARK: Open decisions of the merge

    mutating func decide(_ difference: inout Difference, _ merge: TreeMerge) throws {
        try leaveExcluded(merge.excludedBelowMoving, in: &difference)
        try rereadSource(of: &difference)
        opened = merge.opened
        if root.directory == nil, let file = try tree.rootFile(merge.policy.attributes.extended),
            merge.policy.opened(file.status) != nil
        {
            opened = (.root, (opened?.count ?? 0) + 1)
        }
        let unread = findings.problems + leftOut.problems
        difference.sourceCount += leftOut.problems.count
        problems = unread
        if let target = root.directory { try compare(&difference, merge.policy, with: target) }
        // The target's directory is left unchanged if the source's cannot be read. Its mode is left unchanged too: an
        // unreadable directory would stop the next scan of the target.
        difference.omit(unread.filter(\.isOfWholeEntry).map(\.path))
        try omitTooLarge(from: &difference)
        try omitUnreadable(from: &difference)
        let remaining =
            difference.protectedDirectories + (options.keepsDeleted ? difference.keepDeleted() : [])
        for file in remaining where try decide(file.path, file.status.type, file.size).isExcluded {
            difference.staying.insert(file.path)
        }
        if isTargetRecorded, let target = root.directory,
            try !merge.collisions.isEmpty || !difference.confirm(in: target)
        {
            throw ManifestIsWrong()
        }
        omissions = merge.omissions
        mounts = try mountsToRecord()
        noteRecord(difference, merge.policy)
    }

    /// Copies a directory instead of moving it, if it would move excluded entries to another path. There they may not
    /// be excluded, or the source may have an entry. The excluded entries are left in place.
    private func leaveExcluded(
        _ excluded: [(path: RelativePath, status: FileStatus)], in difference: inout Difference
    ) throws {
        let moves = MoveMap(difference)
        guard !excluded.isEmpty, !moves.isEmpty else { return }
        var staying: Set<RelativePath> = []
        for (path, status) in excluded {
            let goal = moves.carriedPath(of: path)
            let isOccupied = difference.changes.index(at: goal) { $0.kind != .deleted } != nil
            guard goal != path, try isOccupied || !decide(goal, status.type, status.size).isExcluded else {
                continue
            }
            staying.formUnion(moves.moving(above: path))
        }
        if !staying.isEmpty { difference.copy(insteadOfMoving: staying) }
    }

    private mutating func compare(
        _ difference: inout Difference, _ policy: ComparisonPolicy, with target: Directory
    ) throws {
        let contents = ContentComparison(
            source: tree, target: target, threads: tree.threads(options), probes: policy.probes,
            monitor: monitor)
        defer { contents.close() }
        let attributes = AttributeInspection(
            source: tree, target: target, policy.attributes.extended, monitor)
        let moved = difference.changes.indices.count { index in
            guard difference.changes.head(at: index).needsContentComparison else { return false }
            return policy.hasOnlyTimeMoved(difference.changes[match: index])
        }
        // A request for each match would wait for the connection each time. The copy of the changes needs memory as
        // soon as one of them changes.
        let announces = tree.facts.isRemote
        let changes = announces ? difference.changes : []
        var (next, announced) = (changes.startIndex, 0)
        func announce(_ match: Match) {
            guard announced == 0 else {
                announced -= 1
                return
            }
            var following: [Match] = []
            while next < changes.endIndex, following.count < 256 {
                if changes.head(at: next).needsInspection { following.append(changes[match: next]) }
                next += 1
            }
            attributes.announce(following)
            announced = max(following.count - 1, 0)
        }
        try difference.decide(
            inspect: { match in
                if announces { announce(match) }
                return try attributes.attributes(of: match.source, and: match.target)
            },
            lookUp: { try attributes.attributes(ofTarget: $0) },
            compare: { try contents.compare($0) })
        problems += difference.leaveAttributes(of: attributes.unread)
        movedTimes = difference.changes.heads.contains { $0.causes.contains(.content) } ? 0 : moved
        if !options.repairs.isEmpty { passedOver = difference.restrict(to: options.repairs) }
        if !options.trustsSource {
            rotten = try contents.rotten(among: difference.replacing, inCopies: !options.repairs.isEmpty)
        }
        problems += contents.problems
    }

    private mutating func omitTooLarge(from difference: inout Difference) throws {
        let largest = try FileSystemInfo(of: root.anchor()).largestFile
        let paths = difference.arriving.filter { $0.isFile && $0.size > largest }.map(\.path)
        difference.omit(paths)
        problems += paths.map(Problem.tooLarge)
    }

    /// Without root, finds unreadable files before the stage. So the plan shows them, and all are listed at once.
    private mutating func omitUnreadable(from difference: inout Difference) throws {
        guard !tree.facts.isReadByRoot else { return }
        let reader = tree.reader(monitor)
        var unreadable: [Problem] = []
        var paths: [RelativePath] = []
        func ask() throws {
            // The stage reports files that are gone by now.
            for (path, errno) in zip(paths, try reader.obstacles(to: paths)) {
                guard let errno else { continue }
                unreadable.append(.unreadable(path, errno))
            }
            paths.removeAll(keepingCapacity: true)
        }
        for file in difference.arriving where file.isFile {
            paths.append(file.path)
            if paths.count == 256 { try ask() }
        }
        try ask()
        difference.omit(unreadable.map(\.path))
        problems += unreadable
    }

    func mayCopy(_ match: Match) -> Bool {
        // A directory may contain excluded content.
        !options.keepsDeleted && match.isRenamed && !match.replacesContent
            && (!match.source.isDirectory || options.filters == Filters())
    }

    func rootMatch(_ policy: ComparisonPolicy) throws -> Match? {
        var source = try options.repairs.isEmpty ? tree.rootFile(policy.attributes.extended) : nil
        if let found = source?.extended, let target = root.directory {
            source?.extended = try tree.facts.completing(
                found, by: File(rootOf: target, .readable).extended)
        }
        return try Match.ofRoots(source, root, policy, header)
    }

    // MARK: Results

    /// The mounts found now, and the recorded ones that the run could not or should not look at.
    private func mountsToRecord() throws -> [SourceMount] {
        let (earlier, mounted) = (header?.mounts ?? [], findings.mounted)
        guard mounted != earlier else { return mounted }
        let present = Set(mounted.map(\.path))
        let unlisted = problems.filter(\.isOfWholeEntry).map(\.path)
        let unseen = try earlier.filter {
            try !present.contains($0.path)
                && (options.keepsDeleted || $0.path.isWithin(unlisted)
                    || decide($0.path, .directory, 0).isExcluded)
        }
        return (mounted + unseen).sorted { $0.path < $1.path }
    }

    private mutating func noteRecord(_ difference: Difference, _ policy: ComparisonPolicy) {
        // The new manifest records filters and attributes. With an old one, every run looks up all attributes again.
        isStep =
            difference.changesCoverage()
            || header.map { $0.filters != options.filters.summary || $0.attributes != policy.attributes }
                ?? true
        isRecordOutdated =
            difference.matches.contains { $0.isStale(policy) } || nextRetention != header?.retention
            || nextDigestRule != header?.digests || hasMoved || isSourceRenamed
            || mounts != header?.mounts ?? []
            || header.map { $0.rootIdentity == nil } ?? false
            || manifest.map { options.recordsDigests && $0.digests < $0.summary.files } ?? false
    }

    /// The target was moved to another file system.
    private var hasMoved: Bool {
        guard options.changeTarget, let last = header?.targetFileSystem else { return false }
        return last != targetFileSystem
    }

    /// A source has another path, or is another directory, than the manifest says.
    private var isSourceRenamed: Bool {
        header.map {
            $0.sources.count != identities.count
                || zip($0.sources, identities).contains {
                    $0.name != $1.name || !$0.isSpelled(like: $1) || $0.identity != $1.identity
                }
        } ?? false
    }

    var nextRetention: RetentionPolicy? { options.retention.stored(over: header?.retention) }

    var nextDigestRule: DigestRule? { options.digestRule(over: header?.digests) }

    func planned(_ plan: Plan) -> PlannedSync {
        var planned = PlannedSync(plan, from: tree, identities, attributes: attributes, scanned: scanned)
        planned.header = header
        planned.sourceScanned = tree.facts.isRemote ? tree.facts.scanned : nil
        planned.isStep = isStep
        planned.retention = retention
        planned.isRecordOutdated = isRecordOutdated
        planned.passedOver = passedOver
        planned.trustsTarget = isTargetRecorded
        planned.mounts = mounts
        planned.disks = tree.facts.disks
        return planned
    }
}
