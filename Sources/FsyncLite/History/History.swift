import FileStorage
import FileSystem

/// The history records of a target as a chain: each leads from its snapshot to the one before.
struct History {
    struct Step {
        let name: FileName
        var header: HistoryRecord.Header

        /// The directories with the objects that the step restores.
        var directories: [FileName] { [name] + header.holders }
    }

    let state: StateDirectory
    /// Newest first.
    private(set) var steps: [Step] = []
    /// The error of the unreadable or missing header that ends the chain early.
    private(set) var damage: SyncError?

    init(_ state: StateDirectory) throws {
        self.state = state
        let names = try state.transactions()
        guard !names.isEmpty else { return }
        guard let history = try state.history() else { return }
        var next = try names.last(where: { try History.hasHeader($0, in: history) })
        while let name = next {
            do {
                let header = try HistoryRecord.Header.read(name, from: history.directory(name))
                steps.append(Step(name: name, header: header))
                // Only older records are followed, so that a false header makes no cycle.
                next = header.previous.flatMap { FileName($0.utf8) }
                if let previous = next, try previous >= name || !History.hasHeader(previous, in: history) {
                    next = nil
                }
            } catch let error as SyncError {
                damage = error
                break
            }
        }
        // The newest record is that of the run that wrote the manifest.
        if let newest = steps.first, let present = try state.manifest()?.header.id,
            present != newest.header.id
        {
            steps = []
            damage = History.lost(present, in: history)
            return
        }
        // Records are removed oldest first, so a missing record was lost if an older one exists. Records that were
        // joined to a newer one are newer than `lost`.
        guard damage == nil, let lost = steps.last?.header.previous.flatMap({ FileName($0.utf8) }),
            try names.contains(where: { try $0 < lost && History.hasHeader($0, in: history) })
        else { return }
        damage = History.lost(lost.description, in: history)
    }

    /// A directory without a header has only objects that other records restore, or that a recovery moved there.
    private static func hasHeader(_ name: FileName, in history: Directory) throws -> Bool {
        guard try history.status(of: name)?.type == .directory else { return false }
        return try history.directory(name).status(of: HistoryRecord.headerName) != nil
    }

    private static func lost(_ name: String, in history: Directory) -> SyncError {
        SyncError(
            .invalidDocument,
            path: history.path + "/\(name)/".utf8 + HistoryRecord.headerName.bytes,
            "it is missing, and there are older records")
    }

    /// The first step whose list cannot be read, with the error.
    private func damagedList() throws -> (step: Int, error: SyncError)? {
        let lists = try TargetLists(self)
        for index in steps.indices {
            do {
                _ = try lists.document(index)
            } catch let error as SyncError where error.code == .invalidDocument {
                return (index, error)
            }
        }
        return nil
    }

    /// Throws the error of the first record that cannot be read.
    func checkRecords() throws {
        if let error = try damage ?? damagedList()?.error { throw error }
    }

    /// The same, cut before the first record that cannot be read.
    func withoutDamaged() throws -> History {
        var whole = with(Array(steps[..<(try damagedList()?.step ?? steps.endIndex)]))
        whole.damage = nil
        return whole
    }

    /// The same with other steps.
    func with(_ steps: [Step]) -> History {
        var history = self
        history.steps = steps
        return history
    }

    /// The snapshots that are missing from a history that `withoutDamaged` cuts.
    func snapshots(lostIn whole: History) throws -> [Snapshot] {
        let snapshots = try snapshots()
        var lost = Array(snapshots.dropFirst(whole.steps.count + 1))
        if damage != nil, let oldest = snapshots.last?.id, let history = try state.history() {
            lost += try state.transactions().reversed().filter {
                try $0.description < oldest && History.hasHeader($0, in: history)
            }.map { Snapshot(id: $0.description) }
            lost.append(Snapshot(id: Snapshot.initialID))
        }
        for index in lost.indices { lost[index].damage = "it cannot be read, or what leads to it" }
        return lost
    }

    func directory(_ step: Step) throws -> Directory {
        try state.transaction(step.name)
    }

    /// Newest first, beginning with the present tree. Empty before the first run.
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
                    utcOffset: header.utcOffset, label: header.label, summary: header.summary,
                    copied: header.copied, seconds: header.seconds)
            } + [oldest]
        SnapshotName.shorten(&snapshots)
        return snapshots
    }

    func index(of name: String) throws -> Int {
        try SnapshotName.index(of: name, in: snapshots())
    }

    /// Bytes of content in the directories of a step.
    func bytesStored(_ step: Step) throws -> ByteCount {
        try step.header.isMeasured == true ? step.header.bytesHeld : measure(Set(step.directories))
    }

    /// Notes that a run takes objects out of these transactions. The bytes in their records are then unknown, whether
    /// or not the run is committed.
    func forgetMeasures(of transactions: Set<FileName>) throws {
        for var step in steps
        where step.header.isMeasured == true && !transactions.isDisjoint(with: step.directories) {
            step.header.isMeasured = nil
            try step.header.write(to: directory(step))
        }
    }

    /// Bytes of content in directories of transactions, by a look at those that exist.
    func measure(_ directories: Set<FileName>) throws -> ByteCount {
        guard !directories.isEmpty, let history = try state.history() else { return 0 }
        var stored = StoredBytes(hasOldTrees: try state.has(.trees))
        for name in directories where try history.status(of: name) != nil {
            let scan = try TreeScan(
                history.directory(name), TreeScan.Options(toleratesUnreadable: true))
            while try scan.advance() {
                // Documents are beside the directories of slots, and are not counted.
                if scan.path.parent?.isRoot == false { stored.add(scan.status) }
            }
        }
        return stored.total
    }
}

extension Difference {
    /// The transactions of the history from which objects return.
    var emptiedTransactions: Set<FileName> {
        var (names, last) = (Set<FileName>(), RelativePath.lost)
        for index in changes.indices(of: .match) where changes.head(at: index).targetIsInState {
            let path = changes.targetPath(at: index)
            guard !path.isBelow(last), let name = path.components.dropFirst(2).first.flatMap({ FileName($0) })
            else { continue }
            last = .history.appending(name)
            names.insert(name)
        }
        return names
    }
}
