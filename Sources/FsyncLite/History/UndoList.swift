import FileSystem

/// The undo entries of a plan. Each is made when it is read: eight bytes stand for it.
package struct UndoList: RandomAccessCollection, Sendable {
    private enum Origin: UInt32 {
        case root
        /// Of a match: its object leaves, moves, gets other attributes, or its coverage changes.
        case replaced, moved, attributes, cover, uncover
        /// Of an entry that becomes uncovered, of a deleted and of a created one.
        case uncovered, deleted, created
        case given
    }

    private struct Item {
        private let source: OriginAndIndex<Origin>
        /// Of the graph, for a displaced object.
        let object: UInt32

        init(_ origin: Origin, _ index: Int, object: Int? = nil) {
            (source, self.object) = (OriginAndIndex(origin, index), object.map { UInt32($0) } ?? .max)
        }

        var origin: Origin { source.origin }
        var index: Int { source.index }
    }

    // Members of their own, as a plan takes long to copy.
    private let difference: Difference
    private let root: Match?
    private let moves: MoveMap
    private let objects: OperationGraph.ObjectList
    /// Directories that the apply made accessible, with their previous permissions.
    private let opened: [RelativePath: UInt16]
    private let transaction: String
    private var items: [Item] = []
    private var given = UndoEntries()

    /// - Parameter opened: directories that the apply made accessible, with their previous permissions.
    init(
        _ plan: Plan, _ graph: OperationGraph, opened: [RelativePath: UInt16], transaction: String
    ) {
        let (difference, moves) = (plan.difference, MoveMap(plan.difference))
        (self.difference, root, self.moves) = (difference, plan.root, moves)
        (objects, self.opened, self.transaction) = (graph.objects, opened, transaction)
        var displaced = OperationGraph.ObjectList.Cursor()
        func add(_ origin: Origin, _ index: Int, isSocket: Bool, _ object: Int? = nil) {
            // A socket has no content, and documents have no type for it.
            guard !isSocket else { return }
            items.append(Item(origin, index, object: object))
        }
        let (matches, deleted, created) = (difference.matches, difference.deleted, difference.created)
        items.reserveCapacity(matches.count + deleted.count + created.count + 1)
        if let root, root.changesAttributes { add(.root, 0, isSocket: false) }
        for index in matches.indices {
            // Source and target are of one type.
            let head = matches.head(at: index)
            if head.replacesContent {
                add(
                    .replaced, index, isSocket: head.isSocket,
                    displaced.object(of: .replaced, index, in: objects))
                continue
            }
            let old = matches.targetPath(at: index)
            // Another directory may be at the path of its former directory: then it moved, and kept its path.
            let isMoved = !moves.isCarried(from: old, to: head.isRenamed ? matches.path(at: index) : old)
            if isMoved { add(.moved, index, isSocket: head.isSocket) }
            if head.changesAttributes {
                add(.attributes, index, isSocket: head.isSocket)
            } else if !isMoved {
                let isUncovering = difference.isUncovering(matches[index])
                if isUncovering != difference.wereUncovered.contains(old) {
                    add(isUncovering ? .uncover : .cover, index, isSocket: head.isSocket)
                }
            }
        }
        for (index, (file, _, _)) in difference.uncovered.enumerated() {
            add(.uncovered, index, isSocket: file.status.type == .socket)
        }
        for index in deleted.indices {
            add(
                .deleted, index, isSocket: deleted.isSocket(at: index),
                displaced.object(of: .deleted, index, in: objects))
        }
        for index in created.indices { add(.created, index, isSocket: created.isSocket(at: index)) }
    }

    package init(_ entries: some Sequence<UndoEntry>) {
        (difference, root, moves) = (Difference(), nil, MoveMap(Difference()))
        (objects, opened, transaction) = (.init(), [:], "")
        given = UndoEntries(entries)
        items = given.indices.map { Item(.given, $0) }
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { items.count }

    package subscript(position: Int) -> UndoEntry {
        let (item, index) = (items[position], items[position].index)
        switch item.origin {
        case .given: return given[index]
        case .root:
            // Only a plan with a root has such an item.
            guard let root else { preconditionFailure("an entry of a root that is not known") }
            return entry(.attributes, root.target, root.causes)
        case .replaced:
            let match = difference.matches[index]
            return entry(
                .update, recorded(match), match.causes, from: match.isRenamed ? match.source.path : nil,
                slot: slot(item))
        case .moved:
            let match = difference.matches[index]
            return entry(.move, recorded(match), [], from: match.source.path)
        case .attributes, .cover, .uncover:
            let match = difference.matches[index]
            let from = match.isRenamed ? match.source.path : nil
            guard item.origin == .attributes else {
                return entry(item.origin == .uncover ? .uncover : .cover, match.target, [], from: from)
            }
            return entry(.attributes, recorded(match), match.causes, from: from)
        case .uncovered:
            let file = difference.uncovered[index].file
            let location = moves.carriedPath(of: file.path)
            return entry(.uncover, file, [], from: location == file.path ? nil : location)
        case .deleted:
            let (file, isDrift) = difference.deleted[index]
            return entry(.create, file, [isDrift ? .drift : .removed], slot: slot(item))
        case .created:
            let (file, isDrift) = difference.created[index]
            return entry(.delete, file, [isDrift ? .drift : .new])
        }
    }

    /// What the target had, with its digest where that is known to be of it.
    private func recorded(_ match: Match) -> File {
        var file = match.target
        if match.targetStands { file.digest = match.base?.digest }
        return file
    }

    private func slot(_ item: Item) -> RelativePath? {
        guard item.object != .max, let directory = RelativePath(transaction) else { return nil }
        return directory.appending(objects.slotPath(Int(item.object)))
    }

    private func entry(
        _ verb: UndoEntry.Verb, _ file: File, _ causes: Causes, from: RelativePath? = nil,
        slot: RelativePath? = nil
    ) -> UndoEntry {
        var file = file
        if let permissions = opened[file.path], verb != .delete {
            var status = file.status
            status.permissions = permissions
            file = file.with(status)
        }
        return UndoEntry(
            verb, file, from: from, slot: slot, causes: causes.subtracting([.renamed]),
            wasUncovered: verb != .delete && verb != .uncover
                && difference.wereUncovered.contains(file.path))
    }
}
