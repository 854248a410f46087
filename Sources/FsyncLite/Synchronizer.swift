import FileSystem

/// Makes a target the mirror of a source: every stage, in order.
///
///     source ──scan──┐
///     target ──scan──┼──> diff ──> plan ──> guards ──> stage ──> commit ──> manifest and history
///     manifest ─read─┘
///
/// Calls block; run them on a thread of your own.
public struct Synchronizer: Sendable {
    private let source: Source
    private let target: [UInt8]
    private let options: SyncOptions
    private let monitor: any Monitor

    private enum Source: Sendable {
        case directory([UInt8])
        case snapshot(Restoration)
    }

    /// - Parameters:
    ///   - source: the path of a directory, whose *contents* are mirrored; a symlink to one is followed.
    ///   - target: the path of the directory that becomes the mirror.
    public init(
        source: [UInt8], target: [UInt8], options: SyncOptions = SyncOptions(),
        monitor: any Monitor = SilentMonitor()
    ) {
        self.source = .directory(source)
        self.target = target
        self.options = options
        self.monitor = monitor
    }

    /// Brings an earlier tree back, by the same steps.
    public init(_ restoration: Restoration, monitor: any Monitor = SilentMonitor()) {
        source = .snapshot(restoration)
        target = restoration.destination ?? restoration.target
        options = restoration.options
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
    /// - Parameter saved: does just this plan. Where source or target are not as they were when it was made, the
    ///   report is `refused`, with an error of code `stale` and a refusal for each path; nothing is written.
    /// - Throws: `SyncError`, as `plan`, and `locked` while another run writes. What went wrong later is in
    ///   the report.
    public func apply(exactly saved: SavedPlan? = nil) throws -> Report {
        let holder = try lockHolder()
        defer { withExtendedLifetime(holder) {} }
        // The root is opened, for the errors that a sync will tell, before anything is written.
        var root = try TargetRoot(target)
        try root.lock()
        // Finishing a commit is not what a saved plan says.
        if saved != nil, try root.state?.hasJournal() == true { throw Synchronizer.pendingCommit(target) }
        if try root.recover() {
            root = try TargetRoot(target)
            try root.lock()
        }
        let examination = try examine(root)
        var report = Report(.refused, examination.plan)
        if let drift = saved?.drift(from: examination.plan), !drift.isEmpty {
            report.refusals = drift
            report.error = SyncError(
                .stale, path: target, "the saved plan no longer fits, and nothing was done")
            return report
        }
        guard report.refusals.isEmpty else { return report }
        guard !report.problems.contains(where: \.isBlocking) || options.keepGoing else {
            report.outcome = .failed
            return report
        }
        if report.summary.actions == 0, !examination.isRecordOutdated, let state = root.state {
            report.outcome = .unchanged
            try leave(root, state, examination, &report)
            return report
        }
        do {
            try root.make(parents: options.createParents)
            report = try commit(examination, &root, isExact: saved != nil)
        } catch let error as SyncError where error.code == .pending {
            report.outcome = .pending
            report.error = error
            return report
        } catch let error as SyncError where error.code == .locked {
            throw error
        } catch {
            let error = Synchronizer.syncError(error)
            report.outcome = error.code == .refused ? .refused : .failed
            report.error = error
        }
        guard report.outcome == .failed || report.outcome == .refused else { return report }
        // What is staged serves the next run.
        if report.error?.code == .interrupted { return report }
        do {
            try root.withdraw()
        } catch {
            report.notes.append("what was staged could not be removed: \(Synchronizer.syncError(error))")
        }
        return report
    }

    static func pendingCommit(_ target: [UInt8]) -> SyncError {
        SyncError(
            .pending, path: target,
            "a commit was begun and not ended; run: fsync-lite recover \(escapedText(target))")
    }

    private static func syncError(_ error: any Error) -> SyncError {
        switch error {
        case let error as SyncError: error
        case let error as SystemError: SyncError(error)
        default: SyncError(.failed, "\(error)")
        }
    }

    private func examine(_ root: TargetRoot) throws -> Examination {
        switch source {
        case .directory(let path):
            try Examination(source: path, root: root, options: options, monitor: monitor)
        case .snapshot(let restoration): try Examination(restoration, root: root, monitor: monitor)
        }
    }

    /// The target whose snapshot goes elsewhere, which nobody shall write to meanwhile; nil otherwise.
    private func lockHolder() throws -> TargetRoot? {
        guard case .snapshot(let restoration) = source, restoration.destination != nil else { return nil }
        let root = try TargetRoot(restoration.target)
        // It is refused to go to the target itself, which is locked as such.
        guard try root.original?.identity != TargetRoot(target).original?.identity else { return nil }
        try root.lock()
        if try root.state?.hasJournal() ?? false { throw Synchronizer.pendingCommit(restoration.target) }
        return root
    }

    // MARK: Writing

    /// Stages and commits. Errors before the commit leave the old tree; the caller withdraws the stage.
    ///
    /// - Parameter isExact: what changed in the source since the plan is not mirrored but an error.
    private func commit(
        _ examination: Examination, _ root: inout TargetRoot, isExact: Bool
    ) throws -> Report {
        if !options.exchanges { try root.moveState(beside: false) }
        var state = try root.makeState()
        try state.setCopy(examination.copy)
        let id = TransactionID.next(after: try state.transactions().last?.description)
        guard let directory = root.directory, let name = FileName(id.utf8) else {
            throw SyncError(.failed, path: target, "it does not exist")
        }
        let place = options.exchanges ? try directory.place(.read) : nil
        guard !options.exchanges || place != nil else {
            throw SyncError(.failed, path: target, "somebody moved this meanwhile")
        }
        var plan = examination.plan

        func layout(_ plan: Plan, slots: [RelativePath: Int] = [:]) throws -> Layout {
            // As it was before the state was made in it.
            let status = try root.original ?? directory.status()
            return Layout(
                plan.difference, root: try rootAttributes(plan, examination, directory, status),
                transaction: name,
                replacesManifest: examination.header != nil, slots: slots)
        }
        var steps = try layout(plan)
        var options = options
        options.attributes = examination.attributes
        let attributes = options.settableAttributes
        let previous = try PreviousStage(state, for: steps.arrivals.map(\.file), attributes)
        let stage = try Stage(
            name, in: state, layout: steps, source: examination.contents, root: directory,
            previous: previous, options: options, monitor: monitor)
        try stage.fill()
        try previous?.discard(from: state)

        let staged = zip(steps.arrivals, stage.outcomes).compactMap { arrival, outcome in
            outcome.map { (path: arrival.file.path, outcome: $0) }
        }
        if isExact { try Synchronizer.check(stage.outcomes, of: steps) }
        let tried = try stage.tryAttributes(of: plan.difference.pairs + [plan.root].compactMap(\.self))
        if let reduced = plan.asFarAsAchieved(staged, tried: tried) {
            guard !reduced.problems.contains(where: \.isBlocking) || options.keepGoing else {
                var report = Report(.failed, plan)
                report.problems = reduced.problems
                return report
            }
            plan = reduced
            steps = try layout(plan, slots: steps.slotNumbers)
            try stage.makeSlotDirectories(steps.slotDirectories)
        }

        let header = try header(id, examination, plan)
        var manifest = try PendingFile(TargetState.Name.manifest, in: stage.directory)
        let missing =
            options.recordsDigests
            ? MissingDigests(
                source: examination.contents.root, target: directory, scanned: examination.scanned,
                monitor: monitor) : nil
        var update = ManifestUpdate(plan, staged: staged)
        update.passOver(examination.passedOver)
        _ = try update.write(header, over: try state.manifest(), to: &manifest, digests: missing)
        if let note = missing?.note { plan.notes.append(note) }
        // The barrier makes it durable with everything else that is staged.
        try manifest.commit(durably: false)
        var exchange: Exchange?
        if let place, !root.isSubvolume {
            // The last barrier has little left to do: the less time between copy and swap, the better.
            try directory.syncFileSystem()
            if options.verifiesCopies { try stage.reread() }
            let copy = try Exchange(
                of: directory, at: place, in: stage.directory, for: plan, known: try History(state).clones,
                scanned: examination.scanned, options: options, monitor: monitor)
            try copy.change(by: steps, id: id, state: state)
            try copy.renumber(header, in: stage.directory)
            exchange = copy
        }
        // What changes nothing but the manifest is no step to go back to, and does not displace one.
        let originals = exchange?.originals ?? [:]
        if plan.summary.actions > 0 || examination.header == nil || !originals.isEmpty {
            try HistoryRecord(
                id: id, created: Timestamp(examination.scanned),
                previous: History(state).snapshots().first, plan: exchange?.asCopied(plan) ?? plan,
                layout: steps, originals: originals
            ).write(to: stage.directory, durably: false)
        }

        monitor.report(Progress(.syncing))
        try directory.syncFileSystem()
        if options.verifiesCopies, exchange == nil { try stage.reread() }
        monitor.report(Progress(.committing))
        try monitor.checkCancellation()
        if let exchange {
            let attributes = try rootAttributes(
                plan, examination, directory, root.original ?? directory.status())
            let transaction = try exchange.transaction(
                id: id, name, attributes, replacesManifest: examination.header != nil, state: state)
            try Ballast.make(for: transaction, in: stage.directory)
            try root.moveState(beside: true)
            state = try root.makeState()
            try exchange.recovery(state).commit(transaction)
            root.becomes(exchange.tree)
        } else if let place {
            let exchange = try SubvolumeExchange(of: directory, state, at: place)
            try exchange.change(by: steps, id: id, name)
            try exchange.swap(monitor)
            state = exchange.state
            root.becomes(exchange.tree)
        } else {
            let transaction = try Commit.prepare(steps, id: id, root: directory, state: state)
            try Ballast.make(for: transaction, in: stage.directory)
            try Recovery(root: directory, state: state).commit(transaction)
        }

        var report = Report(.committed, plan)
        try leave(root, state, examination, &report)
        return report
    }

    /// The new manifest's.
    private func header(_ id: String, _ examination: Examination, _ plan: Plan) throws -> ManifestHeader {
        // Nobody has looked at the source: what the last look saw is all that is known of it.
        if !examination.isOfSource, var header = examination.header {
            header.id = id
            return header
        }
        var header = ManifestHeader(
            id: id, root: try LocalFile(bytes: target).absolute(), created: Timestamp(examination.scanned),
            source: examination.source)
        header.targetSeen = examination.targetSeen.map(Timestamp.init)
        header.attributes = examination.attributes
        header.filters = options.filters.summary
        header.rootOmitted = plan.root?.source.omitted ?? []
        if !header.rootOmitted.isEmpty {
            header.rootChanged = (plan.root?.source.status.changed).map(Timestamp.init)
        }
        // A repair changes nothing of what a run looks at.
        if !options.repairs.isEmpty, let last = examination.header {
            (header.attributes, header.filters, header.source) = (last.attributes, last.filters, last.source)
            (header.rootOmitted, header.rootChanged) = (last.rootOmitted, last.rootChanged)
        }
        return header
    }

    /// RACE: somebody wrote to a file after it was planned and before it was copied. The copy is whole, but of
    /// what nobody has looked at.
    private static func check(_ outcomes: [Stage.Outcome?], of layout: Layout) throws {
        for (arrival, outcome) in zip(layout.arrivals, outcomes) where arrival.file.isFile {
            let path = arrival.file.path.bytes
            switch outcome {
            case .staged(let file, _)? where file.status.changed == arrival.file.status.changed: continue
            case .failed(let problem)?: throw SyncError(.failed, path: path, problem.message)
            case .staged, .vanished, nil:
                throw SyncError(.stale, path: path, "it changed in the source since the plan")
            }
        }
    }

    /// What the root has and what it shall have.
    ///
    /// - Parameter status: as it was before the state was made in it.
    private func rootAttributes(
        _ plan: Plan, _ examination: Examination, _ target: Directory, _ status: FileStatus
    ) throws -> (old: Attributes, new: Attributes) {
        if let (old, new) = plan.root?.attributes { return (Attributes(status, extended: old.extended), new) }
        let attributes = examination.attributes
        let source = try examination.contents.rootFile(attributes.extended)
        var wanted = Attributes(source.status, extended: source.extended)
        if !attributes.contains(.owner) { (wanted.owner, wanted.group) = (status.owner, status.group) }
        // One that was just made may have inherited ACLs.
        let present = try ObjectHandle(of: target).extendedAttributes(attributes.extended)
        return (Attributes(status, extended: present), wanted)
    }

    /// After the target is as it should be: nothing that goes wrong with its state changes that, so it is a note.
    private func leave(
        _ root: TargetRoot, _ state: TargetState, _ examination: Examination, _ report: inout Report
    ) throws {
        guard examination.copy == nil else { return try root.leaveBare() }
        func noting(_ step: () throws -> Void) {
            do {
                try step()
            } catch {
                report.notes.append("the state could not be tidied: \(Synchronizer.syncError(error))")
            }
        }
        // A run with problems has not looked at everything.
        if examination.isOfSource, !report.problems.contains(where: \.isBlocking) {
            noting {
                try state.markRun(scanned: examination.scanned, trusting: examination.targetSeen != nil)
            }
        }
        noting {
            try DisplacedTree.collect(in: state)
            var displaced = examination.scanned
            displaced.seconds -= DisplacedTree.respite
            let kept =
                try DisplacedTree.reduce(in: state, displaced: displaced)
                + (root.directory.flatMap(SubvolumeTrees.init(of:))?.reduce(in: state, displaced: displaced)
                    ?? [])
            for path in kept {
                report.notes.append(
                    "what somebody put into the target at the last moment is kept: \(escapedText(path))")
            }
        }
        noting {
            var policy = try state.settings().retention
            policy.keepLast = options.keepLast ?? policy.keepLast
            try Retention(state).apply(policy)
        }
    }
}
