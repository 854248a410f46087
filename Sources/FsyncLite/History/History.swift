import FileStorage
import FileSystem

/// The history records of a target as a chain: each leads from its snapshot to the one before.
struct History {
    struct Step {
        let name: FileName
        var header: HistoryRecord.Header

        /// The directories that hold what the step restores.
        var directories: [FileName] { [name] + header.holders }
    }

    let state: StateDirectory
    /// Newest first.
    private(set) var steps: [Step] = []
    /// The error of the unreadable or missing header that cuts the chain short.
    private(set) var damage: SyncError?

    init(_ state: StateDirectory) throws {
        self.state = state
        let names = try state.transactions()
        guard !names.isEmpty else { return }
        guard let history = try state.history() else { return }
        // A directory without a header holds only what other records restore, or what a recovery moved there.
        func hasHeader(_ name: FileName) throws -> Bool {
            guard try history.status(of: name)?.type == .directory else { return false }
            return try history.directory(name).status(of: HistoryRecord.headerName) != nil
        }
        var next = try names.last(where: hasHeader)
        while let name = next {
            do {
                let header = try HistoryRecord.Header.read(name, from: history.directory(name))
                steps.append(Step(name: name, header: header))
                // Only backwards, so that a false header makes no cycle.
                next = header.previous.flatMap { FileName($0.utf8) }
                if let previous = next, try previous >= name || !hasHeader(previous) { next = nil }
            } catch let error as SyncError {
                damage = error
                break
            }
        }
        // The newest record is that of the apply that wrote the manifest.
        if let newest = steps.first, let present = try state.manifest()?.header.id,
            present != newest.header.id
        {
            steps = []
            damage = History.lost(present, in: history)
            return
        }
        // Records are removed oldest first, so one that is missing and not the oldest was lost. Those that were joined to a
        // newer one are newer than the next.
        guard damage == nil, let lost = steps.last?.header.previous.flatMap({ FileName($0.utf8) }),
            try names.contains(where: { try $0 < lost && hasHeader($0) })
        else { return }
        damage = History.lost(lost.description, in: history)
    }

    private static func lost(_ name: String, in history: Directory) -> SyncError {
        SyncError(
            .invalidDocument,
            path: history.path + "/\(name)/".utf8 + HistoryRecord.headerName.bytes,
            "it is missing, and there are older records")
    }

    /// The same, cut before the first record that cannot be read.
    func withoutDamaged() throws -> History {
        var whole = self
        whole.damage = nil
        let bad = try steps.firstIndex { step in
            do {
                _ = try actions(step)
                return false
            } catch let error as SyncError where error.code == .invalidDocument {
                return true
            }
        }
        if let bad { whole.steps.removeSubrange(bad...) }
        return whole
    }

    func directory(_ step: Step) throws -> Directory {
        try state.transaction(step.name)
    }

    /// Newest first, beginning with the present tree. Empty before the first apply.
    func snapshots() throws -> [Snapshot] {
        var oldest: Snapshot
        if let header = steps.last?.header {
            oldest = Snapshot(
                id: header.previous ?? Snapshot.initialID,
                created: header.previousCreated.flatMap(Timestamp.init(iso8601:)),
                utcOffset: header.previousUtcOffset, label: header.previousLabel)
        } else if let header = try state.manifest()?.header {
            oldest = Snapshot(id: header.id, created: header.created)
        } else {
            return []
        }
        oldest.damage = damage.map { "what comes before is damaged: \($0)" }
        var snapshots =
            steps.map { step in
                let header = step.header
                return Snapshot(
                    id: header.id, created: Timestamp(iso8601: header.created),
                    utcOffset: header.utcOffset, label: header.label, summary: header.summary)
            } + [oldest]
        SnapshotName.shorten(&snapshots)
        return snapshots
    }

    func index(of name: String) throws -> Int {
        try SnapshotName.index(of: name, in: snapshots())
    }

    func actions(_ step: Step) throws -> (actions: UndoEntries, drift: UndoEntries) {
        try HistoryRecord.actions(step.header.actionsName, of: step.name, in: directory(step))
    }

    /// The delta from the present tree to a snapshot.
    func changes(to index: Int) throws -> ReverseDelta {
        try changesAndDrift(from: 0, to: index, isTree: true).changes
    }

    /// - Parameter isTree: no still older tree is computed from the result.
    /// - Returns: the delta, and what was changed in the target between the apply that made the earlier tree and the
    ///   one that found it.
    func changesAndDrift(
        from newest: Int, to index: Int, isTree: Bool = false
    ) throws -> (changes: ReverseDelta, drift: UndoEntries) {
        var changes = ReverseDelta()
        var drift = UndoEntries()
        for (position, step) in steps.enumerated().prefix(index).dropFirst(newest) {
            // The older record begins at the tree that its apply left, not at the one that the newer apply found.
            if !drift.isEmpty { changes = changes.followed(by: ReverseDelta(drift), isDrift: true) }
            var record = try actions(step)
            let isLast = isTree && position == index - 1
            let filters = isLast ? step.header.filtersBefore.flatMap(Filters.init) : nil
            changes = changes.followed(
                by: ReverseDelta(
                    taking: &record.actions, originals: step.header.originals,
                    isTree: isTree && index == newest + 1),
                covers: isLast ? { filters?.excludes($0.path, $0.status.type) == false } : nil)
            drift = record.drift
        }
        return (changes, drift)
    }

    /// Those of the strays of a joined record that an older one may name: they came out of the history.
    ///
    /// - Parameters:
    ///   - drift: what was changed between the tree of the strays and the next older one.
    ///   - older: the older records that are kept, newest first.
    func cameAlong(
        _ strays: Set<RelativePath>, _ drift: UndoEntries, in older: some Collection<Step>
    ) throws -> Set<RelativePath> {
        var found: Set<RelativePath> = []
        var paths = Dictionary(uniqueKeysWithValues: strays.map { ($0, $0) })
        func follow(_ delta: ReverseDelta, isDrift: Bool = false) {
            for (stray, path) in paths {
                paths[stray] = delta.pathBefore(of: path) ?? (isDrift ? path : nil)
            }
        }
        var drift = drift
        for step in older {
            for (stray, path) in paths where path.isInState { found.insert(stray) }
            paths = paths.filter { !$0.value.isInState }
            guard !paths.isEmpty else { break }
            follow(ReverseDelta(drift), isDrift: true)
            let record = try actions(step)
            follow(ReverseDelta(record.actions))
            drift = record.drift
        }
        return found
    }

    /// The inodes of clones that replace files with names in the history.
    var clones: Set<UInt64> { Set(steps.lazy.flatMap { $0.header.clones ?? [] }.map(\.inode)) }

    /// Bytes of content that the directories of a step hold.
    func bytesHeld(_ step: Step) throws -> ByteCount {
        var bytes: ByteCount = 0
        guard let history = try state.history() else { return bytes }
        var inodes: Set<UInt64> = []
        for name in step.directories where try history.status(of: name) != nil {
            let scan = try TreeScan(
                history.directory(name), TreeScan.Options(toleratesUnreadable: true))
            while try scan.advance() {
                // Documents are beside the directories of slots, and do not count.
                guard scan.status.type == .file, scan.path.parent?.isRoot == false,
                    scan.status.links == 1 || inodes.insert(scan.status.inode).inserted
                else { continue }
                bytes += scan.status.size
            }
        }
        return bytes
    }
}
