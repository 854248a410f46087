import FileSystem

/// An apply as the lists tell it: the layer from the list that it leaves to the one that it found, that from there to the
/// list that the apply before left, and where it puts what it displaces. Each line is made when it is written.
struct AppliedStep: Sendable {
    @Boxed private var difference: Difference
    private let moves: MoveMap
    private let numbers: ObjectNumbers
    private let objects: OperationGraph.ObjectList
    /// Directories that the apply made accessible, with their previous permissions.
    private let opened: [RelativePath: UInt16]
    /// Any entry is uncovered before or after the apply.
    private let mayChangeCoverage: Bool

    /// - Parameter opened: directories that the apply made accessible, with their previous permissions.
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

    /// Nothing was found at a path, and not because its directory was not there either.
    private func isAbsent(_ new: RelativePath) -> Bool {
        guard let parent = new.parent, !moves.isCreated(parent) else { return false }
        return moves.isEmpty || !moves.oldPath(of: parent).isInState
    }

    /// Where the object that will be at a path would have been found.
    private func pathBefore(_ new: RelativePath) -> RelativePath {
        guard !moves.isEmpty, let parent = new.parent, let name = new.fileName else { return new }
        return moves.oldPath(of: parent).appending(name)
    }

    // MARK: Lines

    /// From the list that the step leaves to the one that it found, in the order of paths. A path with an entry gets
    /// no line of absence.
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
            return line(difference.changes[file: index], nil, object)
        }
        var file = match.target
        if match.targetStands { file.digest = match.base?.digest }
        return line(file, match.base, object, below: match.source.path)
    }

    /// - Parameters:
    ///   - base: its entry of the manifest, which has the identity of the source's object.
    ///   - below: of a directory, where what is below it is in the list that the step leaves.
    private func line(
        _ file: File, _ base: BaseEntry?, _ object: UInt64, below: RelativePath? = nil
    ) -> ListLine {
        var (file, status) = (file, file.status)
        (status.inode, status.created) = (base?.status.inode ?? 0, base?.status.created)
        status.changed = CommitSpans.unexamined
        if let permissions = opened[file.path] { status.permissions = permissions }
        file = file.with(status)
        (file.omitted, file.object) = (base?.omitted ?? [], object)
        return ListLine(
            ListEntry(file, isUncovered: difference.wereUncovered.contains(file.path)), below: below)
    }

    /// From the list that the step found to the one that the step before left, in the order of paths.
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
        // What no list had is not told from what came since.
        func addUnlisted(_ path: RelativePath) {
            if lines[path] == nil, !path.isInState { lines[path] = ListLine(absent: path) }
        }
        let changes = difference.changes
        for index in changes.indices {
            let head = changes.head(at: index)
            guard head.kind != .created, head.isUnnumbered, !head.isSocket else { continue }
            let path = changes.targetPath(at: index)
            if lines[path] == nil, case .match(let match) = changes[index], let base = match.base,
                base.object != 0
            {
                // Its content is another, although nothing else shows it.
                lines[path] = ListLine(
                    ListEntry(base.file(at: match.target), isUncovered: base.isUncovered))
            } else {
                addUnlisted(path)
            }
        }
        return lines.values.sorted { $0.path < $1.path }
    }

    /// Where the step puts what it displaces.
    var stored: [StoredObject] {
        var stored: [StoredObject] = []
        // Names of one file may go to several slots, and so may its copies.
        var named: Set<UInt64> = []
        let changes = difference.changes
        var isInSlot = [Bool](repeating: false, count: changes.count)
        func add(_ object: UInt64, _ place: StoredObject.Place) {
            if named.insert(object).inserted { stored.append(StoredObject(object, place)) }
        }
        for object in objects.indices where objects.items[object].origin == .leaving {
            let index = objects.items[object].index
            isInSlot[index] = true
            add(numbers.found(index), .slot(objects.slotPath(object)))
        }
        // What another object replaces, elsewhere or in a directory that comes to this path, stays in one that goes.
        for index in changes.indices where !isInSlot[index] {
            let head = changes.head(at: index)
            guard head.kind == .deleted || head.replacesContent && !head.targetIsInState else { continue }
            let path = changes.targetPath(at: index)
            guard let name = path.fileName,
                let parent = path.parent.flatMap({ changes.index(of: .deleted, at: $0) })
            else { continue }
            add(numbers.found(index), .inside(numbers.found(parent), name))
        }
        return stored
    }
}

extension ListDocument {
    /// Writes the document of an apply into the transaction's directory.
    ///
    /// - Parameter header: of the list that the apply found.
    static func write(_ step: AppliedStep, _ header: ManifestHeader, to directory: Directory) throws {
        var file = try PendingFile(name, in: directory)
        // Without a manifest nothing tells what was changed by hand: what was found is taken to have been there.
        let hand = header.id == Snapshot.initialID ? [] : step.hand
        try write(header, step: step.step, hand: hand, stored: step.stored, to: &file)
        try file.commit(durably: false)
    }
}

extension ManifestHeader {
    /// The header of the list that an apply found.
    ///
    /// - Parameters:
    ///   - manifest: that of the apply before; nil for the first one.
    ///   - root: the target's root as it was found; nil where that was not looked at.
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
