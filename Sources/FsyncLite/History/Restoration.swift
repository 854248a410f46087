import FileSystem

/// An earlier tree of a target that something is to be made the mirror of: the target itself, or another directory.
public struct Restoration: Hashable, Sendable {
    /// The target whose snapshot it is.
    public var target: [UInt8]
    /// An id or its beginning, `latest~1`, or a date.
    public var snapshot: String
    /// What is wanted, with all that lies below; everything when empty.
    public var paths: [RelativePath]
    /// The directory that becomes a copy of it, which must be empty or not there; nil for the target itself.
    public var destination: [UInt8]?
    /// A copy's files are names of the target's objects where these are as the files were. What is written to one
    /// later is written to the target or its history.
    public var linksFiles = false
    /// What somebody changed in the target since the last apply stays as it is, and is listed.
    public var keepsDrift = false

    public init(target: [UInt8], snapshot: String, paths: [RelativePath] = [], destination: [UInt8]? = nil) {
        (self.target, self.snapshot, self.paths, self.destination) = (target, snapshot, paths, destination)
    }

    /// What a restoration is always allowed: whatever goes from a target is in its history, and can come back.
    var options: SyncOptions {
        var options = SyncOptions()
        options.allowEmptySource = true
        options.deleteLimit = .unlimited
        options.keepGoing = true
        return options
    }

    /// What the state of a copy says that it becomes, so that a second run can tell whether it wants the same.
    func copy(of snapshot: Snapshot) -> [UInt8]? {
        guard destination != nil else { return nil }
        return Array(([Array(snapshot.id.utf8)] + paths.sorted().map(\.bytes)).joined(separator: [0]))
    }
}

extension Examination {
    /// Looks at what a restoration would do: in place, or to a directory that is empty or not there.
    init(_ restoration: Restoration, root: TargetRoot, monitor: any Monitor) throws {
        let holder = try TargetRoot(restoration.target)
        guard let directory = holder.directory, let state = holder.state,
            let header = try state.manifest()?.header, let source = header.source
        else {
            throw SyncError(.inputMissing, path: restoration.target, "nothing was applied here")
        }
        let isInPlace = restoration.destination == nil
        monitor.report(SyncProgress(.scanning))
        let history = try History(state)
        let snapshots = try history.snapshots()
        let index = try Snapshot.index(of: restoration.snapshot, in: snapshots)
        let changes = try history.changes(to: index)
        let copy = restoration.copy(of: snapshots[index])
        func manifest(withUncovered: Bool = false) throws -> ManifestReader {
            guard let manifest = try state.manifest(withUncovered: withUncovered) else {
                throw SyncError(.inputMissing, path: restoration.target, "the manifest is gone")
            }
            return manifest
        }
        let tree = try SnapshotTree(
            changes, present: manifest(withUncovered: true), root: isInPlace ? nil : header.rootEntry,
            paths: restoration.paths, withoutRest: !isInPlace, withUncovered: isInPlace)
        let contents = ContentSource(directory, earlier: tree, linksFiles: restoration.linksFiles)

        var policy = ComparisonPolicy()
        let step = index > 0 ? history.steps[index - 1].header : nil
        let earlier = (
            filters: step?.filtersBefore ?? header.filters,
            attributes: step?.attributesBefore ?? header.attributes
        )
        // The manifest tells of names and owners also where they are not mirrored.
        policy.attributes = header.attributes
            .union(earlier.attributes.intersection([.hardLinks, .owner, .holes]))
            .intersection(restoration.options.settableAttributes)
        policy.identityTellsContent = isInPlace
        policy.mayWiden = isInPlace && !header.filters.lines.isEmpty
        policy.earlierFilters = Filters(header.filters)
        policy.uncovering = isInPlace ? tree.uncovered : []
        policy.recovered = tree.returned.fromHistory.union(tree.recovered.keys)
            .union(restoration.keepsDrift ? tree.returned.new : [])
        let scanned = try ManifestHeader.Scan.now()
        policy.trust = try state.trust(header)
        policy.hasOldTrees = try state.trees() != nil
        if let copy, try root.holds(copy: copy) {
            var plan = Plan(Difference(), root: nil)
            plan.notes = ["an earlier run had restored this, and was cut short at its very end"]
            self.init(
                plan: plan, contents: contents, header: nil, source: source, isOfSource: false, copy: copy,
                attributes: policy.attributes, scanned: scanned)
            return
        }
        var merge = TreeMerge(policy)
        let entries = tree.entries(over: try manifest())
        var scan: BackgroundScan?
        if let present = root.directory {
            scan = try BackgroundScan {
                try TreeCursor(present, .target.apart(from: nil), filter: nil, monitor: monitor)
            }
        }
        if isInPlace, let scan {
            try merge.run(
                source: entries, target: scan, manifest: RecoveredEntries(manifest(withUncovered: true), tree)
            )
            try merge.offer(displaced: tree, in: directory)
        } else if let scan {
            try merge.run(source: entries, target: scan, manifest: FileList?.none)
        } else {
            try merge.run(source: entries, target: FileList([]), manifest: FileList?.none)
        }
        var difference = try Difference(matching: merge)
        var drift: (problems: [Problem], notes: [String]) = ([], [])
        if isInPlace {
            let present = PathResolver(directory)
            try difference.settle(
                inspect: { match in
                    let there = try present.extendedAttributes(of: match.target, policy.attributes.extended)
                    return (match.source.extended, there ?? match.source.extended)
                },
                lookUp: { file in
                    try present.extendedAttributes(of: file, policy.attributes.extended) ?? file.extended
                }, haveSameContent: { _ in true })
            let lost = difference.settleRecovered(tree)
            drift = difference.settleDrift(
                merge, tree, filters: restoration.paths.isEmpty ? Filters(earlier.filters) : nil,
                isKept: restoration.keepsDrift)
            drift.problems += lost
        } else {
            let written = try state.manifestVersion()?.written
            let replaced = try tree.replaced(
                manifest(withUncovered: true), written: written, in: directory)
            drift.problems = try difference.settleReplaced(
                replaced, tree, DigestReader(directory, monitor: monitor))
        }
        let domains = try TargetDomains(
            difference, target: root.directory, anchor: root.anchor(), state: root.state?.directory)
        let wanted = try contents.rootFile(policy.attributes.extended)
        var plan = Plan(
            difference,
            root: restoration.paths.isEmpty ? try Examination.rootPair(wanted, root, policy, header) : nil,
            linksFiles: restoration.linksFiles)
        plan.problems = drift.problems.sorted { $0.path < $1.path }
        plan.notes = drift.notes
        var options = restoration.options
        options.attributes = policy.attributes
        var refusals = isInPlace ? [] : try Examination.refusals(directory, root, options)
        if !isInPlace, try root.state?.manifest() != nil {
            refusals.append(
                Refusal("\(LocalFile(bytes: root.path)) is a target itself; give another directory"))
        }
        if restoration.linksFiles, try root.anchor().status().device != directory.status().device {
            refusals.append(
                Refusal(
                    "\(LocalFile(bytes: root.path)) is on another file system, where nothing can be linked; leave --link away"
                ))
        }
        if refusals.isEmpty {
            refusals =
                try Examination.guardFacts(
                    plan, options, isInPlace ? manifest() : nil, source, root, scan?.findings, merge,
                    linksFiles: restoration.linksFiles
                ).refusals() + domains.refusals
        }
        // There is no option that goes ahead.
        plan.refusals = refusals.map { Refusal($0.reason) }
        let isWhole = isInPlace && restoration.paths.isEmpty
        let isStep =
            difference.changesCoverage
            || isWhole && (earlier.filters != header.filters || earlier.attributes != header.attributes)
        self.init(
            plan: plan, contents: contents, header: isInPlace ? header : nil, source: source,
            isStep: isStep, isOfSource: false, earlier: isWhole ? earlier : nil, copy: copy,
            attributes: policy.attributes,
            projects: domains.projects, scanned: scanned, leavesStrangers: !drift.notes.isEmpty)
    }
}

extension TreeMerge {
    /// Objects in the history that an earlier tree brings back are moved there: nothing is copied, and no room is needed.
    fileprivate mutating func offer(displaced tree: SnapshotTree, in root: Directory) throws {
        let entries = Dictionary(
            uniqueKeysWithValues: tree.changed.filter { $0.place.isInState && !$0.place.isLost }.map {
                ($0.place, $0.file)
            })
        let walker = PathResolver(root)
        var top: RelativePath?
        for place in entries.keys.sorted() where !(top.map(place.isBelow) ?? false) {
            guard let (directory, name) = try walker.place(of: place),
                let status = try directory.status(of: name)
            else { continue }
            offer(entries[place], place, status)
            guard status.type == .directory else { continue }
            top = place
            // It takes along what it holds, wanted or not.
            var options = TreeScan.Options()
            options.extended = policy.attributes.extended
            let scan = try TreeScan(directory.directory(name), options)
            while try scan.advance() {
                let inner = place.appending(scan.path)
                offer(entries[inner], inner, scan.status, scan.destination, scan.extended)
            }
        }
    }

    private mutating func offer(
        _ entry: File?, _ place: RelativePath, _ status: FileStatus, _ destination: [UInt8] = [],
        _ extended: ExtendedAttributes = ExtendedAttributes()
    ) {
        var recorded = status
        if let entry, entry.status.type == status.type {
            // It is the entry's, whichever way the source is known by.
            (recorded.inode, recorded.created) = (entry.status.inode, entry.status.created)
        }
        let file = File(
            path: place, status: status, destination: entry?.destination ?? destination,
            extended: entry?.extended ?? extended)
        offer(file, BaseEntry(status: recorded, targetInode: status.inode, extended: file.extended))
    }
}

extension Difference {
    /// Decides what becomes of what somebody changed in the target since the last apply. What no apply brought here
    /// stays in any case.
    ///
    /// - Parameters:
    ///   - filters: those that come back, as far as they decide by paths alone; nil for others.
    ///   - isKept: changes stay too, and are listed; without it they go to the history like everything else.
    fileprivate mutating func settleDrift(
        _ merge: TreeMerge, _ tree: SnapshotTree, filters: Filters?, isKept: Bool
    ) -> (problems: [Problem], notes: [String]) {
        var listed: Set<RelativePath> = []
        var problems: [Problem] = []
        let going = Set(deleted.map(\.file.path))
        let uncovering = policy.uncovering
        func isMissed(_ file: File) -> Bool {
            !uncovering.contains(file.path) || tree.place(of: file.path).isInState
        }
        // Directories that something comes back into.
        let needed = Set(
            (created.lazy.map(\.file).filter(isMissed).map(\.path).filter(tree.isChanged)
                + matches.lazy.filter(\.isRenamed).map(\.source.path)).flatMap(\.ancestors))
        // What took no part and is not in the target any more is not missed.
        created.removeAll { file, _ in
            guard !isMissed(file), !needed.contains(file.path) else { return false }
            forgotten.append(file.path)
            return true
        }
        var foreign: Set<RelativePath> = []
        // Of the directories that would go, and of what was edited: what takes no part from now on.
        var resting: Set<RelativePath> = []
        for (file, record) in merge.departures where going.contains(file.path) {
            if file.isDirectory, record != nil { resting.insert(file.path) }
            if record == nil {
                foreign.insert(file.path)
            } else if isKept, !file.isDirectory, record?.differs(from: file.status) ?? false,
                !needed.contains(file.path)
            {
                listed.insert(file.path)
            }
        }
        // Nothing takes the place of what was edited.
        matches.removeAll {
            listed.contains($0.source.path) && !$0.source.isDirectory && $0.target.path.isInState
        }
        created.removeAll { listed.contains($0.file.path) && !$0.file.isDirectory }
        var staying = foreign.union(listed)
        staying.formUnion(withAllAbove(staying.compactMap(\.parent)))
        if !staying.isEmpty {
            // A directory that another one takes along to where one is needed is that one.
            let moves = MoveMap(self)
            let carried = Dictionary(
                deleted.lazy.map(\.file).filter { $0.isDirectory && foreign.contains($0.path) }
                    .map { (moves.carriedPath(of: $0.path), $0.path) },
                uniquingKeysWith: { first, _ in first }
            ).filter { $0.key != $0.value && needed.contains($0.key) }
            created.removeAll { uncovering.contains($0.file.path) && carried[$0.file.path] != nil }
            foreign.subtract(carried.values)
            resting.formUnion(carried.values)
            keepDeleted { staying.contains($0.path) }
            // What was edited stays on record, and its directories with it, unless it takes no part then.
            let uncovered = Set(
                matches.lazy.filter { match in
                    let path = match.source.path
                    return listed.contains(match.target.path)
                        && (path.isBelow(anyOf: uncovering)
                            || filters?.excludes(path, match.target.status.type) ?? false)
                }.map(\.target.path))
            resting.subtract(listed.subtracting(uncovered).lazy.flatMap { $0.ancestors })
            resting.formUnion(uncovered)
            for match in matches where resting.contains(match.target.path) {
                self.staying.insert(match.source.path)
            }
            // No manifest has them.
            matches.removeAll { foreign.contains($0.target.path) }
        }
        for index in matches.indices {
            let match = matches[index]
            guard !match.target.path.isInState,
                match.causes.contains(.drift) || (match.record == nil && !match.isRenamed)
            else { continue }
            let path = match.source.path
            if isKept {
                guard !match.source.isDirectory || !tree.isChanged(path) else { continue }
                if !match.source.isDirectory { listed.insert(path) }
            } else {
                guard match.source.isFile, tree.place(of: path) == match.target.path,
                    !(match.record?.isIntact(in: match.target.status) ?? false)
                else { continue }
                problems.append(.lost(path))
            }
            matches[index].keepTarget()
        }
        if isKept {
            created.removeAll { file, isDrift in
                guard isDrift, !tree.isChanged(file.path), !needed.contains(file.path) else { return false }
                listed.insert(file.path)
                return true
            }
        }
        joinLinks()
        problems += listed.map {
            Problem(path: $0, code: .drift, message: "somebody changed this in the target since; it stays")
        }
        let stillGoing = Set(deleted.map(\.file.path))
        guard let first = foreign.subtracting(stillGoing).min() else { return (problems, []) }
        let others = foreign.count > 1 ? " and \(foreign.count - 1) more" : ""
        return (problems, ["what filters left out, or no apply brought here, stays: \(first)\(others)"])
    }

    /// Leaves out files in whose place another object stands that has another digest.
    ///
    /// - Returns: these, and those of which no digest tells.
    fileprivate mutating func settleReplaced(
        _ replaced: Set<RelativePath>, _ tree: SnapshotTree, _ contents: DigestReader
    ) throws -> [Problem] {
        guard !replaced.isEmpty else { return [] }
        var lost: [RelativePath] = []
        var unknown: [RelativePath] = []
        // What cannot be read the copy tells of.
        var unread: [Problem] = []
        for (file, _) in created where replaced.contains(file.path) {
            guard let digest = file.digest else {
                unknown.append(file.path)
                continue
            }
            let found = try contents.digest(of: tree.place(of: file.path), problems: &unread)
            if let found, found.digest != digest { lost.append(file.path) }
        }
        omit(lost)
        return lost.map { .lost($0) } + unknown.map { .replaced($0) }
    }

    /// Leaves alone what takes part again and is not as it was when it last did.
    ///
    /// - Returns: what is lost to the earlier tree.
    fileprivate mutating func settleRecovered(_ tree: SnapshotTree) -> [Problem] {
        guard !tree.recovered.isEmpty else { return [] }
        let places = Set(tree.recovered.keys)
        var lost: Set<RelativePath> = []
        matches = matches.compactMap { match in
            guard places.contains(match.target.path), let record = match.record,
                record.differs(from: match.target.status)
            else { return match }
            lost.insert(match.source.path)
            guard match.source.isDirectory else { return nil }
            // What comes back into it needs it on record, as it is.
            var match = match
            match.source = match.source.holding(match.target.status)
            match.causes.formIntersection([.renamed])
            return match
        }
        // Of another type by now, or gone: where they stand, and where they will.
        let moves = MoveMap(self)
        var others: [RelativePath: RelativePath] = [:]
        for (file, _) in deleted where places.contains(file.path) {
            guard moves.newPath(of: file.path.parent) != nil else { continue }
            others[file.path] = moves.carriedPath(of: file.path)
        }
        let standing = Set(others.values)
        let missing = Set(
            created.lazy.filter {
                places.contains(tree.place(of: $0.file.path))
                    && (!$0.file.isDirectory || standing.contains($0.file.path))
            }.map(\.file.path))
        // The target does not have them, and so the manifest has them no more.
        func leavesOut(_ path: RelativePath) -> Bool {
            guard missing.contains(path) || path.isBelow(anyOf: missing) else { return false }
            forgotten.append(path)
            return true
        }
        forgotten += missing.map(tree.place(of:))
        created.removeAll { leavesOut($0.file.path) }
        matches.removeAll { leavesOut($0.source.path) }
        lost.formUnion(missing)
        if !others.isEmpty {
            // What stands where the earlier tree has something else gives way.
            let arriving = Set(created.lazy.map(\.file.path))
                .union(matches.lazy.filter(\.isRenamed).map(\.source.path))
            let staying = Set(others.filter { !arriving.contains($0.value) }.keys)
            deleted.removeAll { staying.contains($0.file.path) || $0.file.path.isBelow(anyOf: staying) }
        }
        joinLinks()
        return lost.sorted().map {
            Problem(
                path: $0, code: .drift,
                message: "this was changed while no run covered it; it stays as it is")
        }
    }
}
