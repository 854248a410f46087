import FileSystem

/// Makes a target the mirror of a source: every stage, in order.
///
///     source ──scan──┐
///     target ──scan──┼──> diff ──> plan ──> guards ──> stage ──> commit ──> manifest and history
///     manifest ─read─┘
///
/// Calls block; run them on a thread of your own.
public struct Synchronizer: Sendable {
    private let source: [UInt8]
    private let target: [UInt8]
    private let options: SyncOptions
    private let monitor: any Monitor

    /// - Parameters:
    ///   - source: the path of a directory, whose *contents* are mirrored; a symlink to one is followed.
    ///   - target: the path of the directory that becomes the mirror.
    public init(
        source: [UInt8], target: [UInt8], options: SyncOptions = SyncOptions(),
        monitor: any Monitor = SilentMonitor()
    ) {
        self.source = source
        self.target = target
        self.options = options
        self.monitor = monitor
    }

    /// What `apply` would do now. Writes nothing, anywhere, and takes no lock.
    ///
    /// - Throws: `SyncError`: `inputMissing` without a source, `pending` while a commit is unfinished,
    ///   `invalidDocument` for a damaged manifest, `refused` for a state that is not ours.
    public func plan() throws -> Plan {
        let root = try TargetRoot(target)
        if let state = root.state, try state.hasJournal() { throw Synchronizer.pendingCommit(target) }
        let before = try root.state?.manifestInode()
        let examination = try examine(root)
        // A commit that ran meanwhile makes a plan of two trees.
        guard let state = root.state else { return examination.plan }
        let after = try state.manifestInode()
        if try state.hasJournal() { throw Synchronizer.pendingCommit(target) }
        guard before == after else { throw Synchronizer.pendingCommit(target) }
        return examination.plan
    }

    /// Does it, as one transaction, after finishing what an earlier run left.
    ///
    /// - Throws: `SyncError`, as `plan`, and `locked` while another run writes. What went wrong later is in
    ///   the report.
    public func apply() throws -> Report {
        // The root is opened, for the errors that a sync will tell, before anything is written.
        var root = try TargetRoot(target)
        try root.lock()
        if let directory = root.directory, let state = root.state {
            _ = try Recovery(root: directory, state: state).run()
        }
        let examination = try examine(root)
        var report = Report(.refused, examination.plan)
        guard report.refusals.isEmpty else { return report }
        guard report.problems.isEmpty || options.keepGoing else {
            report.outcome = .failed
            return report
        }
        if report.summary.actions == 0, examination.header != nil, let state = root.state {
            report.outcome = .unchanged
            tidy(state, examination.scanned, &report)
            return report
        }
        do {
            try root.make(parents: options.createParents)
            report = try commit(examination, &root)
        } catch let error as SyncError where error.code == .pending {
            report.outcome = .pending
            report.error = error
            return report
        } catch {
            report.outcome = .failed
            report.error = Synchronizer.syncError(error)
        }
        guard report.outcome == .failed else { return report }
        do {
            try root.withdraw()
        } catch {
            report.notes.append("what was staged could not be removed: \(Synchronizer.syncError(error))")
        }
        return report
    }

    private static func pendingCommit(_ target: [UInt8]) -> SyncError {
        SyncError(.pending, path: target, "a commit was begun and not ended; run: fsync-lite recover TARGET")
    }

    private static func syncError(_ error: any Error) -> SyncError {
        switch error {
        case let error as SyncError: error
        case let error as SystemError: SyncError(error)
        default: SyncError(.failed, "\(error)")
        }
    }

    // MARK: Looking

    private struct Examination {
        var plan: Plan
        var sourceRoot: Directory
        /// The manifest's, where there is one.
        var header: ManifestHeader?
        var source: ManifestHeader.Source
        /// When the scan began.
        var scanned: FileTime
    }

    private func openSource() throws -> Directory {
        do {
            return try LocalFile(bytes: source).directory()
        } catch  where error.isNotFound {
            throw SyncError(.inputMissing, path: source, "the source does not exist")
        }
    }

    /// Scans, compares and plans. Both `plan` and `apply` do just this.
    private func examine(_ root: TargetRoot) throws -> Examination {
        let scanned = FileTime.now
        let sourceRoot = try openSource()
        var refusals = try Synchronizer.overlap(sourceRoot, root)
        if try !root.hasParent(), !options.createParents {
            refusals.append(
                Refusal(
                    "neither the target nor the directory that would hold it exists: is a disk missing?",
                    option: "--create-parents"))
        }
        let sourceStatus = try sourceRoot.status()
        let sourceFacts = ManifestHeader.Source(
            path: source, identity: sourceStatus.identity,
            fileSystem: try FileSystemFacts(of: sourceRoot).identifier)
        guard refusals.isEmpty else {
            // A scan of such a pair makes no sense.
            var plan = Plan(Difference(), root: nil)
            plan.refusals = refusals
            return Examination(plan: plan, sourceRoot: sourceRoot, source: sourceFacts, scanned: scanned)
        }

        monitor.report(Progress(.scanning))
        let manifest = try root.state?.manifest()
        var policy = ComparisonPolicy()
        policy.comparesOwner = Account.isRoot
        policy.followsIdentity = manifest != nil
        if let header = manifest?.header, let state = root.state { policy.trust = try state.trust(header) }
        // Without a manifest, or the mark of its commit, nothing says that equal times mean equal content.
        policy.alwaysComparesContent = policy.trust == nil
        if let last = manifest?.header.source, last.fileSystem != sourceFacts.fileSystem,
            last.identity != sourceFacts.identity
        {
            policy.followsIdentity = false
        }
        let sourceScan = try TreeScan(sourceRoot, .source, monitor: monitor)
        var merge = TreeMerge(policy)
        var mounts: [RelativePath] = []
        if let directory = root.directory {
            let targetScan = try TreeScan(directory, .target, monitor: monitor)
            try merge.run(source: sourceScan, target: targetScan, manifest: manifest)
            mounts = targetScan.mounts
        } else {
            try merge.run(source: sourceScan, target: FileList([]), manifest: manifest)
        }
        try monitor.checkCancellation()
        var difference = try Difference(matching: merge)
        var problems = sourceScan.problems
        if let directory = root.directory {
            let contents = ContentComparison(source: sourceRoot, target: directory)
            try difference.settleContent { pair in
                try monitor.checkCancellation()
                return try contents.haveSameContent(pair)
            }
            problems += contents.problems
        }
        if options.keepsDeleted { difference.keepDeleted() }

        var plan = Plan(difference, root: try rootPair(sourceStatus, root, policy))
        plan.problems = problems.sorted { $0.path < $1.path }
        plan.notes = notes(sourceScan, policy)
        plan.refusals = GuardFacts(
            plan: plan, options: options, recorded: manifest.map { ($0.header, $0.summary) },
            source: sourceFacts, facts: try FileSystemFacts(of: root.anchor()), mounts: mounts
        ).refusals()
        return Examination(
            plan: plan, sourceRoot: sourceRoot, header: manifest?.header, source: sourceFacts,
            scanned: scanned)
    }

    private func rootPair(_ source: FileStatus, _ root: TargetRoot, _ policy: ComparisonPolicy) throws
        -> Pair?
    {
        guard let target = try root.directory?.status() else { return nil }
        var pair = Pair(
            source: File(path: .root, status: source, destination: []),
            target: File(path: .root, status: target, destination: []))
        policy.compare(&pair)
        return pair
    }

    private func notes(_ scan: TreeScan, _ policy: ComparisonPolicy) -> [String] {
        var notes: [String] = []
        if scan.omittedSockets > 0 {
            notes.append("\(scan.omittedSockets) sockets hold no data and are left out")
        }
        if scan.metReservedName { notes.append("the source's own .fsync-lite is left out") }
        if !policy.comparesOwner { notes.append("owners are left alone: only root can set them") }
        return notes
    }

    /// Neither may lie inside the other. Compared are the directories themselves, up to the top, so neither
    /// a symlink nor a second mount of one hides it.
    private static func overlap(_ source: Directory, _ root: TargetRoot) throws -> [Refusal] {
        let target = try root.anchor()
        if root.directory != nil, try isSame(source, target) {
            return [Refusal("source and target are the same directory")]
        }
        if try isInside(target, source) { return [Refusal("the target lies inside the source")] }
        if root.directory != nil, try isInside(source, target) {
            return [Refusal("the source lies inside the target")]
        }
        return []
    }

    private static func isSame(_ left: Directory, _ right: Directory) throws -> Bool {
        let (left, right) = (try left.status(), try right.status())
        return left.inode == right.inode && left.device == right.device
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

    // MARK: Writing

    /// Stages and commits. Errors before the commit leave the old tree; the caller withdraws the stage.
    private func commit(_ examination: Examination, _ root: inout TargetRoot) throws -> Report {
        let state = try root.makeState()
        let id = TransactionID.next(after: try state.transactions().last?.description)
        guard let directory = root.directory, let name = FileName(id.utf8) else {
            throw SyncError(.failed, path: target, "it does not exist")
        }
        _ = try state.settings()
        try state.clean()
        var plan = examination.plan

        func layout(_ plan: Plan, slots: [RelativePath: Int] = [:]) throws -> Layout {
            // As it was before the state was made in it.
            let status = try root.original ?? directory.status()
            var wanted = try Attributes(
                examination.plan.root?.source.status ?? examination.sourceRoot.status())
            if !Account.isRoot { (wanted.owner, wanted.group) = (status.owner, status.group) }
            return Layout(
                plan.difference, root: (status, wanted), transaction: name,
                replacesManifest: examination.header != nil, slots: slots)
        }
        var steps = try layout(plan)
        let stage = try Stage(
            name, in: state, layout: steps, source: examination.sourceRoot, monitor: monitor)
        try stage.fill()

        let staged = zip(steps.arrivals, stage.outcomes)
        if let reduced = Synchronizer.withoutOmissions(plan, staged.map { ($0.file.path, $1) }) {
            guard reduced.problems.isEmpty || options.keepGoing else {
                var report = Report(.failed, plan)
                report.problems = reduced.problems
                return report
            }
            plan = reduced
            steps = try layout(plan, slots: steps.slotNumbers)
            try stage.makeSlotDirectories(steps.slotDirectories)
        }

        let header = ManifestHeader(
            id: id, root: target, created: Timestamp(examination.scanned), source: examination.source)
        try writeManifest(header, plan, staged.map { ($0.file, $1) }, state, stage)
        try HistoryRecord(
            id: id, created: header.created, previous: examination.header?.id, difference: plan.difference,
            root: plan.root, layout: steps, summary: plan.summary
        ).write(to: stage.directory)

        monitor.report(Progress(.syncing))
        try directory.syncFileSystem()
        monitor.report(Progress(.committing))
        try monitor.checkCancellation()
        let transaction = try Commit.prepare(steps, id: id, root: directory, state: state)
        try Ballast.make(for: transaction, in: stage.directory)
        try Recovery(root: directory, state: state).commit(transaction)

        var report = Report(.committed, plan)
        tidy(state, examination.scanned, &report)
        return report
    }

    /// After the target is as it should be: nothing that goes wrong here changes that, so it is a note.
    private func tidy(_ state: TargetState, _ scanned: FileTime, _ report: inout Report) {
        do {
            // A run with problems has not looked at everything.
            if report.problems.isEmpty { try state.markRun(scanned: scanned) }
            try Retention(state).apply()
        } catch {
            report.notes.append("the state could not be tidied: \(Synchronizer.syncError(error))")
        }
    }

    /// The plan without what could not be staged; nil when everything could.
    private static func withoutOmissions(_ plan: Plan, _ outcomes: [(RelativePath, Stage.Outcome)]) -> Plan? {
        var difference = plan.difference
        var problems = plan.problems
        var omitted = false
        for (path, outcome) in outcomes {
            switch outcome {
            case .staged: continue
            case .vanished: difference.omit(path, keepingOld: false)
            case .failed(let problem):
                difference.omit(path, keepingOld: true)
                problems.append(problem)
            }
            omitted = true
        }
        guard omitted else { return nil }
        var reduced = Plan(difference, root: plan.root)
        reduced.notes = plan.notes
        reduced.problems = problems.sorted { $0.path < $1.path }
        return reduced
    }

    private func writeManifest(
        _ header: ManifestHeader, _ plan: Plan, _ outcomes: [(File, Stage.Outcome)],
        _ state: TargetState, _ stage: Stage
    ) throws {
        let difference = plan.difference
        var update = ManifestUpdate()
        for problem in plan.problems { update.distrust(problem.path) }
        for path in difference.forgotten { update.remove(path) }
        for (file, _) in difference.deleted { update.remove(file.path) }
        for pair in difference.pairs where pair.isRenamed { update.remove(pair.target.path) }
        for pair in difference.pairs where !pair.replacesContent {
            update.set(
                pair.source.recorded(likeIn: pair.target.status), targetInode: pair.target.status.inode)
        }
        for (file, outcome) in outcomes {
            guard case .staged(let source, let target) = outcome else { continue }
            update.set(file.with(source).recorded(likeIn: target), targetInode: target.inode)
        }
        var file = try PendingFile(TargetState.Name.manifest, in: stage.directory)
        _ = try update.write(header, over: try state.manifest(), to: &file)
        // The barrier after the stage makes it durable.
        try file.commit(durably: false)
    }
}

extension File {
    /// Another status of the same file, taken later.
    fileprivate func with(_ status: FileStatus) -> File {
        File(path: path, status: status, destination: destination)
    }

    /// What the manifest says: the source's identity and times, with the owner that the target could take.
    fileprivate func recorded(likeIn target: FileStatus) -> File {
        guard !Account.isRoot else { return self }
        var status = status
        (status.owner, status.group) = (target.owner, target.group)
        return with(status)
    }
}
