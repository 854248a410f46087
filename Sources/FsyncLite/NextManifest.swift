import FileStorage
import FileSystem

/// The manifest that a run leaves. Only its header describes the target's root.
struct NextManifest {
    @Boxed private(set) var planned: PlannedSync
    @Boxed private(set) var options: SyncOptions
    /// The target's root, and its path.
    let target: Directory
    let path: [UInt8]
    let monitor: any Monitor

    /// The change of the target's root. On a new root all attributes are set, because it may have inherited ACLs.
    func root() throws -> Match {
        if let root = planned.plan.root { return root }
        let attributes = planned.attributes
        let present = try File(rootOf: target, attributes.extended)
        var source = try planned.contents.rootFile(attributes.extended) ?? present
        if !attributes.contains(.owner) {
            var status = source.status
            status.keepOwner(of: present.status)
            source = source.with(status)
        }
        var match = Match(source: source, target: present)
        match.causes = [.modified, .mode, .owner, .group, .xattrs, .acls]
        return match
    }

    /// Writes the manifest to the stage; the next barrier makes it durable.
    ///
    /// - Parameters:
    ///   - plan: the plan of the commit.
    ///   - numbers: the numbers of the plan's objects.
    ///   - root: the change of the target's root.
    ///   - isPrepared: the commit may be much later.
    /// - Returns: the manifest's header, and notes.
    func stage(
        _ plan: Plan, _ graph: OperationGraph, _ numbers: ObjectNumbers, id: String, root: Match,
        in stage: Stage, over state: StateDirectory, isPrepared: Bool
    ) throws -> (header: ManifestHeader, note: String?) {
        var header = try header(id, root: root)
        header.commits = try commits(state)
        if isPrepared { header.commits = header.commits.suffix(ManifestHeader.mostCommits - 1) + [span(id)] }
        let note = try write(
            &header, plan, stage.staged, graph, numbers, to: stage.newManifest(), over: state,
            durably: false, distrusting: isPrepared ? graph.touchedDirectories : [])
        return (header, note)
    }

    /// Rewrites the manifest for values that are only in it, such as change times of compared objects. The tree is the
    /// same, so this is no step of the history and needs no journal: one rename replaces the manifest. If the disk is
    /// full, the next run only has to compare again.
    ///
    /// - Returns: a note; nil without one.
    func rewrite(in state: StateDirectory) throws -> String? {
        guard let old = planned.header else { return nil }
        try TargetLists.convert(state)
        var header = try header(old.id, root: planned.plan.root)
        (header.created, header.revision, header.exchanged) = (old.created, old.revision + 1, old.exchanged)
        header.commits = try commits(state)
        do {
            return try write(
                &header, planned.plan, .init(), nil,
                numbers(of: planned.plan, .init(), in: state, isStep: false),
                to: state.newManifest(), over: state, durably: true)
        } catch let error as SystemError
            where [.noSpace, .quotaExceeded, .readOnlyFileSystem].contains(error.errno)
        {
            return "the next run will compare the same files again, because this could not be noted: \(error)"
        }
    }

    /// The numbers of the objects of a plan.
    func numbers(
        of plan: Plan, _ staged: OperationGraph.StagedList, in state: StateDirectory, isStep: Bool = true
    ) throws -> ObjectNumbers {
        let recorded = try state.manifest(withUncovered: true)
        if let recorded, recorded.header.nextObject == nil { while try recorded.advance() {} }
        // The manifest may be lost while the history is not.
        let first = try recorded?.nextObject ?? TargetLists(History(state)).nextObject()
        return try ObjectNumbers(plan.difference, staged, from: first, isStep: isStep) {
            try state.manifest(withUncovered: true)
        }
    }

    private func write(
        _ header: inout ManifestHeader, _ plan: Plan, _ staged: OperationGraph.StagedList,
        _ graph: OperationGraph?, _ numbers: ObjectNumbers, to file: consuming PendingFile,
        over state: StateDirectory, durably: Bool,
        distrusting directories: Set<RelativePath> = []
    ) throws -> String? {
        var missing: MissingDigests?
        if options.recordsDigests {
            missing = MissingDigests(
                source: planned.contents, target: target,
                scanned: planned.scanned.time.fileTime, mostHoles: options.mostHoles,
                threads: planned.contents.threads(options), monitor: monitor)
        }
        var update = try ManifestUpdate(
            plan, over: graph == nil ? nil : state.manifest(withUncovered: true), staged: staged,
            graph: graph,
            numbers)
        header.nextObject = numbers.next
        // Directories that only contain objects of the commit may change until then, and the commit moves their times.
        update.passedOver = directories.union(planned.passedOver)
        _ = try update.write(
            header, over: try state.manifest(withUncovered: true), to: &file, digests: missing)
        try file.commit(durably: durably)
        return missing?.note
    }

    /// The span from the naming of a transaction to the end of its staging. A tick of the clock that stamps files is at
    /// most 10 ms.
    private func span(_ id: String) -> Range<Timestamp> {
        let now = FileTime.now
        let (carry, nanoseconds) = (now.nanoseconds + 10_000_000).quotientAndRemainder(
            dividingBy: 1_000_000_000)
        let end = FileTime(seconds: now.rawSeconds.saturatingAdd(Int64(carry)), nanoseconds: nanoseconds)
        let named = FileName(id.utf8).flatMap(TransactionID.time) ?? end
        return Timestamp(min(named, end))..<Timestamp(max(named, end))
    }

    /// The spans of commits whose objects may have no change time in the manifest.
    private func commits(_ state: StateDirectory) throws -> [Range<Timestamp>] {
        // A run that scanned the target has found the change times of these objects.
        guard planned.trustsTarget, let header = planned.header else { return [] }
        let last = try state.lastCommit(header).map {
            Timestamp($0.lowerBound)..<Timestamp($0.upperBound)
        }
        let all = header.commits + [last].compactMap(\.self).filter { !header.commits.contains($0) }
        return all.suffix(ManifestHeader.mostCommits)
    }

    private func header(_ id: String, root: Match?) throws -> ManifestHeader {
        let rootEntry = root?.asStored
        // The source was not scanned, so the values of its last scan remain.
        if !planned.isOfSource, var header = planned.header {
            (header.id, header.revision, header.rootEntry) = (id, 0, rootEntry)
            header.rootIdentity = try target.status().identity
            header.stateID = header.stateID ?? RandomID.hexadecimal(bytes: 16)
            if let earlier = planned.earlier {
                (header.filters, header.attributes) = (earlier.filters, earlier.attributes)
                header.sources = earlier.sources
            }
            // In these cases the manifest must not be treated as complete.
            if planned.leavesStrangers || planned.header?.sources != header.sources { header.scanned = nil }
            return header
        }
        var header = ManifestHeader(
            id: id, root: try LocalFile(bytes: path).absolute(), created: planned.scanned.time)
        header.sources = planned.sources
        header.scanned = planned.scanned
        header.sourceScanned = planned.sourceScanned
        header.attributes = planned.attributes
        header.filters = options.filters.summary
        header.exchanged = planned.exchanges
        (header.mounts, header.disks) = (planned.mounts, planned.disks)
        header.retention = options.retention.stored(over: planned.header?.retention)
        header.digests = options.digestRule(over: planned.header?.digests)
        header.targetFileSystem = try target.fileSystemUUID()
        header.stateID = planned.header?.stateID ?? RandomID.hexadecimal(bytes: 16)
        (header.rootEntry, header.rootIdentity) = (rootEntry, try target.status().identity)
        header.rootOmitted = root?.source.omitted.subtracting(.unread) ?? []
        if !header.rootOmitted.isEmpty {
            header.rootChanged = (root?.source.status.changed).map(Timestamp.init)
        }
        // A repair changes neither filters nor attributes nor source.
        if !options.repairs.isEmpty, let last = planned.header {
            (header.attributes, header.filters, header.sources) = (
                last.attributes, last.filters, last.sources
            )
            (header.rootOmitted, header.rootChanged) = (last.rootOmitted, last.rootChanged)
            (header.exchanged, header.mounts, header.disks) = (
                last.exchanged, last.mounts, last.disks
            )
        }
        return header
    }
}
