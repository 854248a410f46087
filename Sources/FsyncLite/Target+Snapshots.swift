import FileStorage
import FileSystem

extension Target {
    /// The available snapshots, newest first, beginning with the present tree. Takes no lock and writes no file.
    ///
    /// - Parameter retention: the options of a run, besides the target's rules.
    /// - Throws: `SyncError`, as `status()`, and `pending` while a commit is unfinished.
    public func snapshots(_ retention: RetentionOptions = RetentionOptions()) throws -> [Snapshot] {
        let history = try history()
        return try snapshots(history, rules(retention, history.state).policy)
    }

    /// The same without a look at the data: the bytes of each snapshot, and the rules that keep it.
    package func names() throws -> [Snapshot] { try history().snapshots() }

    /// The tree to which an undo of the last runs returns; and these runs, the newest first.
    ///
    /// - Parameter called: the target's name in messages with a command.
    /// - Throws: `SyncError`: `inputMissing` if the history has no run, `refused` if fewer runs can be undone one by
    ///   one.
    package func found(byLast count: Int, called: [UInt8]) throws -> (name: String, runs: [Snapshot]) {
        let history = try history()
        let steps = try TargetLists(history).undoable(count, from: history.state.manifest(of: path).header)
        guard count > steps.count else {
            let snapshots = try history.snapshots()
            return ("latest~\(steps[count - 1] + 1)", steps.prefix(count).map { snapshots[$0] })
        }
        let (undoable, next) = (steps.count, history.steps.firstIndex(where: \.header.isJoined))
        if next == nil, let damage = history.damage { throw damage }
        guard undoable > 0 || next != nil else {
            let isOff = try rules(RetentionOptions(), history.state).policy.isOff
            throw SyncError(
                .inputMissing, path: path,
                "there is nothing to undo, because \(isOff ? "keep_last 0 turns the history off" : "the history has no older tree")"
            )
        }
        let possible =
            undoable == 0
            ? "the snapshot before the last run was removed"
            : "only \(Amount.of(undoable, "run")) can be taken back"
        guard let next else { throw SyncError(.fewerSnapshots(undoable, possible), path: path) }
        let tree = try history.snapshots()[next + 1]
        let time = tree.created.map { " of \($0.localText)" } ?? ""
        let reason =
            "\(possible). The next older snapshot is \(tree.shortID)\(time). To see which changes since then it would take back: fsync-lite snapshot restore --in-place --dry-run \(escapedText(called)) \(tree.shortID)"
        throw SyncError(.fewerSnapshots(undoable, reason), path: path)
    }

    /// The rules that keep snapshots.
    public func retention(_ options: RetentionOptions = RetentionOptions()) throws -> RetentionRules {
        try rules(options, open().1)
    }

    func rules(_ options: RetentionOptions, _ state: StateDirectory) throws -> RetentionRules {
        try options.rules(stored: state.manifest()?.header.retention, state.settings().rules)
    }

    func snapshots(_ history: History, _ policy: RetentionPolicy) throws -> [Snapshot] {
        var snapshots = try history.snapshots()
        let reasons = policy.reasons(for: snapshots, began: policy.clock)
        for (index, reasons) in reasons.enumerated() {
            snapshots[index].reasons = reasons
            if index > 0 { snapshots[index].bytesStored = try history.bytesStored(history.steps[index - 1]) }
        }
        return snapshots
    }

    /// The changes of the run that made a snapshot, and the snapshots that it made and found.
    ///
    /// - Throws: `SyncError` with code `inputMissing` for the oldest: its changes are no longer known.
    public func changes(of snapshot: String) throws -> (plan: Plan, made: Snapshot, found: Snapshot) {
        let history = try history()
        let index = try history.index(of: snapshot)
        guard index < history.steps.count else {
            throw SyncError(
                .inputMissing, path: path,
                "\(snapshot) is the oldest snapshot, so its run is unknown")
        }
        let lists = try TargetLists(history)
        var plan = Plan(refusing: [])
        try lists.forEachStep(upTo: index) { number, step in
            if number == index { plan = try lists.changes(of: step) }
        }
        let snapshots = try history.snapshots()
        return (plan, snapshots[index], snapshots[index + 1])
    }

    /// The changes that would turn one snapshot into the other.
    public func changes(from first: String, to second: String) throws -> Plan {
        let history = try history()
        let lists = try TargetLists(history)
        let present = try lists.present().header.rootEntry
        let old = try lists.layers(to: history.index(of: first))
        let new = try lists.layers(to: history.index(of: second))
        func root(_ layers: TargetLists.Layers) -> File? {
            layers.list.map(\.header.rootEntry) ?? present
        }
        let part = try lists.withPart(of: old.found, new.found)
        return try TargetLists.changes(
            from: part.entries(old.found, old.places), to: part.entries(new.found, new.places),
            roots: (root(old), root(new)), leftOut: part.excerpt?.leftOut.covered ?? 0)
    }

    /// Gives the present snapshot a label, which keeps it.
    ///
    /// - Parameter retention: as for `snapshots`.
    public func label(_ label: String, _ retention: RetentionOptions = RetentionOptions()) throws -> Snapshot
    {
        try writing { history in
            guard var header = history.steps.first?.header, let step = history.steps.first else {
                throw SyncError(.nothingToLabel, path: path)
            }
            guard label.utf8.count <= 255, singleLine(label) == label else {
                throw SyncError(
                    .usage, "a label has at most 255 bytes and no control characters; give another one")
            }
            guard TimeSpan(label) == nil else {
                throw SyncError(.usage, "\(escapedText(label.utf8)) is a time; give another label")
            }
            guard try !SnapshotName.isInUse(label, in: history.snapshots()) else {
                throw SyncError(
                    .usage, "\(escapedText(label.utf8)) is the name of a snapshot already; give another label"
                )
            }
            header.label = label
            try header.write(to: history.directory(step))
            return try snapshots(
                History(history.state), rules(retention, history.state).policy)[0]
        }
    }

    /// Removes snapshots.
    ///
    /// - Parameters:
    ///   - policy: the rules for snapshots.
    ///   - dropsDamaged: removes snapshots that cannot be read, too, and all older ones.
    ///   - isDryRun: removes nothing.
    /// - Returns: all snapshots, and those without a reason, which are (or would be) removed. The bytes of a dry run
    ///   are a maximum: older snapshots may need the same files.
    public func prune(
        _ policy: RetentionPolicy, dropsDamaged: Bool = false, isDryRun: Bool = false
    ) throws -> (all: [Snapshot], removed: RemovedSnapshots) {
        func found(_ history: History) throws -> (History, [Snapshot]) {
            guard dropsDamaged else { return (history, try snapshots(history, policy)) }
            let whole = try history.withoutDamaged()
            return (whole, try snapshots(whole, policy) + history.snapshots(lostIn: whole))
        }
        if isDryRun {
            let all = try found(history()).1
            let removed = all.filter(\.reasons.isEmpty)
            return (all, RemovedSnapshots(removed, bytes: removed.map(\.bytesStored).sum()))
        }
        return try writing { history in
            let (history, before) = try found(history)
            if let damage = history.damage { throw damage }
            let bytes = try Retention(history.state).apply(policy, to: history, began: policy.clock).bytes
            return (before, RemovedSnapshots(before.filter(\.reasons.isEmpty), bytes: bytes))
        }
    }

    /// The findings of a check of the history.
    public struct HistoryCheck: Sendable {
        /// The errors, by snapshot; `file`: whose old version is damaged or missing.
        public var faults: [(snapshot: String, file: RelativePath?, error: SyncError)] = []
        /// The number of snapshots that were checked.
        public var count = 0
        /// Files with an old content that no snapshot has, because somebody changed them in the target.
        public var lost: [(snapshot: String, path: RelativePath)] = []
        /// Old versions that are also files at another place.
        public var shared: [SharedVersion] = []
    }

    /// Checks that every record can be read and all its objects exist. Reads content that has a digest.
    ///
    /// - Parameter part: the part of the old versions whose content is read.
    public func verifyHistory(
        part: Verification.Part = .all, monitor: any Monitor = SilentMonitor()
    ) throws -> HistoryCheck {
        try atOneMoment(orIf: \.faults.isEmpty) { try check($0, history(of: $1), part, monitor) }
    }

    private func check(
        _ root: TargetRoot, _ history: History, _ part: Verification.Part, _ monitor: any Monitor
    ) throws -> HistoryCheck {
        let snapshots = try history.snapshots()
        guard let directory = root.directory else { return HistoryCheck() }
        var (faults, lost) = ([(String, RelativePath?, SyncError)](), [(String, RelativePath)]())
        do {
            // Every tree is stored as its differences from the present one.
            let manifest = try history.state.manifest()
            while try manifest?.advance() ?? false {}
        } catch let error as SyncError {
            faults.append((snapshots.first?.id ?? "", nil, error))
        }
        if let damage = history.damage { faults.append((snapshots.last?.id ?? "", nil, damage)) }
        let lists = try TargetLists(history)
        var (documents, places) = ([ListDocument](), Places())
        for (index, step) in history.steps.enumerated() {
            do {
                documents.append(try lists.document(index))
                places.add(documents[index].stored, of: step.name)
            } catch let error as SyncError {
                faults.append((snapshots[index + 1].id, nil, error))
                break
            }
        }
        let resolver = PathResolver(directory)
        let present = try lists.objects(
            documents.flatMap { $0.stored.map(\.object) + $0.step.objects + $0.hand.objects })
        var (shared, seen) = (SharedVersions(), Set<UInt64>())
        // An object that had returned from the history may have been changed or removed by hand.
        let changed = Set(documents.lazy.flatMap(\.hand.objects))
        for (index, document) in documents.enumerated() {
            let entries = [document.step, document.hand].flatMap { $0.lines.sorted.compactMap(\.entry) }
            var displaced: [DisplacedObjects.Item] = []
            for entry in entries {
                let place = places.place(of: entry.object, present: { present[$0] })
                if case .tree? = place { continue }
                guard seen.insert(entry.object).inserted else { continue }
                let (snapshot, isChanged) = (snapshots[index + 1].id, changed.contains(entry.object))
                if case .history(let path)? = place {
                    let location = RelativePath.history.appending(path)
                    if try !isChanged || resolver.status(of: location) != nil {
                        displaced.append(DisplacedObjects.Item(file: entry.file, location: location))
                        continue
                    }
                }
                guard entry.file.isFile, !entry.isUncovered, !entry.file.omitted.contains(.purged) else {
                    continue
                }
                if isChanged {
                    lost.append((snapshot, entry.file.path))
                } else {
                    faults.append((snapshot, entry.file.path, .lost(entry.file.path)))
                }
            }
            displaced.sort { $0.location < $1.location }
            let objects = FilePipeline(threads: Processors.defaultThreads) {
                DisplacedObjects(directory, part, monitor: monitor)
            }
            defer { objects.close() }
            // A file with a name in the history may have another one in the tree.
            for entry in entries where present[entry.object] != nil && !entry.file.isDirectory {
                guard case .history(let path)? = places.place(of: entry.object, present: { _ in nil }) else {
                    continue
                }
                shared.look(
                    at: try resolver.status(of: .history.appending(path)), entry.file.path,
                    of: snapshots[index + 1].id)
            }
            func take(_ fault: (RelativePath, SyncError)?) {
                if let (file, error) = fault { faults.append((snapshots[index + 1].id, file, error)) }
            }
            for item in displaced {
                try objects.add(item, bytes: item.file.isFile ? item.file.size : 0) { take($0) }
            }
            try objects.finish { take($0) }
            for item in displaced {
                shared.look(
                    at: try resolver.status(of: item.location), item.file.path, of: snapshots[index + 1].id)
            }
        }
        return HistoryCheck(
            faults: faults, count: snapshots.count, lost: lost,
            shared: try shared.found(in: directory, and: history.state.directory, monitor))
    }

    func history() throws -> History {
        try atOneMoment(orIf: { $0.damage == nil }) { _, state in try history(of: state) }
    }

    /// The same as it is now. A run may change the records while they are read.
    func history(of state: StateDirectory) throws -> History {
        if try state.hasInterruptedCommit() { throw SyncError.pendingCommit(name) }
        return try History(state)
    }

    /// Runs `body` with the lock, after finishing an interrupted commit.
    func writing<Value>(_ body: (History) throws -> Value) throws -> Value {
        let (root, state) = try open()
        guard try !root.isReadOnly() else {
            throw SyncError(.readOnlyFileSystem, path: path)
        }
        try root.lock()
        _ = try root.recover()
        return try withExtendedLifetime(root) { try body(History(state)) }
    }
}

/// Checks that the objects in the history are unchanged.
private struct DisplacedObjects: FileWorker {
    struct Item: Sendable {
        let file: File
        let location: RelativePath
    }

    private let contents: DigestReader
    private let part: Verification.Part

    init(_ directory: Directory, _ part: Verification.Part, monitor: any Monitor) {
        self.part = part
        contents = DigestReader(PathResolver(directory), monitor: monitor)
    }

    func announce(_ items: [Item]) {
        contents.announce(items.lazy.filter(isRead).map(\.location))
    }

    private func isRead(_ item: Item) -> Bool { item.file.digest != nil && part.contains(item.location) }

    func value(of item: Item) throws -> (RelativePath, SyncError)? {
        try fault(of: item).map { (item.file.path, $0) }
    }

    /// nil if the object is unchanged. Its inode may be another one: if it was in the tree since, an exchange may have
    /// made a copy.
    private func fault(of item: Item) throws -> SyncError? {
        let (file, path) = (item.file, item.location.bytes)
        guard let status = try contents.status(of: item.location) else {
            return SyncError(.failed, path: path, "missing: an old version of \(file.path)")
        }
        guard status.equals(file.status, in: file.isFile ? .content : .type) else {
            return SyncError(.failed, path: path, "changed: an old version of \(file.path)")
        }
        do {
            guard isRead(item), try contents.digest(of: item.location)?.digest != file.digest else {
                return nil
            }
            return SyncError(.failed, path: path, "damaged: an old version of \(file.path)")
        } catch let error as SystemError {
            return SyncError(error)
        }
    }
}

extension SyncError {
    /// An undo or a restore did not find the object, and listed it then.
    fileprivate static func lost(_ path: RelativePath) -> SyncError {
        SyncError(.failed, path: path.bytes, "its old content is lost: the history no longer has it")
    }
}
