import FileSystem

/// What a look at source, target and manifest found: scan, diff, plan and guards, in order. `plan` and `apply`
/// both do just this; all that it writes is what it has compared, for `apply`.
struct Examination {
    let plan: Plan
    let contents: ContentSource
    /// The manifest's, where there is one.
    let header: ManifestHeader?
    let source: ManifestHeader.Source
    /// What is covered changes: a step of the history, even if nothing else is to be done.
    let isStep: Bool
    /// The manifest has to be written anew even if nothing else is to be done.
    let isRecordOutdated: Bool
    /// Paths that differ and are left as they are.
    let passedOver: [RelativePath]
    /// The source was looked at; it is not when the target goes back to an earlier tree.
    let isOfSource: Bool
    /// What took part in the earlier tree that the target goes back to as a whole.
    let earlier: (filters: FilterSummary, attributes: MirroredAttributes)?
    /// Which earlier tree the target becomes a copy of, to be a directory like any other after.
    let copy: [UInt8]?
    /// What is mirrored.
    let attributes: MirroredAttributes
    /// See `TargetDomains`.
    let projects: [RelativePath: UInt32]
    /// When the scan began.
    let scanned: ManifestHeader.Scan
    /// The room that is needed; nil where nothing of the history may give way to it.
    let need: RoomNeed?
    /// Of the target nothing was looked at but what the plan touches.
    let trustsTarget: Bool
    /// The target keeps entries that take part and that the manifest will not have.
    let leavesStrangers: Bool
    /// Directories of the target that are open for this run only, with the permissions that they had.
    var opened: [RelativePath: UInt16] = [:]

    init(
        plan: Plan, contents: ContentSource, header: ManifestHeader?, source: ManifestHeader.Source,
        isStep: Bool = false, isRecordOutdated: Bool = false, passedOver: [RelativePath] = [],
        isOfSource: Bool = true, earlier: (filters: FilterSummary, attributes: MirroredAttributes)? = nil,
        copy: [UInt8]? = nil, attributes: MirroredAttributes, projects: [RelativePath: UInt32] = [:],
        scanned: ManifestHeader.Scan, need: RoomNeed? = nil, trustsTarget: Bool = false,
        leavesStrangers: Bool = false
    ) {
        self.plan = plan
        self.contents = contents
        self.header = header
        self.source = source
        self.isStep = isStep
        self.isRecordOutdated = isRecordOutdated
        self.passedOver = passedOver
        self.isOfSource = isOfSource
        self.earlier = earlier
        self.copy = copy
        self.attributes = attributes
        self.projects = projects
        self.scanned = scanned
        self.need = need
        self.trustsTarget = trustsTarget
        self.leavesStrangers = leavesStrangers
    }

    /// - Parameter log: what earlier runs have compared, and this one does.
    init(
        source path: [UInt8], root: TargetRoot, options: SyncOptions, log: ComparisonLog, monitor: any Monitor
    ) throws {
        do {
            try self.init(source: path, root, options, log, monitor, trusting: options.trustsManifest)
        } catch  where options.trustsManifest && (error as? SyncError)?.code != .interrupted {
            // Whatever the look ran into, a directory that is gone or a symlink in its place, only a scan tells what
            // is to be done. What is wrong apart from the manifest stops that too.
            try self.init(source: path, root, options, log, monitor, trusting: false)
        }
    }

    private init(
        source path: [UInt8], _ root: TargetRoot, _ options: SyncOptions, _ log: ComparisonLog,
        _ monitor: any Monitor, trusting: Bool
    ) throws {
        let scanned = try ManifestHeader.Scan.now()
        let sourceRoot = try Examination.openSource(path)
        let attributes = options.settableAttributes
        var passedOver: [RelativePath] = []
        let status = try sourceRoot.status()
        let sourceFacts = try FileSystemInfo(of: sourceRoot)
        let source = ManifestHeader.Source(
            path: try LocalFile(bytes: path).absolute(), identity: status.identity,
            fileSystem: sourceFacts.identifier)
        let refusals = try Examination.refusals(sourceRoot, root, options)
        guard refusals.isEmpty else {
            // A scan of such a match makes no sense.
            var plan = Plan(Difference(), root: nil)
            plan.refusals = refusals
            self.init(
                plan: plan, contents: ContentSource(sourceRoot), header: nil, source: source,
                attributes: attributes, scanned: scanned)
            return
        }

        monitor.report(SyncProgress(.scanning))
        _ = try root.state?.settings()
        let manifest = try root.state?.manifest(withUncovered: true)
        let header = manifest?.header
        var policy = try Examination.policy(
            manifest?.header, source, root, options, scanned, sourceFacts: sourceFacts)
        let (filters, original, own) = (options.filters, root.original, sourceRoot)
        let recorded = trusting ? manifest : nil
        let isRecorded = recorded.map { Examination.isKnown($0.header, policy, options) } ?? false
        policy.trustsTarget = isRecorded
        let trees = isRecorded || root.directory == nil ? 1 : 2
        let sourceScan = try BackgroundScan {
            try TreeCursor(
                own, .source.apart(from: original).helped(trees: trees),
                filter: FilteredWalk(filters, source: own),
                monitor: monitor)
        }
        var targetScan: BackgroundScan?
        var merge = TreeMerge(policy)
        let decide = try filters.decisions(in: own)
        if isRecorded, let recorded {
            let target = RecordedTarget(recorded) { try decide($0, $1.type, $1.size).isExcluded }
            try merge.run(source: sourceScan, target: target, manifest: nil as FileList?)
        } else if let directory = root.directory {
            let filters = options.deletesExcluded ? Filters() : filters
            let scan = try BackgroundScan {
                try TreeCursor(
                    directory, .target.apart(from: status).helped(trees: trees),
                    filter: FilteredWalk(filters, source: own),
                    monitor: monitor)
            }
            targetScan = scan
            try merge.run(source: sourceScan, target: scan, manifest: manifest)
        } else {
            try merge.run(source: sourceScan, target: FileList([]), manifest: manifest)
        }

        var difference = try Difference(matching: merge)
        try Examination.leave(merge.excludedBelowMoving, in: &difference, decide)
        var problems = sourceScan.findings.problems
        // Who asks for a comparison wants it now.
        let isAsked = options.comparesContent || !options.repairs.isEmpty
        var rotten: [RelativePath] = []
        /// Files that were read for nothing but a moved change time, and for nothing.
        var movedTimes = 0
        if let directory = root.directory {
            let racyCheck = isAsked ? nil : policy.racyCheck
            let contents = ContentComparison(
                source: sourceRoot, target: directory,
                key: { match in
                    racyCheck?.isSettled(match.source.status) ?? false
                        ? match.comparisonKey(of: source) : nil
                }, isKnown: log.contains, note: log.note, monitor: monitor)
            let inspection = AttributeInspection(
                source: sourceRoot, target: directory, policy.attributes.extended)
            let moved = difference.matches.count { $0.needsContentComparison && policy.hasOnlyTimeMoved($0) }
            do {
                try difference.settle(
                    inspect: { try inspection.attributes(of: $0) },
                    lookUp: { try inspection.attributes(ofTarget: $0) },
                    haveSameContent: { try contents.haveSameContent($0) })
            } catch {
                log.flush()
                throw error
            }
            log.finish()
            movedTimes = difference.matches.contains { $0.causes.contains(.content) } ? 0 : moved
            if !options.repairs.isEmpty { passedOver = difference.restrict(to: options.repairs) }
            if !options.trustsSource {
                rotten = try difference.matches.filter { try $0.replacesContent && contents.hasRotted($0) }
                    .map(\.source.path)
            }
            problems += contents.problems
        }
        // The target keeps what it has of a directory that cannot be read, its mode too: one that nobody may read
        // would stop the next scan of the target.
        difference.omit(sourceScan.findings.problems.map(\.path))
        problems += try Examination.omitUnreadable(from: &difference, in: sourceRoot)
        if options.keepsDeleted {
            for file in difference.keepDeleted()
            where try decide(file.path, file.status.type, file.size).isExcluded {
                difference.staying.insert(file.path)
            }
        }
        if isRecorded, let directory = root.directory,
            try !merge.collisions.isEmpty || !difference.confirm(in: directory)
        {
            throw ManifestIsWrong()
        }
        let domains = try Examination.domains(of: &difference, root, options)
        problems += merge.omissions.problems

        var plan = Plan(
            difference,
            root: try Examination.rootPair(
                options.repairs.isEmpty
                    ? ContentSource(sourceRoot).rootFile(policy.attributes.extended) : nil,
                root, policy, header))
        plan.problems = problems.sorted { $0.path < $1.path }
        plan.basis = Plan.Basis(
            manifest: header?.id, source: source.identity, target: root.original?.identity)
        plan.notes = Examination.notes(sourceScan.findings, policy, options)
        if let manifest, !isAsked, !options.ignoresChangeTime,
            movedTimes > max(manifest.summary.files / 2, 100)
        {
            plan.notes.append(
                "\(movedTimes) files were read because their change times had moved, and all were equal; where something "
                    + "moves them each night, such as cp -al or chown -R, --ignore-change-time compares only attributes"
            )
        }
        if let failure = log.failure {
            plan.notes.append("what was compared is not recorded, and may be compared again: \(failure)")
        }
        if trusting, header != nil, !isRecorded {
            plan.notes.append(
                "the target was scanned: its manifest is of other filters or attributes, or has no mark, "
                    + "or what is excluded is to go")
        } else if options.trustsManifest, !trusting {
            plan.notes.append("the target was scanned: it is not as its manifest has it")
        }
        if let before = header?.filters, before != options.filters.summary {
            plan.notes.append(Examination.note(before, changedTo: options.filters.summary))
        }
        if let first = difference.kept.first {
            plan.notes.append(
                "\(difference.kept.count) directories that would be deleted hold what is excluded and stay: \(first)"
                    + (difference.kept.count > 1 ? " and others" : ""))
        }
        // The new manifest says what takes part and what is mirrored; an old one would have everything looked up
        // again and again.
        let isStep =
            header.map {
                $0.filters != options.filters.summary || $0.attributes != policy.attributes
            } ?? true
        var isRecordOutdated = difference.matches.contains { policy.isRecordStale($0) }
        let kept = options.retention.kept(over: header?.retention)
        if kept != header?.retention {
            isRecordOutdated = true
        }
        if options.recordsDigests, let manifest, manifest.digests < manifest.summary.files {
            isRecordOutdated = true
        }
        var giveWay = options.repairs.isEmpty
        if giveWay, let state = root.state {
            giveWay = try options.retention.rules(kept: header?.retention, state.settings()).giveWay
        }
        let guards = try Examination.guardFacts(
            plan, options, manifest, source, root, targetScan?.findings, merge, rotten: rotten,
            historyGivesWay: giveWay)
        plan.refusals = guards.refusals() + domains.refusals
        if plan.refusals.isEmpty {
            plan.givingWay = guards.givingWay ?? []
            if kept != header?.retention {
                plan.notes.append(
                    kept.map { "kept with the target until others are given: \($0)" }
                        ?? "the rules of retention that were kept with the target are forgotten")
            }
        }
        self.init(
            plan: plan, contents: ContentSource(sourceRoot), header: header, source: source,
            isStep: isStep || difference.changesCoverage, isRecordOutdated: isRecordOutdated,
            passedOver: passedOver, attributes: attributes, projects: domains.projects, scanned: scanned,
            need: giveWay ? RoomNeed(bytes: guards.neededBytes, inodes: guards.neededInodes) : nil,
            trustsTarget: isRecorded)
    }

    /// A directory does not move where it would take along what is excluded to a place where it is not: that would be
    /// no mirror. It is copied, and what is excluded stays.
    private static func leave(
        _ excluded: [(path: RelativePath, status: FileStatus)], in difference: inout Difference,
        _ decide: Filters.Decisions
    ) throws {
        let moves = MoveMap(difference)
        guard !excluded.isEmpty, !moves.isEmpty else { return }
        var staying: Set<RelativePath> = []
        for (path, status) in excluded {
            let place = moves.carriedPath(of: path)
            guard place != path else { continue }
            if try !decide(place, status.type, status.size).isExcluded {
                staying.formUnion(moves.moving(above: path))
            }
        }
        if !staying.isEmpty { difference.copy(insteadOfMoving: staying) }
    }

    /// What cannot be moved because it would come into another project is copied, unless excluded content might go along
    /// with it.
    private static func domains(
        of difference: inout Difference, _ root: TargetRoot, _ options: SyncOptions
    ) throws -> TargetDomains {
        let domains = try TargetDomains(
            difference, target: root.directory, anchor: root.anchor(), state: root.state?.directory)
        guard !domains.obstacles.isEmpty, !options.keepsDeleted else { return domains }
        let moved = Set(
            difference.matches.lazy.filter {
                $0.isRenamed && !$0.replacesContent
                    && (!$0.source.isDirectory || options.filters == Filters())
            }.map(\.target.path))
        let copied = moved.intersection(domains.obstacles.map(\.path))
        guard !copied.isEmpty else { return domains }
        difference.copy(insteadOfMoving: copied)
        return try TargetDomains(
            difference, target: root.directory, anchor: root.anchor(), state: root.state?.directory)
    }

    /// The manifest says enough of the target to go without a scan.
    private static func isKnown(
        _ header: ManifestHeader, _ policy: ComparisonPolicy, _ options: SyncOptions
    ) -> Bool {
        !policy.alwaysComparesContent && !policy.alwaysInspects && options.repairs.isEmpty
            && header.scanned != nil && header.filters == options.filters.summary
            // What is excluded is in no manifest.
            && (!options.deletesExcluded || options.filters.isEmpty)
    }

    /// - Parameter manifest: read to its end.
    static func guardFacts(
        _ plan: Plan, _ options: SyncOptions, _ manifest: ManifestReader?, _ source: ManifestHeader.Source,
        _ root: TargetRoot, _ target: TreeScan.Findings?, _ merge: TreeMerge, rotten: [RelativePath] = [],
        linksFiles: Bool = false, historyGivesWay: Bool = false
    ) throws -> GuardFacts {
        let facts = try Room.facts(root)
        var guards = GuardFacts(
            plan: plan, options: options, recorded: manifest.map { ($0.header, $0.summary) }, source: source,
            facts: facts, linksFiles: linksFiles, root: root.original, mounts: target?.mounts ?? [],
            locked: target?.locked ?? [:],
            collisions: merge.folding?.collisions ?? [], rotten: rotten)
        if manifest == nil, plan.difference.targetCount > 0 {
            guards.stateElsewhere = try root.stateOfOtherName()
        }
        guard !guards.shortage.isOver else { return guards }
        if historyGivesWay, let parts = try Room(root)?.parts(for: guards.shortage) {
            guards.givingWay = parts.flatMap(\.names)
        } else if let state = root.state {
            let history = try History(state)
            guards.heldBytes = try history.steps.reduce(0) { try $0 + history.bytesHeld($1) }
        }
        return guards
    }

    private static func openSource(_ path: [UInt8]) throws -> Directory {
        do {
            return try LocalFile(bytes: path).directory()
        } catch  where error.isNotFound {
            throw SyncError(.inputMissing, path: path, "the source does not exist")
        }
    }

    private static func policy(
        _ header: ManifestHeader?, _ source: ManifestHeader.Source, _ root: TargetRoot,
        _ options: SyncOptions, _ scanned: ManifestHeader.Scan, sourceFacts: FileSystemInfo
    ) throws -> ComparisonPolicy {
        var policy = ComparisonPolicy()
        policy.attributes = options.settableAttributes
        policy.deletesExcluded = options.deletesExcluded
        policy.suspects = options.repairs
        policy.foldsNames = try root.anchor().foldsNames()
        policy.linkLimit = try FileSystemInfo(of: root.anchor()).linkLimit
        policy.alwaysInspects = header?.attributes != policy.attributes
        if let header, let state = root.state {
            policy.trust = try state.trust(header)
            policy.hasOldTrees = try state.trees() != nil
        }
        policy.usesChangeTime = sourceFacts.keepsIdentity
        policy.usesIdentity = sourceFacts.keepsIdentity
        policy.ignoresChangeTime = options.ignoresChangeTime
        policy.mayWiden =
            header.map {
                $0.filters != options.filters.summary || options.filters.dependOnTree
                    || options.deletesExcluded
            } ?? false
        policy.earlierFilters = header.flatMap { Filters($0.filters) }
        var racyCheck = RacyCheck(
            scanned: scanned.time.fileTime, clock: scanned.clock,
            window: max(RacyCheck.shortestWindow, try KernelClock.writebackDelay()))
        racyCheck.previous = header?.scanned.map { ($0.time.fileTime, $0.clock) }
        racyCheck.sharesClock = sourceFacts.sharesClock
        racyCheck.usesChangeTime = sourceFacts.keepsIdentity && !options.ignoresChangeTime
        policy.racyCheck = racyCheck
        // Without a manifest nothing says that equal times mean equal content.
        policy.alwaysComparesContent = policy.trust == nil || options.comparesContent
        // The inodes of another disk are other inodes.
        policy.followsIdentity =
            policy.usesIdentity
            && header?.source.map { $0.fileSystem == source.fileSystem || $0.identity == source.identity }
                ?? false
        return policy
    }

    /// The roots are no entries: what is recorded of the target's is only what it could not hold.
    ///
    /// - Parameter source: nil where the target's stays as it is.
    static func rootPair(
        _ source: File?, _ root: TargetRoot, _ policy: ComparisonPolicy, _ header: ManifestHeader?
    ) throws -> Match? {
        guard let target = root.directory else { return nil }
        var policy = policy
        policy.knowsExtended = true
        let present = try ContentSource(target).rootFile(policy.attributes.extended)
        guard let source else { return Match(source: present, target: present) }
        var match = Match(source: source, target: present)
        policy.compare(&match)
        // As long as nobody has changed the source's root since.
        let isSame = header?.rootChanged == Timestamp(match.source.status.changed)
        let omitted = isSame ? header?.rootOmitted ?? [] : []
        let kept: [(Omissions, Causes)] = [
            (.modified, .modified), (.mode, .mode), (.owner, .owner), (.owner, .group), (.xattrs, .xattrs),
            (.acls, .acls),
        ]
        for (omission, cause) in kept where omitted.contains(omission) { match.causes.remove(cause) }
        match.source.omitted = omitted
        return match
    }

    /// Files that an ordinary user may not read are found before anything is staged, so that the plan shows
    /// them and all are listed at once.
    private static func omitUnreadable(
        from difference: inout Difference, in source: Directory
    ) throws -> [Problem] {
        guard !Account.isRoot else { return [] }
        let walker = PathResolver(source)
        var problems: [Problem] = []
        let copied =
            difference.created.map(\.file) + difference.matches.filter(\.replacesContent).map(\.source)
        for file in copied.sorted() where file.isFile {
            do throws(SystemError) {
                guard let (directory, name) = try walker.place(of: file.path) else { continue }
                _ = try directory.open(name, [.read, .noFollow, .nonBlocking])
            } catch {
                // What went meanwhile, the stage will miss.
                guard error.errno == .accessDenied else { continue }
                problems.append(
                    Problem(path: file.path, code: .unreadable, message: error.errno.description))
            }
        }
        difference.omit(problems.map(\.path))
        return problems
    }

    private static func note(_ before: FilterSummary, changedTo now: FilterSummary) -> String {
        let (old, new) = (before.lines, now.lines)
        let changes =
            new.filter { !old.contains($0) }.map { "+ \($0)" }
            + old.filter { !new.contains($0) }.map { "- \($0)" }
        return "the filters are not those of last time: "
            + (changes.isEmpty ? "their order is another" : changes.joined(separator: ", "))
    }

    private static func notes(
        _ scan: TreeScan.Findings, _ policy: ComparisonPolicy, _ options: SyncOptions
    ) -> [String] {
        var notes: [String] = []
        if scan.omittedSockets > 0 {
            notes.append("\(scan.omittedSockets) sockets hold no data and are left out")
        }
        if scan.metReservedName { notes.append("the source's own .fsync-lite is left out") }
        if !policy.usesChangeTime {
            notes.append(
                "the source's file system keeps no change times or inodes: size and modification time decide")
        }
        if options.attributes.contains(.owner), !policy.attributes.contains(.owner) {
            notes.append("owners are left alone: only root can set them")
        }
        return notes
    }

    // MARK: Where source and target lie

    static func refusals(
        _ source: Directory, _ root: TargetRoot, _ options: SyncOptions
    ) throws -> [Refusal] {
        var found = try overlap(source, root).map { [Refusal($0)] } ?? []
        if options.exchanges { found += try root.exchangeRefusals() }
        if let refusal = try root.stateRefusal(exchanges: options.exchanges) { found.append(refusal) }
        if try !root.hasParent(), !options.createParents {
            found.append(
                Refusal(
                    "neither the target nor the directory that would hold it exists: is a disk missing?",
                    option: "--create-parents"))
        }
        return found
    }

    /// Neither may lie inside the other. Compared are the directories themselves, up to the top, so neither
    /// a symlink nor a second mount of one hides it.
    private static func overlap(_ source: Directory, _ root: TargetRoot) throws -> String? {
        let target = try root.anchor()
        if root.directory != nil {
            if try isSame(source, target) { return "source and target are the same directory" }
            if try isInside(source, target) { return "the source lies inside the target" }
        }
        return try isInside(target, source) ? "the target lies inside the source" : nil
    }

    private static func isSame(_ left: Directory, _ right: Directory) throws -> Bool {
        try left.status().isSameObject(as: right.status())
    }

    /// The directory itself counts as inside.
    private static func isInside(_ directory: Directory, _ other: Directory) throws -> Bool {
        var current = directory
        while true {
            if try isSame(current, other) { return true }
            let parent = try current.parent()
            if try isSame(parent, current) { return false }
            current = parent
        }
    }
}
