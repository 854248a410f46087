import FileStorage
import FileSystem

extension Commit {
    /// Creates the journal of an operation graph. Right before the commit, each object is checked once more to be as
    /// the plan saw it, and its identity is recorded.
    ///
    /// - Parameter isCopy: the root is that of a copy of the target, and only its tree is to be changed.
    /// - Throws: `SyncError` if the target was changed meanwhile. Nothing has been changed by the run then.
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
            // A new directory has the owner that could be set.
            if change.old == nil { (new.owner, new.group) = (old.owner, old.group) }
            journal.attributes.append(.init(object: change.object, old: old, new: new))
        }
        if !Account.isRoot { addMovedDirectories(to: &journal) }
        return journal
    }

    /// Users other than root need write permission on a directory to move it. Its attributes then become part of the
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
