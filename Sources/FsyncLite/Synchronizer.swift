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
        // A run that goes by meanwhile replaces the manifest: a plan of two trees is made again.
        for _ in 0..<5 {
            let root = try TargetRoot(target)
            if let state = root.state, try state.hasJournal() { throw Synchronizer.pendingCommit(target) }
            let before = try root.state?.manifestVersion()
            let found = Result {
                do {
                    return try examine(root, ComparisonLog(root, writes: false))
                } catch {
                    throw try Synchronizer.closedDirectory(root, error) ?? error
                }
            }
            guard let state = root.state else { return try found.get().plan }
            // What goes wrong when the tree changes meanwhile is no error of the tree.
            if try state.hasJournal() { throw Synchronizer.pendingCommit(target) }
            guard try state.manifestVersion() == before else { continue }
            let examination = try found.get()
            var plan = examination.plan
            if plan.refusals.isEmpty { plan.expiring = try expiring(examination, state) }
            if try state.hasJournal() { throw Synchronizer.pendingCommit(target) }
            if try state.manifestVersion() == before { return plan }
        }
        throw SyncError(.pending, path: target, "it is being written to; run plan again")
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
        var closed: ClosedDirectories?
        do {
            let report = try apply(to: &root, exactly: saved, &closed)
            if ![.committed, .unchanged, .pending].contains(report.outcome) { try closed?.close() }
            return report
        } catch {
            try closed?.close()
            throw error
        }
    }

    private func apply(
        to root: inout TargetRoot, exactly saved: SavedPlan?, _ closed: inout ClosedDirectories?
    ) throws -> Report {
        var examination: Examination
        let log = try ComparisonLog(root, writes: true)
        do {
            examination = try examine(root, log)
        } catch {
            // It may be that the owner has closed a directory to themselves, as chmod would open it.
            closed = try root.directory.map { try ClosedDirectories(in: $0) }
            guard let closed, !closed.permissions.isEmpty else { throw error }
            examination = try examine(root, log)
            examination.opened = closed.permissions
        }
        root = log.root
        var report = Report(.refused, examination.plan)
        if let drift = saved?.drift(from: examination.plan), !drift.isEmpty {
            report.refusals = drift
            report.error = SyncError(
                .stale, path: target, "the saved plan no longer fits, and nothing was done")
        } else if report.refusals.isEmpty, report.problems.contains(where: options.stops) {
            report.outcome = .failed
        }
        guard report.refusals.isEmpty, report.outcome != .failed else {
            // What was compared was noted; a run that is refused leaves no state where there was none.
            if root.stateWasMade { try root.withdraw() }
            return report
        }
        if report.summary.actions == 0, !examination.isStep, let state = root.state {
            report.outcome = .unchanged
            if examination.isRecordOutdated { try rewriteManifest(examination, root, state, &report) }
            try leave(root, state, examination, &report)
            return report
        }
        var room = RoomMaker(
            examination.need, allowed: saved.map { _ in examination.plan.givingWay })
        do {
            try root.make(parents: options.createParents)
            if report.summary.actions > 0 { try room.make(in: root) }
            report = try commit(examination, &root, &room, isExact: saved != nil)
        } catch let error as SyncError where error.code == .pending {
            report.outcome = .pending
            report.error = error
            report.gaveWay = room.gone
            return report
        } catch let error as SyncError where error.code == .locked {
            throw error
        } catch {
            let error = Synchronizer.syncError(error)
            report.outcome = error.code == .refused ? .refused : .failed
            report.error = error
        }
        report.gaveWay = room.gone
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

    /// What goes by the rules of retention when the plan has been carried out.
    private func expiring(_ examination: Examination, _ state: StateDirectory) throws -> [String] {
        guard examination.isOfSource, options.repairs.isEmpty, examination.header != nil else { return [] }
        let rules = try options.retention.rules(kept: examination.header?.retention, state.settings())
        let plan = examination.plan
        return try Retention(state).expiring(
            rules.policy, after: plan.summary.actions > 0 ? plan.summary : nil,
            began: Timestamp(examination.scanned.time.fileTime), without: plan.givingWay)
    }

    static func pendingCommit(_ target: [UInt8]) -> SyncError {
        SyncError(
            .pending, path: target,
            "a commit was begun and not ended; run: fsync-lite recover \(escapedText(target))")
    }

    /// What `apply` would open and `plan`, which changes nothing, cannot look into.
    private static func closedDirectory(_ root: TargetRoot, _ error: any Error) throws -> SyncError? {
        guard syncError(error).errno == Errno.accessDenied.rawValue, let directory = root.directory,
            let path = try ClosedDirectories.first(in: directory)
        else { return nil }
        return SyncError(
            .failed, path: root.path + [UInt8(ascii: "/")] + path.bytes,
            "its owner may not read this directory; apply opens it for its run, and plan changes nothing: "
                + "make it readable (chmod u+rwx), or run apply")
    }

    private static func syncError(_ error: any Error) -> SyncError {
        switch error {
        case let error as SyncError: error
        case let error as SystemError: SyncError(error)
        default: SyncError(.failed, "\(error)")
        }
    }

    private func examine(_ root: TargetRoot, _ log: ComparisonLog) throws -> Examination {
        switch source {
        case .directory(let path):
            try Examination(source: path, root: root, options: options, log: log, monitor: monitor)
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

    /// Stages and commits; where the disk is full before the journal, again when something has given way.
    private func commit(
        _ examination: Examination, _ root: inout TargetRoot, _ room: inout RoomMaker, isExact: Bool
    ) throws -> Report {
        while true {
            do {
                if let report = try attempt(examination, &root, &room, isExact: isExact) { return report }
            } catch {
                guard try room.makeMore(in: root, after: error) else { throw error }
            }
        }
    }

    /// Errors before the commit leave the old tree; the caller withdraws the stage.
    ///
    /// - Parameter isExact: what changed in the source since the plan is not mirrored but an error.
    /// - Returns: nil where the disk was full and something has given way.
    private func attempt(
        _ examination: Examination, _ root: inout TargetRoot, _ room: inout RoomMaker, isExact: Bool
    ) throws -> Report? {
        if !options.exchanges { try root.moveState(beside: false) }
        var state = try root.makeState()
        try state.setCopy(examination.copy)
        let monitor = ActivityMonitor(in: state, began: examination.scanned.time, telling: monitor)
        defer { monitor.end() }
        let id = TransactionID.next(after: try state.transactions().last?.description)
        guard let directory = root.directory, let name = FileName(id.utf8) else {
            throw SyncError(.failed, path: target, "it does not exist")
        }
        let place = options.exchanges ? try directory.place(.read) : nil
        guard !options.exchanges || place != nil else {
            throw SyncError(.failed, path: target, "somebody moved this meanwhile")
        }
        var plan = examination.plan
        var rootPair = plan.root

        func layout(_ plan: Plan, after first: OperationGraph? = nil) throws -> OperationGraph {
            // As it was before the state was made in it.
            let status = try root.original ?? directory.status()
            return OperationGraph(
                plan.difference, root: try rootAttributes(rootPair, examination, directory, status),
                transaction: name,
                replacesManifest: examination.header != nil, projects: examination.projects,
                after: first)
        }
        var steps = try layout(plan)
        var options = options
        options.attributes = examination.attributes
        let attributes = options.settableAttributes
        let previous = try PreviousStage(state, for: steps.arrivals.map(\.file), attributes)
        let stage = try Stage(
            name, in: state, layout: steps, source: examination.contents, root: directory,
            previous: previous, options: options, monitor: monitor)
        do {
            try stage.fill()
        } catch {
            defer { stage.close() }
            guard try room.makeMore(in: root, after: error) else { throw error }
            stage.keep()
            return nil
        }
        try previous?.discard(from: state)

        let staged = zip(steps.arrivals, stage.outcomes).compactMap { arrival, outcome in
            outcome.map { (path: arrival.file.path, outcome: $0) }
        }
        if isExact { try Synchronizer.check(stage.outcomes, of: steps) }
        // Of a root that was just made, nothing is known before it is tried.
        let ownRoot = try rootPair ?? newRoot(examination, directory)
        let tried = try stage.tryAttributes(of: plan.difference.matches + [ownRoot])
        if let file = tried[.root] {
            rootPair = ownRoot
            rootPair?.source = file
        }
        if let reduced = plan.asFarAsAchieved(staged, tried: tried) {
            guard !reduced.problems.contains(where: options.stops) else {
                var report = Report(.failed, plan)
                report.problems = reduced.problems
                return report
            }
            plan = reduced
            steps = try layout(plan, after: steps)
            try stage.makeSlotDirectories(steps.slotDirectories)
        }
        plan.noteGrowing(staged)

        var header = try header(id, examination, root: rootPair ?? ownRoot)
        header.commits = try commits(examination, state)
        var manifest = try stage.newManifest()
        let missing = missingDigests(examination, directory)
        var update = try ManifestUpdate(
            plan, over: state.manifest(withUncovered: true), staged: staged, layout: steps)
        update.passOver(examination.passedOver)
        _ = try update.write(
            header, over: try state.manifest(withUncovered: true), to: &manifest, digests: missing)
        if let note = missing?.note { plan.notes.append(note) }
        // The barrier makes it durable with everything else that is staged.
        try manifest.commit(durably: false)
        var exchange: LinkedExchange?
        if let place, !root.isSubvolume {
            // The last barrier has little left to do: the less time between copy and swap, the better.
            try directory.syncFileSystem()
            if options.verifiesCopies { try stage.reread() }
            let copy = try LinkedExchange(
                of: directory, at: place, in: stage.directory, for: plan, known: try History(state).clones,
                scanned: examination.scanned.time.fileTime, options: options, monitor: monitor)
            try copy.change(by: steps, id: id, state: state)
            try copy.renumber(header, in: stage.directory)
            exchange = copy
        }
        try HistoryRecord(
            id: id, created: examination.scanned.time, previous: History(state).snapshots().first,
            manifest: examination.header, plan: exchange?.asCopied(plan) ?? plan, layout: steps,
            originals: exchange?.originals ?? [:], opened: examination.opened
        ).write(to: stage.directory, durably: false)

        monitor.report(SyncProgress(.syncing))
        try directory.syncFileSystem()
        if options.verifiesCopies, exchange == nil { try stage.reread() }
        monitor.report(SyncProgress(.committing))
        try monitor.checkCancellation()
        if let exchange {
            let attributes = try rootAttributes(
                rootPair, examination, directory, root.original ?? directory.status())
            let transaction = try exchange.transaction(
                id: id, name, attributes, replacesManifest: examination.header != nil, state: state)
            try ReservedSpace.make(for: transaction, in: stage.directory)
            try root.moveState(beside: true)
            state = try root.makeState()
            try state.markLinked(began: exchange.began)
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
            try ReservedSpace.make(for: transaction, in: stage.directory)
            try Recovery(root: directory, state: state).commit(transaction)
        }

        monitor.end()
        var report = Report(.committed, plan)
        try leave(root, state, examination, &report, id: id)
        return report
    }

    private func missingDigests(_ examination: Examination, _ target: Directory) -> MissingDigests? {
        guard options.recordsDigests else { return nil }
        return MissingDigests(
            source: examination.contents.root, target: target,
            scanned: examination.scanned.time.fileTime, monitor: monitor)
    }

    /// Writes the manifest anew for what only it tells, such as change times of what was compared. The tree is the
    /// same, so this is no step of the history and needs no journal: one rename brings it. A disk that has no room for it
    /// costs the next run a comparison, and no more.
    private func rewriteManifest(
        _ examination: Examination, _ root: TargetRoot, _ state: StateDirectory, _ report: inout Report
    ) throws {
        guard let old = examination.header, let directory = root.directory else { return }
        var header = try header(old.id, examination, root: examination.plan.root)
        (header.created, header.revision, header.rootIdentity) = (
            old.created, old.revision + 1, old.rootIdentity
        )
        header.commits = try commits(examination, state)
        var update = try ManifestUpdate(examination.plan, over: nil, staged: [], layout: nil)
        update.passOver(examination.passedOver)
        do {
            let missing = missingDigests(examination, directory)
            var manifest = try state.newManifest()
            _ = try update.write(
                header, over: try state.manifest(withUncovered: true), to: &manifest, digests: missing)
            try manifest.commit()
            if let note = missing?.note { report.notes.append(note) }
        } catch let error as SystemError
            where [.noSpace, .quotaExceeded, .readOnlyFileSystem].contains(error.errno)
        {
            report.notes.append("what was compared is not recorded, and will be compared again: \(error)")
        }
    }

    /// When the commits were under way whose objects may have no change time in the manifest.
    private func commits(_ examination: Examination, _ state: StateDirectory) throws -> [Range<Timestamp>] {
        // A run that looked at the target has found their change times.
        guard examination.trustsTarget, let header = examination.header else { return [] }
        let last = try state.lastCommit(header).map {
            Timestamp($0.lowerBound)..<Timestamp($0.upperBound)
        }
        let all = header.commits + [last].compactMap(\.self).filter { !header.commits.contains($0) }
        return all.suffix(ManifestHeader.mostCommits)
    }

    /// The new manifest's.
    private func header(_ id: String, _ examination: Examination, root: Match?) throws -> ManifestHeader {
        let rootEntry = root?.held
        // Nobody has looked at the source: what the last look saw is all that is known of it.
        if !examination.isOfSource, var header = examination.header {
            (header.id, header.revision, header.rootEntry) = (id, 0, rootEntry)
            if let earlier = examination.earlier {
                (header.filters, header.attributes) = (earlier.filters, earlier.attributes)
            }
            // Then the manifest does not pass for all that the target holds.
            if examination.leavesStrangers { header.scanned = nil }
            return header
        }
        var header = ManifestHeader(
            id: id, root: try LocalFile(bytes: target).absolute(), created: examination.scanned.time,
            source: examination.source)
        header.scanned = examination.scanned
        header.attributes = examination.attributes
        header.filters = options.filters.summary
        header.retention = options.retention.kept(over: examination.header?.retention)
        header.rootEntry = rootEntry
        header.rootOmitted = root?.source.omitted ?? []
        if !header.rootOmitted.isEmpty {
            header.rootChanged = (root?.source.status.changed).map(Timestamp.init)
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
    private static func check(_ outcomes: [Stage.Outcome?], of layout: OperationGraph) throws {
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
        _ match: Match?, _ examination: Examination, _ target: Directory, _ status: FileStatus
    ) throws -> (old: Attributes, new: Attributes) {
        let (old, new) = try (match ?? newRoot(examination, target)).attributes
        return (Attributes(status, extended: old.extended), new)
    }

    /// A root that was just made, which may have inherited ACLs, and what it shall be: all of it is set.
    private func newRoot(_ examination: Examination, _ target: Directory) throws -> Match {
        let attributes = examination.attributes
        let present = try ContentSource(target).rootFile(attributes.extended)
        var source = try examination.contents.rootFile(attributes.extended)
        if !attributes.contains(.owner) {
            var status = source.status
            status.keepOwner(of: present.status)
            source = source.with(status)
        }
        var match = Match(source: source, target: present)
        match.causes = [.modified, .mode, .owner, .group, .xattrs, .acls]
        return match
    }

    /// After the target is as it should be: nothing that goes wrong with its state changes that, so it is a note.
    ///
    /// - Parameter id: of the commit; nil where there was none.
    private func leave(
        _ root: TargetRoot, _ state: StateDirectory, _ examination: Examination, _ report: inout Report,
        id: String? = nil
    ) throws {
        guard examination.copy == nil else { return try root.removeState() }
        func noting(_ step: () throws -> Void) {
            do {
                try step()
            } catch {
                report.notes.append("the state could not be tidied: \(Synchronizer.syncError(error))")
            }
        }
        if examination.isOfSource {
            noting {
                try state.markRun(
                    scanned: examination.scanned.time, problems: report.problems.count)
            }
            noting { try state.remove(.compared) }
        }
        noting {
            try RetiredTree.collect(in: state)
            let scanned = examination.scanned.time.fileTime
            var displaced = scanned
            displaced.seconds -= RetiredTree.gracePeriod
            let kept =
                try RetiredTree.reduce(
                    in: state, displaced: displaced, looked: examination.trustsTarget ? nil : scanned)
                + (root.directory.flatMap(SubvolumeTrees.init(of:))?.reduce(in: state, displaced: displaced)
                    ?? [])
            for path in kept {
                report.notes.append(
                    "what somebody put into the target at the last moment is kept: \(escapedText(path))")
            }
        }
        noting {
            // Only an apply lets go of anything: what goes back needs the history.
            guard examination.isOfSource, options.repairs.isEmpty else { return try Retention(state).tidy() }
            let rules = try options.retention.rules(
                kept: examination.header?.retention, state.settings())
            try Retention(state).apply(
                rules.policy, after: id, began: examination.scanned.time)
        }
    }
}
