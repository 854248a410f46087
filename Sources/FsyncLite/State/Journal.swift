import FileSystem

/// The content of the journal: a whole commit. The journal and the target are enough to finish or undo it.
package struct Journal: Sendable {
    /// The name of the transaction, and of its directory in the stage and the history.
    package var id: String
    /// The identity of the target's root, so that a journal cannot be applied to another directory.
    package var root: FileIdentity
    /// The time when it was written, before the first operation.
    package var began: FileTime
    package var objects: OperationGraph.ObjectList
    package var operations: [OperationGraph.Operation]
    /// Deepest first, with old and new values.
    package var attributes: [AttributeStep]
    /// Properties by which a weak commit recognizes its objects, by their numbers. They are type, modification time
    /// and, except for directories, size. It is nil on a file system where identity lasts.
    package var features: [Int: FileStatus]?

    package init(
        id: String, root: FileIdentity, began: FileTime, objects: OperationGraph.ObjectList,
        operations: [OperationGraph.Operation], attributes: [AttributeStep],
        features: [Int: FileStatus]? = nil
    ) {
        (self.id, self.root, self.began, self.features) = (id, root, began, features)
        (self.objects, self.operations, self.attributes) = (objects, operations, attributes)
    }

    /// Whether it only exchanges the tree that has this state beside it. Its root is the directory that contains both,
    /// so another journal could move any object there.
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

        package init(object: Int, old: Attributes, new: Attributes) {
            (self.object, self.old, self.new) = (object, old, new)
        }
    }
}
