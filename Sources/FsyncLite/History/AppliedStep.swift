import FileSystem

/// An apply as the lists tell it: the layer from the list that it leaves to the one that it found, that from there to the
/// list that the apply before left, and where it puts what it displaces. Each line is made when it is written.
struct AppliedStep: Sendable {
    private enum Origin: UInt32 {
        /// The target's entry of a match; an entry that becomes uncovered; one that is deleted.
        case match, uncovered, deleted
        /// Nothing was found where a match or a new entry goes.
        case beforeMatch, beforeCreated
    }

    private typealias Item = OriginAndIndex<Origin>

    @Boxed private var difference: Difference
    private let moves: MoveMap
    private let numbers: ObjectNumbers
    private let objects: OperationGraph.ObjectList
    /// Directories that the apply made accessible, with their previous permissions.
    private let opened: [RelativePath: UInt16]
    private var items: [Item] = []
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
        addMatches()
        for index in difference.uncovered.indices { items.append(Item(.uncovered, index)) }
        let deleted = difference.deleted
        for index in deleted.indices where !deleted.isSocket(at: index) && !deleted.path(at: index).isInState
        {
            items.append(Item(.deleted, index))
        }
        let created = difference.created
        for index in created.indices where !created.isSocket(at: index) {
            add(.beforeCreated, index, at: created.path(at: index))
        }
        order()
    }

    private mutating func addMatches() {
        let matches = difference.matches
        for index in matches.indices {
            let head = matches.head(at: index)
            guard !head.isSocket else { continue }
            let (old, new) = (matches.targetPath(at: index), matches.path(at: index))
            let isCarried = moves.isCarried(from: old, to: new)
            if !head.targetIsInState,
                head.replacesContent || !isCarried || head.changesAttributes || changesCoverage(index, old)
            {
                items.append(Item(.match, index))
            }
            if !isCarried { add(.beforeMatch, index, at: new) }
        }
    }

    private func changesCoverage(_ index: Int, _ old: RelativePath) -> Bool {
        guard mayChangeCoverage else { return false }
        return difference.isUncovering(difference.matches[index]) != difference.wereUncovered.contains(old)
    }

    /// Adds a path at which nothing was found, unless its directory was not there either.
    private mutating func add(_ origin: Origin, _ index: Int, at new: RelativePath) {
        guard let parent = new.parent, !moves.isCreated(parent),
            moves.isEmpty || !moves.oldPath(of: parent).isInState
        else { return }
        items.append(Item(origin, index))
    }

    /// Where the object that will be at a path would have been found.
    private func pathBefore(_ new: RelativePath) -> RelativePath {
        guard !moves.isEmpty, let parent = new.parent, let name = new.fileName else { return new }
        return moves.oldPath(of: parent).appending(name)
    }

    private func path(_ item: Item) -> RelativePath {
        switch item.origin {
        case .match: difference.matches.targetPath(at: item.index)
        case .uncovered: difference.uncovered[item.index].file.path
        case .deleted: difference.deleted.path(at: item.index)
        case .beforeMatch: pathBefore(difference.matches.path(at: item.index))
        case .beforeCreated: pathBefore(difference.created.path(at: item.index))
        }
    }

    /// Sorts the items by path; where something was found, nothing is absent.
    private mutating func order() {
        var ordered: [Item] = []
        swap(&ordered, &items)
        // A constant: each access to a value that can change would copy all of it.
        let rest = self
        ordered.sort { (rest.path($0), $0.origin.rawValue) < (rest.path($1), $1.origin.rawValue) }
        var last: RelativePath?
        ordered.removeAll { item in
            let path = rest.path(item)
            defer { last = path }
            return path == last
        }
        items = ordered
    }

    // MARK: Lines

    /// From the list that the step leaves to the one that it found, in the order of paths.
    var step: some Sequence<ListLine> { items.lazy.map(line) }

    private func line(_ item: Item) -> ListLine {
        switch item.origin {
        case .beforeMatch, .beforeCreated: return ListLine(absent: path(item))
        case .deleted:
            let file = difference.deleted[item.index].file
            return line(file, nil, numbers.found(deleted: item.index))
        case .uncovered:
            let (file, base, _) = difference.uncovered[item.index]
            return line(
                file, base, numbers.found(uncovered: item.index), below: moves.carriedPath(of: file.path))
        case .match:
            let match = difference.matches[item.index]
            var file = match.target
            if match.targetStands { file.digest = match.base?.digest }
            return line(file, match.base, numbers.found(match: item.index), below: match.source.path)
        }
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
        let (matches, deleted) = (difference.matches, difference.deleted)
        for index in matches.indices {
            let head = matches.head(at: index)
            guard head.isUnnumbered, !head.isSocket else { continue }
            let match = matches[index]
            if lines[match.target.path] == nil, let base = match.base, base.object != 0 {
                // Its content is another, although nothing else shows it.
                lines[match.target.path] = ListLine(
                    ListEntry(base.file(at: match.target), isUncovered: base.isUncovered))
            } else {
                addUnlisted(match.target.path)
            }
        }
        for index in deleted.indices where deleted.isUnnumbered(at: index) && !deleted.isSocket(at: index) {
            addUnlisted(deleted.path(at: index))
        }
        return lines.values.sorted { $0.path < $1.path }
    }

    /// Where the step puts what it displaces.
    var stored: [StoredObject] {
        var stored: [StoredObject] = []
        // Names of one file may go to several slots, and so may its copies.
        var named: Set<UInt64> = []
        var isInSlot = [Bool](repeating: false, count: difference.deleted.count)
        func add(_ object: UInt64, _ place: StoredObject.Place) {
            if named.insert(object).inserted { stored.append(StoredObject(object, place)) }
        }
        for object in objects.indices where objects.hasSlot(object) {
            let item = objects.items[object]
            switch item.origin {
            case .replaced: add(numbers.found(match: item.index), .slot(objects.slotPath(object)))
            case .deleted:
                isInSlot[item.index] = true
                add(numbers.found(deleted: item.index), .slot(objects.slotPath(object)))
            case .other, .fixed, .standing, .moving, .staged: continue
            }
        }
        let (matches, deleted) = (difference.matches, difference.deleted)
        func addInside(_ object: UInt64, _ path: RelativePath) {
            guard let name = path.fileName, let parent = path.parent.flatMap(deleted.index) else { return }
            add(object, .inside(numbers.found(deleted: parent), name))
        }
        for index in deleted.indices where !isInSlot[index] {
            addInside(numbers.found(deleted: index), deleted.path(at: index))
        }
        // What another object replaces, elsewhere or in a directory that comes to this path, stays in one that goes.
        for index in matches.indices where !deleted.isEmpty {
            let head = matches.head(at: index)
            guard head.replacesContent, !head.targetIsInState else { continue }
            addInside(numbers.found(match: index), matches.targetPath(at: index))
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
