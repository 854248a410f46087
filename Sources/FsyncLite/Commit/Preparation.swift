import FileStorage
import FileSystem

extension Commit {
    /// Makes the journal of an operation graph: every object is looked at once more, right before the commit, and
    /// must still be what the plan saw. Its identity goes to the journal.
    ///
    /// - Parameter isCopy: the root is that of a copy of the target, and only its tree is to be changed.
    /// - Throws: `SyncError` when the target was changed meanwhile. Nothing has been touched then.
    package static func prepare(
        _ graph: OperationGraph, id: String, root: Directory, state: StateDirectory, isCopy: Bool = false
    ) throws -> Journal {
        var journal = Journal(
            id: id, root: try root.status().identity, began: .now, objects: graph.objects,
            operations: isCopy ? graph.treeOperations : graph.operations, attributes: [])
        // The directories of a copy are others.
        if isCopy { for index in graph.objects.indices { journal.objects[index].identity = nil } }
        let objects = JournalObjects(journal, root: root, state: state)
        for index in graph.objects.indices where index > OperationGraph.state {
            let (status, path) = try objects.look(index)
            if let seen = graph.objects[index].seen, !seen.isSameState(as: status, orCopy: isCopy) {
                throw SyncError(
                    .failed, path: path, "somebody changed this in the target since it was looked at")
            }
            journal.objects[index].identity = status.identity
        }
        if try FileSystemInfo(of: root).hasDomains { try objects.checkDomains() }
        for change in graph.attributes {
            let (current, path) =
                try change.object == OperationGraph.root
                ? (status: root.status(), path: root.path) : objects.look(change.object)
            guard Account.isRoot || current.owner == Account.effectiveUser else {
                throw SyncError(
                    .refused, path: path,
                    "it belongs to user \(current.owner), and only its owner can put its times right; run as root"
                )
            }
            let old = change.old ?? Attributes(current)
            var new = change.new ?? old
            // A new directory has the owner that it could be given.
            if change.old == nil { (new.owner, new.group) = (old.owner, old.group) }
            journal.attributes.append(.init(object: change.object, old: old, new: new))
        }
        if !Account.isRoot { addMovedDirectories(to: &journal) }
        return journal
    }

    /// Users other than root need write permission on a directory to move it: its attributes are part of the
    /// transaction then, so that they are put right at the end.
    private static func addMovedDirectories(to journal: inout Journal) {
        let known = Set(journal.attributes.map(\.object))
        for (index, object) in journal.objects.enumerated()
        where !known.contains(index) && object.slot != nil {
            guard let seen = object.seen, seen.type == .directory, seen.permissions & 0o700 != 0o700 else {
                continue
            }
            journal.attributes.append(.init(object: index, old: Attributes(seen), new: Attributes(seen)))
        }
    }
}
