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
    package var operations: OperationGraph.OperationList
    /// Deepest first, with old and new values.
    package var attributes: AttributeSteps
    /// Of a commit on a file system where identity does not last: what tells the objects from others, by their numbers.
    /// nil where identity does.
    package var features: [Int: ObjectFeatures]?

    /// What identifies an object independently of its name.
    package struct ObjectFeatures: Hashable, Sendable {
        package var type: FileType
        /// Of a file or symlink.
        package var size: ByteCount
        package var modified: FileTime

        init(_ status: FileStatus) {
            (type, size, modified) = (
                status.type, status.type == .directory ? 0 : status.size, status.modified
            )
        }
    }

    package struct AttributeStep: Hashable, Sendable {
        package var object: Int
        package var old: Attributes
        package var new: Attributes
    }
}
