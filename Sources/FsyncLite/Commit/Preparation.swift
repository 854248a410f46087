import FileStorage
import FileSystem

extension Commit {
    /// Creates the journal of an operation graph. Right before the commit, it checks that each object is still in the
    /// state that the plan saw, and records its identity.
    ///
    /// - Parameter isCopy: the root is that of a copy of the target, and only its tree is changed.
    /// - Throws: `SyncError` if the target was changed meanwhile. The run has changed nothing then.
    package static func prepare(
        _ graph: OperationGraph, id: String, root: Directory, state: StateDirectory, isCopy: Bool = false
    ) throws -> Journal {
        var journal = Journal(
            id: id, root: try root.status().identity, began: .now, objects: graph.objects,
            operations: isCopy ? graph.treeOperations : graph.operations, attributes: [])
        // The directories of a copy have other identities.
        if isCopy { journal.objects.becomeCopy() }
        if root.fileSystem != nil { journal.features = [:] }
        let objects = JournalObjects(journal, root: root, state: state)
        for index in graph.objects.indices where index > OperationGraph.state {
            let (status, path) = try objects.look(index)
            if let seen = graph.objects.seen(index),
                !seen.equals(status, in: isCopy ? .state : [.state, .identity])
            {
                throw SyncError(
                    .failed, path: path, "it was changed in the target since the scan; run again")
            }
            journal.objects.identify(index, status.identity)
            journal.features?[index] = status
        }
        if try FileSystemInfo(of: root).hasDomains { try objects.checkDomains() }
        journal.attributes.reserveCapacity(graph.attributes.count)
        for change in graph.attributes {
            let (current, path) =
                try change.object == OperationGraph.root
                ? (status: root.status(), path: root.path) : objects.look(change.object)
            guard try objects.mayChange(change.object, current) else {
                throw SyncError(.entryOfOther(current.owner), path: path)
            }
            let old = change.old ?? Attributes(current)
            var new = change.new ?? old
            // The stage has set the owner of a new directory, as far as it could.
            if change.old == nil { (new.owner, new.group) = (old.owner, old.group) }
            journal.attributes.append(.init(object: change.object, old: old, new: new))
        }
        if !Account.isRoot { addMovedDirectories(to: &journal) }
        return journal
    }

    /// Ordinary users need write permission on a directory to move it. So its attributes become part of the
    /// transaction, which restores them at its end.
    private static func addMovedDirectories(to journal: inout Journal) {
        let known = Set(journal.attributes.map(\.object))
        for index in journal.objects.indices where !known.contains(index) {
            guard let seen = journal.objects.seen(index), journal.objects.slot(index) != nil,
                seen.type == .directory, seen.permissions & 0o700 != 0o700
            else {
                continue
            }
            journal.attributes.append(.init(object: index, old: Attributes(seen), new: Attributes(seen)))
        }
    }
}
