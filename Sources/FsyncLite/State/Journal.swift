import FileSystem

/// The content of the journal: a whole commit. It can be finished or undone with only the journal and the target.
package struct Journal: Sendable {
    /// The transaction's name, also of its directory in the stage and the history.
    package var id: String
    /// The target's root, so that a journal cannot be applied to another directory.
    package var root: FileIdentity
    /// When it was written, before the first operation.
    package var began: FileTime
    package var objects: OperationGraph.ObjectList
    package var operations: [OperationGraph.Operation]
    /// Deepest first, with old and new values.
    package var attributes: [AttributeStep]
    /// Of a commit on a file system where identity does not last: what tells the objects from others, by their numbers:
    /// type, modification time and, of all but directories, size. nil where identity does.
    package var features: [Int: FileStatus]?

    /// Whether it only exchanges the tree that has this state beside it. Its root is the directory that holds both, so
    /// another journal could move whatever lies beside them.
    func exchanges(treeOf state: StateDirectory) -> Bool {
        let own = [OperationGraph.newTree, OperationGraph.oldTree]
        return operations.first == .exchange(OperationGraph.newTree, with: OperationGraph.oldTree)
            && operations.allSatisfy { if case .link = $0 { false } else { true } }
            && objects.indices.allSatisfy { number in
                let locations = [objects.old(number), objects.slot(number), objects.new(number)]
                return locations.compactMap(\.self).allSatisfy { location in
                    location.parent != OperationGraph.root
                        || own.contains(number) && FileName.state(beside: location.name) == state.name
                }
            }
            && attributes.allSatisfy { own.contains($0.object) }
    }

    package struct AttributeStep: Hashable, Sendable {
        package var object: Int
        package var old: Attributes
        package var new: Attributes
    }
}
