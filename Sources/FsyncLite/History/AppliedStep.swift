import FileSystem

/// A run in the lists. Its layer `step` leads from the list that it leaves to the one that it found. `hand` leads from
/// there to the list that the previous run left. `stored` has the places of objects that move into the history. Each
/// line is made when it is written.
struct AppliedStep: Sendable {
    @Boxed private var difference: Difference
    private let moves: MoveMap
    private let numbers: ObjectNumbers
    private let objects: OperationGraph.ObjectList
    /// Directories that the run made accessible, with their previous permissions.
    private let opened: [RelativePath: UInt16]
    /// Any entry is uncovered before or after the run.
    private let mayChangeCoverage: Bool

    /// - Parameter opened: directories that the run made accessible, with their previous permissions.
    init(
        _ plan: Plan, _ graph: OperationGraph, _ numbers: ObjectNumbers, opened: [RelativePath: UInt16]
    ) {
        difference = plan.difference
        mayChangeCoverage =
            ![plan.difference.policy.uncovering, plan.difference.staying, plan.difference.wereUncovered]
            .allSatisfy(\.isEmpty)
        moves = MoveMap(plan.difference)
        (objects, self.numbers, self.opened) = (graph.objects, numbers, opened)
    }

    private func changesCoverage(_ index: Int, _ old: RelativePath) -> Bool {
        guard mayChangeCoverage else { return false }
        return difference.isUncovering(difference.changes[match: index])
            != difference.wereUncovered.contains(old)
    }

    /// No entry was found at a path, although its directory existed.
    private func isAbsent(_ new: RelativePath) -> Bool {
        guard let parent = new.parent, !moves.isCreated(parent) else { return false }
        return moves.isEmpty || !moves.oldPath(of: parent).isInState
    }

    /// The path at which the object that will be at `new` would have been found.
    private func pathBefore(_ new: RelativePath) -> RelativePath {
        guard !moves.isEmpty, let parent = new.parent, let name = new.fileName else { return new }
        return moves.oldPath(of: parent).appending(name)
    }

    // MARK: Lines

    /// The layer from the list that the step leaves to the one that it found, in the order of paths. A path with an
    /// entry gets no line of absence.
    var step: some Sequence<ListLine> {
        let changes = difference.changes
        var (found, absent): ([UInt32], [UInt32]) = ([], [])
        for index in changes.indices {
            let head = changes.head(at: index)
            guard !head.isSocket else { continue }
            let (old, new) = (changes.targetPath(at: index), changes.path(at: index))
            let isCarried = head.kind == .match && moves.isCarried(from: old, to: new)
            let isFound =
                switch head.kind {
                case _ where numbers.isRotten(index): changesCoverage(index, old)
                case .created: false
                case .deleted: true
                case .match:
                    head.replacesContent || !isCarried || head.changesAttributes
                        || changesCoverage(index, old)
                }
            if isFound, !head.targetIsInState { found.append(UInt32(index)) }
            if head.kind != .deleted, !isCarried, isAbsent(new) { absent.append(UInt32(index)) }
        }
        found.sort { changes.targetPath(at: Int($0)) < changes.targetPath(at: Int($1)) }
        absent.sort { pathBefore(changes.path(at: Int($0))) < pathBefore(changes.path(at: Int($1))) }
        let uncovered = difference.uncovered.indices.sorted {
            difference.uncovered[$0].file.path < difference.uncovered[$1].file.path
        }
        return PathMerge([
            lines(absent) { ListLine(absent: pathBefore(changes.path(at: $0))) },
            lines(uncovered.map { UInt32($0) }, uncoveredLine), lines(found, foundLine),
        ]).lazy.map(\.value)
    }

    private func lines(
        _ indices: [UInt32], _ line: @escaping (Int) -> ListLine
    ) -> AnyIterator<(path: RelativePath, value: ListLine)> {
        AnyIterator(
            indices.lazy.map { index in
                let line = line(Int(index))
                return (line.path, line)
            }.makeIterator())
    }

    private func uncoveredLine(_ index: Int) -> ListLine {
        let (file, base, _) = difference.uncovered[index]
        return line(file, base, numbers.found(uncovered: index), below: moves.carriedPath(of: file.path))
    }

    private func foundLine(_ index: Int) -> ListLine {
        let object = numbers.found(index)
        guard case .match(let match) = difference.changes[index] else {
            let (file, base) = difference.changes[departure: index]
            return line(file, base?.object == object ? base : nil, object)
        }
        var file = match.target
        if match.targetHasBaseDigest { file.digest = match.base?.digest }
        return line(file, match.base, object, below: match.source.path)
    }

    /// - Parameters:
    ///   - base: the file's entry of the manifest, which has the identity of the source's object.
    ///   - below: for a directory, the path that has its content in the list that the step leaves.
    private func line(
        _ file: File, _ base: BaseEntry?, _ object: UInt64, below: RelativePath? = nil
    ) -> ListLine {
        var (file, status) = (file, file.status)
        (status.inode, status.created) = (base?.status.inode ?? 0, base?.status.created)
        status.changed = .unexamined
        if let permissions = opened[file.path] { status.permissions = permissions }
        file = file.with(status)
        (file.omitted, file.object) = (base?.omitted ?? [], object)
        return ListLine(
            ListEntry(file, isUncovered: difference.wereUncovered.contains(file.path)), below: below)
    }

    /// The layer from the list that the step found to the one that the step before left, in the order of paths.
    var hand: [ListLine] {
        var lines: [RelativePath: ListLine] = [:]
        for drift in difference.drift + difference.driftOfDisplaced {
            if let recorded = drift.recorded {
                guard recorded.object != 0 else { continue }
                lines[recorded.path] = ListLine(
                    ListEntry(recorded, isUncovered: drift.wasUncovered),
                    below: drift.found.map { $0.isDirectory } ?? false ? recorded.path : nil)
            } else if let found = drift.found, found.status.type != .socket {
                lines[found.path] = ListLine(absent: found.path)
            }
        }
        let changes = difference.changes
        for index in changes.indices {
            let head = changes.head(at: index)
            guard head.kind != .created, head.isUnnumbered, !head.isSocket, !numbers.isRotten(index) else {
                continue
            }
            let path = changes.targetPath(at: index)
            if lines[path] == nil, case .match(let match) = changes[index], let base = match.base,
                base.object != 0
            {
                // The content changed, although no other value shows it.
                lines[path] = ListLine(
                    ListEntry(base.file(at: match.target), isUncovered: base.isUncovered))
            } else if lines[path] == nil, !path.isInState {
                // An entry that was in no list is treated as a new one.
                lines[path] = ListLine(absent: path)
            }
        }
        return lines.values.sorted { $0.path < $1.path }
    }

    /// The places of the objects that the step moves into the history.
    var stored: some Sequence<StoredObject> {
        // Objects of the graph, and as a complement a change whose object is in a directory that is deleted.
        var moved: [Int32] = []
        // Names of one file, and its copies, may move to several slots.
        var named: Set<UInt64> = []
        let changes = difference.changes
        var isInSlot = [Bool](repeating: false, count: changes.count)
        for object in objects.indices where objects.items[object].origin == .leaving {
            let index = objects.items[object].index
            isInSlot[index] = true
            if named.insert(numbers.found(index)).inserted { moved.append(Int32(object)) }
        }
        // An object can also be replaced at another path, or by one in a directory that moves to its path. Then it
        // remains in its directory, which is deleted.
        for index in changes.indices where !isInSlot[index] {
            let head = changes.head(at: index)
            guard head.kind == .deleted || head.replacesContent && !head.targetIsInState,
                deletedDirectory(of: index) != nil, named.insert(numbers.found(index)).inserted
            else { continue }
            moved.append(~Int32(index))
        }
        return moved.lazy.compactMap { $0 < 0 ? lineInside(Int(~$0)) : lineInSlot(Int($0)) }
    }

    private func deletedDirectory(of index: Int) -> Int? {
        let changes = difference.changes
        return changes.targetPath(at: index).parent.flatMap { changes.index(of: .deleted, at: $0) }
    }

    private func lineInSlot(_ object: Int) -> StoredObject {
        let item = objects.items[object]
        return StoredObject(numbers.found(item.index), .slot(OperationGraph.path(ofSlot: Int(item.slot))))
    }

    private func lineInside(_ index: Int) -> StoredObject? {
        guard let directory = deletedDirectory(of: index),
            let name = difference.changes.targetPath(at: index).fileName
        else { return nil }
        return StoredObject(numbers.found(index), .inside(numbers.found(directory), name))
    }
}

extension ListDocument {
    /// Writes the document of a run into the transaction's directory.
    ///
    /// - Parameter header: the header of the list that the run found.
    static func write(_ step: AppliedStep, _ header: ManifestHeader, to directory: Directory) throws {
        var file = try PendingFile(name, in: directory)
        // Without a manifest, changes by hand are unknown, so no entry is treated as changed.
        let hand = header.id == Snapshot.initialID ? [] : step.hand
        try write(header, step: step.step, hand: hand, stored: step.stored, to: &file)
        try file.commit(durably: false)
    }
}

extension ManifestHeader {
    /// The header of the list that a run found.
    ///
    /// - Parameters:
    ///   - manifest: the one of the run before; nil for the first run.
    ///   - root: the target's root as it was found; nil if it was not looked at.
    init(found manifest: ManifestHeader?, root: File?, nextObject: UInt64) {
        self.init(
            id: manifest?.id ?? Snapshot.initialID, root: manifest?.root ?? [],
            created: manifest?.created ?? .unknown)
        if let manifest {
            (sources, filters, attributes) = (manifest.sources, manifest.filters, manifest.attributes)
        }
        rootEntry = root ?? manifest?.rootEntry
        self.nextObject = nextObject
    }
}
