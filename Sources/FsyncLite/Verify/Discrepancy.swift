/// A difference between a tree and its manifest.
public struct Discrepancy: Hashable, Sendable {
    /// A closed list, as written in documents.
    public enum Kind: String, Sendable, CaseIterable {
        /// The manifest has the entry and the tree does not.
        case missing
        /// The tree has the entry and the manifest does not.
        case added
        /// Its type, size, time or attributes changed.
        case changed
        /// The content differs although size and modification time are equal, and no change time shows an edit.
        case rotten
        /// The same, but its change time shows that it was changed after it was recorded. It is not repaired.
        case edited
        /// It cannot be read.
        case unreadable
    }

    /// The copy that changed since it was recorded.
    public enum Side: String, Sendable {
        case tree, source, both
    }

    public var kind: Kind
    public var path: RelativePath
    public var side = Side.tree
    /// The differences of a `changed` entry.
    public var causes: Causes = []
    /// Why it is `unreadable`, or why it was not repaired when that was requested.
    public var message: String?
    /// The other side's copy has the recorded content, and can be copied over this one.
    public var isRepairable = false
    public var isRepaired = false
    /// The recorded file with the status that its copy had when it was judged; nil if that may hide an edit.
    var judged: File?
}

extension JSONText {
    /// The fields of a discrepancy in their fixed order.
    package mutating func discrepancy(_ found: Discrepancy) {
        field("kind", found.kind.rawValue)
        path(found.path)
        field("side", found.side.rawValue)
        if !found.causes.isEmpty { field("causes", found.causes.names) }
        if let message = found.message { field("message", message) }
        // JSON uses only these words.
        field("repair", found.isRepaired ? "done" : found.isRepairable ? "possible" : "none")
    }
}
