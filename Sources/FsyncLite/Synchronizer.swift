import FileStorage
import FileSystem

/// Makes a target the mirror of a source: all stages, in order.
///
///     source ──scan──┐
///     target ──scan──┼──> diff ──> plan ──> guards ──> stage ──> commit ──> manifest and history
///     manifest ─read─┘
///
/// Calls block; run them on a separate thread.
public struct Synchronizer: Sendable {
    let source: Source
    let target: [UInt8]
    /// The name of the target with the history, in messages with a command.
    let name: [UInt8]
    private(set) var options: SyncOptions
    let monitor: any Monitor
    /// The run stops before its commit.
    private var prepares = false

    enum Source: Sendable {
        case mirror(MirrorSource)
        case remote(RemoteSource)
        case snapshot(Restoration)
        /// For another directory, from a target on this machine or another one.
        case copy(Restoration, of: FarSnapshot?)
    }

    /// - Parameters:
    ///   - source: the path of a directory whose *contents* are mirrored; a symlink to one is followed.
    ///   - target: the path of the directory that becomes the mirror.
    public init(
        source: [UInt8], target: [UInt8], options: SyncOptions = SyncOptions(),
        monitor: any Monitor = SilentMonitor()
    ) {
        self.init(.directory(source), target: target, options: options, monitor: monitor)
    }

    /// - Parameters:
    ///   - source: a directory, or several with names.
    ///   - target: the path of the directory that becomes the mirror.
    public init(
        _ source: MirrorSource, target: [UInt8], options: SyncOptions = SyncOptions(),
        monitor: any Monitor = SilentMonitor()
    ) {
        self.source = RemoteSource(source).map(Source.remote) ?? .mirror(source)
        (self.target, name, self.options, self.monitor) = (target, target, options, monitor)
    }

    /// Mirrors the source of a client, which is another machine.
    ///
    /// - Parameter name: the target's name in messages with a command.
    package init(
        _ client: Client, target: [UInt8], name: [UInt8], options: SyncOptions, monitor: any Monitor
    ) {
        source = .remote(RemoteSource(client))
        (self.target, self.name, self.options, self.monitor) = (target, name, options, monitor)
    }

    var isMirror: Bool {
        switch source {
        case .mirror, .remote: true
        case .snapshot, .copy: false
        }
    }

    /// The target itself becomes an earlier tree.
    private var isReturn: Bool { if case .snapshot = source { true } else { false } }

    /// Restores an earlier tree, by the same stages.
    ///
    /// - Parameter snapshot: the tree, if the target is on another machine.
    public init(
        _ restoration: Restoration, from snapshot: FarSnapshot? = nil, monitor: any Monitor = SilentMonitor()
    ) {
        source =
            restoration.destination == nil ? .snapshot(restoration) : .copy(restoration, of: snapshot)
        target = restoration.destination ?? restoration.target
        name = restoration.name ?? restoration.target
        options = restoration.options
        self.monitor = monitor
    }

    /// Applies the plan as one transaction, after finishing an interrupted commit.
    ///
    /// - Parameter saved: the exact plan to carry out. If source or target have changed since it was made, no file is
    ///   written. The report is then `refused`, with an error of code `stale` and a refusal for each path.
    /// - Throws: `SyncError`, as `plan`, and `locked` while another run writes. Later errors are in the report.
    public func apply(exactly saved: SavedPlan? = nil) throws -> Report {
        // Before the lock, because the user may have to enter a password.
        if case .remote(let source) = source { try source.connect(monitor) }
        let holder = try lockHolder()
        defer { withExtendedLifetime(holder) {} }
        // The root is opened before any write, because a sync reports write errors since the open.
        var root = try TargetRoot(target)
        var lockNote = try root.lock()
        // A saved plan does not include finishing a commit. The names of snapshots in a restore would shift with it.
        if saved != nil || isReturn, try root.state?.hasJournal() == true {
            throw SyncError.pendingCommit(name)
        }
        let wasPending = try root.recover() != nil
        if wasPending {
            root = try TargetRoot(target)
            lockNote = try root.lock()
        }
        let note = try endCopy(&root, wasPending: wasPending)
        var closed: ClosedDirectories?
        do {
            var report = try remembering(root).apply(to: &root, exactly: saved, &closed)
            report.notes.insert(contentsOf: [lockNote, note].compactMap(\.self), at: 0)
            if ![.committed, .unchanged, .prepared, .pending].contains(report.outcome) {
                try closed?.close()
            }
            return report
        } catch {
            try closed?.close(after: error)
            throw error
        }
    }

    /// Does all of a run except its commit, which `Target.commit` does later. The target has the old tree until then,
    /// and no snapshot is removed.
    ///
    /// A later run reuses the prepared files.
    ///
    /// - Returns: a report `prepared`, or `unchanged`, with the `transaction` to be committed.
    /// - Throws: as `apply`; `usage` for an exchange.
    public func prepare(exactly saved: SavedPlan? = nil) throws -> Report {
        guard !options.exchanges else {
            throw SyncError(
                .usage, path: target,
                "an exchange copies the tree during the commit, so it cannot be prepared")
        }
        var synchronizer = self
        synchronizer.prepares = true
        return try synchronizer.apply(exactly: saved)
    }

    private func apply(
        to root: inout TargetRoot, exactly saved: SavedPlan?, _ closed: inout ClosedDirectories?
    ) throws -> Report {
        let planned = try examine(root, opening: &closed)
        var report = Report(.refused, planned.plan)
        if let drift = saved?.drift(from: planned.plan), !drift.isEmpty {
            report.refusals = drift
            report.error = SyncError(
                .stale, path: target, "the saved plan no longer fits, and nothing was done")
        } else if prepares, !planned.plan.givingWay.isEmpty {
            report.refusals.append(.spaceForPrepared)
        } else if report.refusals.isEmpty, report.problems.contains(where: options.stops) {
            report.outcome = .failed
        }
        guard report.refusals.isEmpty, report.outcome != .failed else {
            return report
        }
        let takeover = try root.state?.endPrepared().map {
            "this run uses the files that were prepared as \($0), which can no longer be committed"
        }
        report.notes += [takeover].compactMap(\.self)
        if report.summary.actions == 0, !planned.isStep, let state = root.state {
            try endUnchanged(planned, root, state, &report)
            report.refusedProbes = planned.plan.difference.policy.probes?.refused ?? .init()
            return report
        }
        report = try carryOut(planned, in: &root, isExact: saved != nil)
        report.refusedProbes = planned.plan.difference.policy.probes?.refused ?? .init()
        report.notes += [takeover].compactMap(\.self)
        return report
    }

    /// The same, with the target's rule for digests.
    func remembering(_ root: TargetRoot) throws -> Synchronizer {
        var synchronizer = self
        if isMirror { synchronizer.options.remember(try root.state?.manifest()?.header.digests) }
        return synchronizer
    }

    /// Ends a run that leaves the tree unchanged: no step of the history.
    private func endUnchanged(
        _ planned: PlannedSync, _ root: TargetRoot, _ state: StateDirectory, _ report: inout Report
    ) throws {
        report.outcome = .unchanged
        report.transaction = prepares ? planned.header.map { Target.unchanged + $0.id } : nil
        if planned.isRecordOutdated, let directory = root.directory,
            let note = try NextManifest(
                planned: planned, options: options, target: directory, path: target, monitor: monitor
            ).rewrite(in: state)
        {
            report.notes.append(note)
        }
        var tidying = Tidying(planned)
        if prepares { tidying.rules = nil }
        try tidying.run(root, state, &report)
    }

    /// Writes to the target. An error before the commit is in the report.
    private func carryOut(_ planned: PlannedSync, in root: inout TargetRoot, isExact: Bool) throws -> Report {
        var report = Report(.refused, planned.plan)
        var maker = SpaceMaker(
            planned.need, neededSteps: planned.neededSteps,
            removesWhenFull: planned.retention?.removesWhenFull ?? false && !prepares,
            allowed: isExact ? planned.plan.givingWay : nil)
        do {
            try root.make(parents: options.createParents)
            if report.summary.actions > 0 { try maker.make(in: root) }
            report = try commit(planned, &root, &maker, isExact: isExact)
        } catch let error as SyncError where error.code == .pending {
            report.outcome = .pending
            report.error = error
            report.removedForSpace = maker.gone
            return report
        } catch let error as SyncError where error.code == .locked {
            throw error
        } catch {
            let error = maker.explained(SyncError(wrapping: error), in: root)
            report.outcome = error.code == .refused ? .refused : .failed
            report.error = error
        }
        report.removedForSpace = maker.gone
        guard [.failed, .refused, .unchanged].contains(report.outcome) else { return report }
        // The next run uses the staged files again.
        if let code = report.error?.code, [.interrupted, .unreachable].contains(code) { return report }
        do {
            try root.withdraw()
        } catch {
            report.notes.append("the staged files could not be removed: \(SyncError(wrapping: error))")
        }
        return report
    }

    /// Plans. If a directory is closed to its owner, opens it by chmod, which is reverted later, and plans again.
    private func examine(
        _ root: TargetRoot, opening closed: inout ClosedDirectories?
    ) throws -> PlannedSync {
        do {
            return try examine(root)
        } catch {
            // Their modes would have to be restored, which moves the change times that the commit compares.
            if prepares { throw try Synchronizer.closedDirectory(root, error) ?? error }
            guard SyncError(wrapping: error).errno == Errno.accessDenied.rawValue else { throw error }
            closed = try root.directory.map { try ClosedDirectories(in: $0) }
            guard let closed, !closed.permissions.isEmpty else { throw error }
            var planned = try examine(root)
            planned.opened = closed.permissions
            return planned
        }
    }

    /// Ends an interrupted restore into this directory, which is no target, unless this run is the same restore.
    ///
    /// - Returns: a note about it.
    private func endCopy(_ root: inout TargetRoot, wasPending: Bool) throws -> String? {
        // The same restore may be tried again, so another restore leaves a copy without a journal unchanged.
        guard wasPending || isMirror, let copy = try root.state?.copy(), try !isSameCopy(copy) else {
            return nil
        }
        try root.removeState()
        root = try TargetRoot(target)
        try root.lock()
        return wasPending
            ? "an earlier restore into \(LocalFile(bytes: target)) was cut short; it is finished now"
            : "removed the files of an earlier restore into \(LocalFile(bytes: target)), which was cut short"
    }

    private func isSameCopy(_ copy: [UInt8]) throws -> Bool {
        guard case .copy(let restoration, let snapshot) = source else { return false }
        return try restoration.copy(of: snapshot?.id ?? FoundSnapshot(of: restoration).id) == copy
    }

    func examine(_ root: TargetRoot) throws -> PlannedSync {
        switch source {
        case .mirror(let source):
            try Planner(root: root, monitor: monitor).plan(mirroring: { try LocalTree(source) }, options)
        case .remote(let source):
            try Planner(root: root, monitor: monitor).plan(
                mirroring: { try source.open(options, monitor) }, options)
        case .snapshot(let restoration):
            try Planner(root: root, monitor: monitor).plan(restoration)
        case .copy(let restoration, let snapshot):
            try Planner(root: root, monitor: monitor).plan(
                copying: snapshot?.tree ?? CopiedSnapshot(of: restoration), restoration)
        }
    }

    /// The target on this machine whose snapshot is copied elsewhere, locked against other runs; nil for other sources.
    private func lockHolder() throws -> TargetRoot? {
        guard case .copy(let restoration, of: nil) = source else { return nil }
        // A copy to the target itself, or into its state, is refused later. The lock on the copy is then the same lock.
        let (holder, copy) = (try TargetRoot(restoration.target), try TargetRoot(target).directory)
        let isOwn = try [holder.directory, holder.state?.directory].compactMap(\.self).contains { locked in
            try copy.map(locked.isSame) ?? false
        }
        return isOwn ? nil : try restoration.lockTarget()
    }

    // MARK: Writing

    /// Stages and commits. If the disk is full before the journal, makes space and tries again.
    private func commit(
        _ planned: PlannedSync, _ root: inout TargetRoot, _ maker: inout SpaceMaker, isExact: Bool
    ) throws -> Report {
        while true {
            var stage: Stage?
            defer { stage?.close() }
            do {
                return try attempt(planned, &root, isExact: isExact, in: &stage)
            } catch {
                let hasSpace = try maker.makeMore(in: root, after: error)
                // For the next attempt, or a later run.
                if hasSpace || [.interrupted, .unreachable].contains(SyncError(wrapping: error).code) {
                    stage?.keep()
                }
                guard hasSpace else { throw error }
            }
        }
    }

    /// Stages and commits once. Errors before the commit leave the old tree; the caller withdraws the stage.
    ///
    /// - Parameters:
    ///   - isExact: a change of the source since the plan is an error.
    ///   - stage: becomes the stage of this attempt.
    private func attempt(
        _ planned: PlannedSync, _ root: inout TargetRoot, isExact: Bool, in stage: inout Stage?
    ) throws -> Report {
        if !planned.exchanges { try root.moveState(beside: false) }
        let state = try root.makeState()
        try state.setCopy(planned.copy)
        try TargetLists.convert(state)
        let monitor = ActivityMonitor(in: state, began: planned.scanned.time, telling: monitor)
        defer { monitor.end() }
        var attempt = try Attempt(
            planned, at: target, root, state, options, monitor, isPrepared: prepares)
        stage = attempt.stage
        try attempt.stage.fill()
        if let problems = try attempt.reduceToStaged(isExact: isExact) {
            var report = Report(.failed, planned.plan)
            report.problems = problems
            return report
        }
        // No action could be staged.
        if attempt.plan.summary.actions == 0, planned.isOfSource, !planned.isStep {
            var planned = planned
            planned.plan = attempt.plan
            var report = Report(.unchanged, planned.plan)
            try endUnchanged(planned, root, state, &report)
            return report
        }
        let note = planned.isOfSource ? attempt.plan.revertedChanges : nil
        guard !prepares else {
            attempt.plan.notes += [note].compactMap(\.self)
            try attempt.prepare(planned.retention?.policy ?? .everything)
            var report = Report(.prepared, attempt.plan)
            report.transaction = attempt.id
            return report
        }
        let committed = try attempt.commit(in: &root)
        monitor.end()
        attempt.plan.notes += [note].compactMap(\.self)
        var report = Report(.committed, attempt.plan)
        try Tidying(planned).run(root, committed, &report, id: attempt.id)
        return report
    }
}
