import FileSystem

/// What a commit does, whole: the value that the journal holds. Nothing but the journal and the target is
/// needed to finish it or to undo it.
package struct Journal: Sendable {
    /// Its name, and that of its directory in the stage and the history.
    package var id: String
    /// The target's root, which a journal must not be taken away from.
    package var root: FileIdentity
    /// When it was written; the operations follow.
    package var began: FileTime
    package var objects: [OperationGraph.Object]
    package var operations: [OperationGraph.Operation]
    /// Deepest first; both values known.
    package var attributes: [AttributeStep]

    package struct AttributeStep: Hashable, Sendable {
        package var object: Int
        package var old: Attributes
        package var new: Attributes
    }
}
