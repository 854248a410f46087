import FileStorage
import FileSystem

/// One attempt to carry out a plan: its stage, and the commit of all that could be staged.
struct Attempt {
    let id: String
    /// The plan, reduced to what could be staged.
    @Boxed var plan: Plan
    let stage: Stage

    @Boxed private var planned: PlannedSync
    @Boxed private var options: SyncOptions
    private let monitor: any Monitor
    private let state: StateDirectory
    private let target: Directory
    /// The target's name in its parent directory, opened before the stage; nil for a commit in place.
    private let location: (parent: Directory, name: FileName)?
    private let manifest: NextManifest
    private var graph: OperationGraph
    private var root: Match
    /// The root's status before the state was made in it.
    private let rootStatus: FileStatus
    private let previous: PreviousStage?
    /// The target's file system lacks parts of what a commit needs.
    private let isWeak: Bool

    /// Makes an empty stage.
    ///
    /// - Parameter path: the target's path, for errors and the manifest.
    init(
        _ planned: PlannedSync, at path: [UInt8], _ root: TargetRoot, _ state: StateDirectory,
        _ options: SyncOptions, _ monitor: any Monitor, isPrepared: Bool
    ) throws {
        id = TransactionID.next(
            after: try state.transactions().last?.description, isSecret: isPrepared)
        guard let directory = root.directory, let name = FileName(id.utf8) else {
            throw SyncError(.failed, path: path, "it does not exist")
        }
        location = planned.exchanges ? try directory.location(.read) : nil
        guard !planned.exchanges || location != nil else {
            throw SyncError(.failed, path: path, "it was moved meanwhile")
        }
        var options = options
        options.attributes = planned.attributes
        self.planned = planned
        self.options = options
        (self.state, target, self.monitor) = (state, directory, monitor)
        manifest = NextManifest(
            planned: planned, options: options, target: directory, path: path, monitor: monitor)
        self.root = try manifest.root()
        rootStatus = try root.original ?? directory.status()
        plan = planned.plan
        isWeak = directory.fileSystem != nil
        graph = Attempt.graph(
            of: planned.plan, planned, name, Attempt.attributes(self.root, rootStatus), isWeak: isWeak)
        previous = try PreviousStage(
            state, for: graph.stagedEntries.lazy.map(\.file), options.settableAttributes)
        stage = try Stage(
            name, in: state, graph: graph, source: planned.contents, root: directory,
            previous: previous, options: options, probes: planned.plan.difference.policy.probes,
            monitor: monitor)
    }

    /// The present and the wanted attributes of the target's root.
    private static func attributes(_ root: Match, _ status: FileStatus) -> (old: Attributes, new: Attributes)
    {
        let (old, new) = root.attributes
        return (Attributes(status, extended: old.extended), new)
    }

    private static func graph(
        of plan: Plan, _ planned: PlannedSync, _ name: FileName, _ root: (old: Attributes, new: Attributes),
        isWeak: Bool, after first: OperationGraph? = nil
    ) -> OperationGraph {
        OperationGraph(
            plan.difference, root: root, transaction: name, replacesManifest: planned.header != nil,
            projects: planned.projects, isWeak: isWeak, after: first)
    }

    private var rootAttributes: (old: Attributes, new: Attributes) { Attempt.attributes(root, rootStatus) }

    /// Reduces the plan to the staged entries, after the stage is full.
    ///
    /// - Parameter isExact: a change of the source since the plan is an error.
    /// - Returns: the problems if they stop the run; else nil.
    mutating func reduceToStaged(isExact: Bool) throws -> [Problem]? {
        try previous?.discard(from: state)
        if isExact { try stage.checkAgreesWithPlan() }
        var tried = try stage.tryAttributes(of: plan.difference.changingAttributes(root))
        // No plan has the root of a new target.
        if plan.root == nil, tried[.root] == nil, !root.source.omitted.isEmpty { tried[.root] = root.source }
        if let file = tried[.root] { root.source = file }
        if let reduced = plan.asFarAsAchieved(stage.staged, tried: tried) {
            guard !reduced.problems.contains(where: options.stops) else { return reduced.problems }
            plan = reduced
            graph = Attempt.graph(of: plan, planned, stage.name, rootAttributes, isWeak: isWeak, after: graph)
            try stage.makeSlotDirectories(graph.slotDirectories)
        }
        plan.noteGrowing(stage.staged)
        return nil
    }

    /// - Parameter root: becomes the directory that has the target's name afterwards.
    /// - Returns: its state.
    /// - Throws: as `StagedCommit.run`.
    mutating func commit(in root: inout TargetRoot) throws -> StateDirectory {
        try staged(isPrepared: false).run(in: &root)
    }

    /// Does all except the commit, and writes the document that the commit needs.
    ///
    /// - Parameter retention: the rules for snapshots after the commit.
    mutating func prepare(_ retention: RetentionPolicy) throws {
        let staged = try staged(isPrepared: true)
        try staged.makeDurable(rereads: options.verifiesCopies)
        try monitor.checkCancellation()
        var transaction = PreparedTransaction(
            id: id, prepared: .now, root: try target.status().identity,
            basis: planned.header.map(PreparedTransaction.Basis.init), retention: retention,
            notes: plan.notes, problems: plan.problems)
        transaction.summary = plan.summary
        // The commit may be much later, and a later run may use the staged files.
        stage.keep()
        try transaction.write(graph, plan.actions, in: stage.directory, root: target, state, monitor)
    }

    /// Completes the stage: the manifest and, on another thread, the history's record of the plan.
    private mutating func staged(isPrepared: Bool) throws -> StagedCommit {
        let numbers = try manifest.numbers(of: plan, stage.staged, in: state)
        let emptied = plan.difference.emptiedTransactions
        if !emptied.isEmpty { try History(state).forgetMeasures(of: emptied) }
        func stageManifest() throws -> (ManifestHeader, note: String?) {
            try manifest.stage(
                plan, graph, numbers, id: id, root: root, in: stage, over: state, isPrepared: isPrepared)
        }
        let (header, note) = try WorkerThread.run(recorder(numbers), beside: stageManifest)
        if let note { plan.notes.append(note) }
        return StagedCommit(
            id: id, stage: stage, state: state, target: target, location: location, plan: plan,
            graph: graph, rootAttributes: rootAttributes, header: header,
            replacesManifest: planned.header != nil, scanned: planned.scanned.time.fileTime,
            options: options, monitor: monitor)
    }

    /// Returns a function that adds the history's record of the plan to the stage.
    private func recorder(_ numbers: ObjectNumbers) throws -> @Sendable () throws -> Void {
        let (id, created, opened) = (id, planned.scanned.time, planned.opened)
        let (previous, manifest) = (try History(state).snapshots().first, planned.header)
        return { [plan, graph, directory = stage.directory] in
            try ListDocument.write(
                AppliedStep(plan, graph, numbers, opened: opened),
                ManifestHeader(found: manifest, root: plan.root?.target, nextObject: numbers.next),
                to: directory)
            try HistoryRecord.Header(
                id: id, created: created, previous: previous, manifest: manifest, plan: plan
            ).write(to: directory)
        }
    }
}
