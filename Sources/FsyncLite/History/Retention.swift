import FileSystem

/// Removes snapshots: the oldest by removing their records, one in between by joining its record to the next newer one.
/// Unneeded objects are swept afterwards. A kill at any moment leaves every kept snapshot intact.
struct Retention {
    private let state: StateDirectory

    init(_ state: StateDirectory) {
        self.state = state
    }

    /// Applies a policy after a run, and removes the leftovers of interrupted runs. Without either it writes no file.
    ///
    /// - Parameters:
    ///   - part: objects that are not in it are removed, too; nil for the whole history.
    ///   - run: the id of the run's snapshot; nil if it made none.
    ///   - began: when the run began.
    @discardableResult
    func apply(
        _ policy: RetentionPolicy, to part: History? = nil, after run: String? = nil,
        began: Timestamp? = nil
    ) throws -> RemovedSnapshots {
        let history = try part ?? History(state)
        let snapshots = try history.snapshots()
        let before = run != nil && snapshots.first?.id == run ? 1 : 0
        let reasons = policy.reasons(for: snapshots, newestBefore: before, began: began)
        return try remove(Set(reasons.indices.filter { reasons[$0].isEmpty }), of: history)
    }

    /// Removes snapshots, by their indices, and the leftovers of interrupted runs.
    func remove(_ indices: Set<Int>, of history: History) throws -> RemovedSnapshots {
        let snapshots = try history.snapshots()
        let bytes = try keep(snapshots.indices.map { !indices.contains($0) }, of: history)
        try state.clean()
        return RemovedSnapshots(indices.sorted().map { snapshots[$0] }, bytes: bytes)
    }

    /// The snapshots of the last run that rules would remove, and the number of all snapshots.
    ///
    /// - Parameters:
    ///   - summary: the changes of the asking run; nil if it adds no snapshot.
    ///   - began: when the asking run began.
    func removal(
        by policy: RetentionPolicy, after summary: ActionSummary?, began: Timestamp
    ) throws -> (removed: RemovedSnapshots, count: Int) {
        let history = try History(state)
        let snapshots = try history.snapshots()
        let left = policy.reasons(for: snapshots, newestBefore: 1, began: began)
        guard history.damage == nil, left.contains(where: \.isEmpty) else {
            return (RemovedSnapshots(), snapshots.count)
        }
        let removed = Retention.expiring(policy, snapshots, after: summary, began: began)
        return (RemovedSnapshots(removed), snapshots.count)
    }

    /// - Parameter snapshots: without the run's snapshot.
    private static func expiring(
        _ policy: RetentionPolicy, _ snapshots: [Snapshot], after summary: ActionSummary?, began: Timestamp
    ) -> [Snapshot] {
        let own = summary.map { [Snapshot(id: "", created: began, summary: $0)] } ?? []
        let all = own + snapshots
        let reasons = policy.reasons(for: all, newestBefore: own.count, began: began)
        return zip(all, reasons).filter { $1.isEmpty }.map { $0.0 }
    }

    /// The present tree and the one before it are never removed.
    static let lastSteps = 2

    /// Removes the oldest snapshot without a label, down to `lastSteps`, and frees its space at once. A stage is not
    /// touched.
    ///
    /// - Parameter mayGo: called with the snapshot's id.
    /// - Returns: the removed snapshot's id; nil if none may be removed.
    func removeOldest(where mayGo: (String) -> Bool) throws -> String? {
        let history = try History(state)
        let snapshots = try history.snapshots()
        let candidates = snapshots.indices.dropFirst(Retention.lastSteps)
        guard history.damage == nil, let index = candidates.last(where: { snapshots[$0].label == nil }),
            mayGo(snapshots[index].id)
        else { return nil }
        try keep(snapshots.indices.map { $0 != index }, of: history)
        try state.emptyTrash()
        return snapshots[index].id
    }

    /// The ids that a policy removes after a run has added a snapshot.
    ///
    /// - Parameters:
    ///   - summary: the changes of the run; nil if it adds no snapshot.
    ///   - gone: snapshots removed before.
    func expiring(
        _ policy: RetentionPolicy, after summary: ActionSummary?, began: Timestamp, without gone: [String]
    ) throws -> [String] {
        let history = try History(state)
        guard history.damage == nil else { return [] }
        let snapshots = try history.snapshots().filter { !gone.contains($0.id) }
        return Retention.expiring(policy, snapshots, after: summary, began: began).map(\.id)
    }

    /// Removes only the leftovers of interrupted runs, not snapshots.
    func tidy() throws {
        _ = try remove([], of: History(state))
    }

    /// - Returns: the bytes of content that are freed.
    /// - Throws: if a record cannot be read and a snapshot were to go. The objects that the record needs are unknown,
    ///   so nothing is removed.
    @discardableResult
    private func keep(_ isNeeded: [Bool], of history: History) throws -> ByteCount {
        if isNeeded.contains(false) { try history.checkRecords() }
        guard history.damage == nil else { return 0 }
        let oldest = isNeeded.lastIndex(of: true) ?? 0
        var steps = Array(history.steps.prefix(oldest))
        // The record of a snapshot leads to the one before it.
        let going = history.steps.indices.filter { $0 >= oldest || !isNeeded[$0] || !isNeeded[$0 + 1] }
        let directories = isNeeded.contains(false) ? Set(going.flatMap { history.steps[$0].directories }) : []
        let before = try history.measure(directories)
        try RetiredTree.removeTrees(of: directories, in: state)
        try cut(history.steps.dropFirst(oldest), keepsNone: steps.isEmpty)

        var newest = 0
        for index in isNeeded.indices.dropFirst().prefix(oldest) where isNeeded[index] {
            if index > newest + 1 {
                steps[newest].header = try join(history, newest..<index)
            }
            newest = index
        }
        steps = steps.indices.filter { isNeeded[$0] }.map { steps[$0] }
        try sweep(steps, history)
        try discardUnlisted(steps)
        for step in steps where step.header.isMeasured != true {
            var header = step.header
            let bytes = try history.measure(Set(step.directories))
            (header.bytesHeld, header.isMeasured, header.isUnswept) = (bytes, true, nil)
            try header.write(to: history.directory(step))
        }
        let after = try history.measure(directories)
        return before > after ? before - after : 0
    }

    /// Removes the oldest records, oldest first, so that the chain only gets shorter.
    private func cut(_ steps: ArraySlice<History.Step>, keepsNone: Bool) throws {
        guard !steps.isEmpty else { return }
        let history = try state.makeHistory()
        for (position, step) in steps.reversed().enumerated() {
            // After a power cut, the second newest record must not be treated as that of the present tree.
            if keepsNone, position == steps.count - 1, position > 0 { try history.sync() }
            try discard(step.name, in: history)
        }
    }

    /// Removes a transaction except for the objects that a recovery moved there.
    private func discard(_ name: FileName, in history: Directory) throws {
        let directory = try history.directory(name)
        guard try DirectoryListing.names(in: directory).contains(where: \.isConflicts) else {
            return try state.discard(name, in: history, header: HistoryRecord.headerName)
        }
        if try directory.status(of: HistoryRecord.headerName) != nil {
            try directory.unlink(HistoryRecord.headerName)
        }
    }

    /// Joins records to the newest of them. The rename of its header commits this.
    private func join(_ history: History, _ range: Range<Int>) throws -> HistoryRecord.Header {
        let (lists, newest) = (try TargetLists(history), history.steps[range.lowerBound])
        var (list, places) = (try lists.document(range.lowerBound), Places())
        places.add(list.stored, of: newest.name)
        for index in range.dropFirst() {
            let older = try lists.document(index)
            list.step = older.step.joined(to: list.hand.joined(to: list.step))
            (list.header, list.hand) = (older.header, older.hand)
            places.add(older.stored, of: history.steps[index].name)
        }
        list.stored = places.lines(of: newest.name)
        let header = newest.header.joined(
            to: history.steps[range.upperBound - 1].header,
            holding: list.stored.compactMap(\.transaction))
        let directory = try history.directory(newest)
        var file = try PendingFile(header.listName, in: directory)
        try list.write(to: &file)
        try file.commit(durably: true)
        try header.write(to: directory)
        return header
    }

    /// Removes objects of joined records that no list names.
    private func sweep(_ steps: [History.Step], _ history: History) throws {
        guard steps.contains(where: { $0.header.isUnswept == true }), let root = try state.history() else {
            return
        }
        let needed = try TargetLists(history.with(steps)).needed()
        for step in steps where step.header.isUnswept == true {
            for name in step.directories where try root.status(of: name) != nil {
                let directory = try root.directory(name)
                let own = RelativePath.root.appending(name)
                for numbered in try DirectoryListing.names(in: directory)
                where Int(numbered.description) != nil {
                    try sweep(numbered, in: directory, own, needed)
                }
            }
        }
    }

    private func sweep(
        _ name: FileName, in directory: Directory, _ path: RelativePath, _ needed: Set<RelativePath>
    ) throws {
        // Breadth first: an unneeded directory is removed with all its content.
        var pending = [(directory: directory, name: name, path: path.appending(name))]
        while let (directory, name, path) = pending.popLast() {
            guard needed.contains(path) else {
                try TreeRemoval.remove(name, in: directory)
                continue
            }
            guard try directory.status(of: name)?.type == .directory else { continue }
            let inner = try directory.directory(name)
            pending += try DirectoryListing.names(in: inner).map { (inner, $0, path.appending($0)) }
        }
    }

    /// Removes transactions that no snapshot needs. From the others it removes the files that only their commit needed.
    private func discardUnlisted(_ steps: [History.Step]) throws {
        guard let history = try state.history() else { return }
        let lists = Dictionary(uniqueKeysWithValues: steps.map { ($0.name, $0.header.listName) })
        let leftovers = [
            TransactionEntry.manifest, TransactionEntry.oldManifest, TransactionEntry.reservedSpace,
            TransactionEntry.log, TransactionEntry.prepared,
            TransactionEntry.record,
        ]
        let holders = Set(steps.flatMap(\.header.holders))
        for name in try state.transactions() where try history.status(of: name)?.type == .directory {
            guard lists[name] != nil || holders.contains(name) else {
                try discard(name, in: history)
                continue
            }
            let directory = try history.directory(name)
            for file in try DirectoryListing.names(in: directory) {
                // The old manifest (the list has the changes), the stage's log, joined lists, and an earlier version's
                // records.
                let isLeft =
                    leftovers.contains(file)
                    || file.bytes.starts(with: "actions".utf8)
                    || file.bytes.starts(with: "list".utf8) && file != lists[name]
                    || file == HistoryRecord.headerName && lists[name] == nil
                    || PendingFile.isTemporary(file)
                if isLeft { try directory.unlink(file) }
            }
        }
    }
}

extension RemovedSnapshots {
    init(_ snapshots: [Snapshot], bytes: ByteCount = 0) {
        (ids, labels) = (snapshots.map(\.id), snapshots.compactMap(\.label))
        (created, self.bytes) = (snapshots.compactMap(\.created), bytes)
    }
}

extension FileName {
    fileprivate var isConflicts: Bool { bytes.starts(with: TransactionEntry.conflicts.bytes) }
}
