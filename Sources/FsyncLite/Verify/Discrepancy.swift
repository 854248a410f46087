/// Something in a tree that is not as its manifest says.
public struct Discrepancy: Hashable, Sendable {
    /// A closed list, as it stands in documents.
    public enum Kind: String, Sendable, CaseIterable {
        /// The manifest has the entry and the tree does not.
        case missing
        /// The tree has it and the manifest does not.
        case added
        /// Somebody changed it, as its type, size, time or attributes tell.
        case changed
        /// The content is another while size and modification time stand: bit rot, or an edit that put the time back.
        case rotten
        /// It cannot be read.
        case unreadable
    }

    /// Which copy it is that is not as recorded.
    public enum Side: String, Sendable {
        case tree, source, both
    }

    public var kind: Kind
    public var path: RelativePath
    public var side = Side.tree
    /// What differs, where it is `changed`.
    public var causes: Causes = []
    /// The reason, where it is `unreadable`; and why it is not repaired, where that was asked for.
    public var message: String?
    /// The copy of the other side has the recorded content, and so can be copied over this one.
    public var isRepairable = false
    public var isRepaired = false
}

extension JSONText {
    /// The fields of a discrepancy in their one order.
    package mutating func discrepancy(_ found: Discrepancy) {
        field("kind", found.kind.rawValue)
        path(found.path)
        field("side", found.side.rawValue)
        if !found.causes.isEmpty { field("causes", found.causes.names) }
        if let message = found.message { field("message", message) }
        // JSON has no other values for these than the words.
        field("repair", found.isRepaired ? "done" : found.isRepairable ? "possible" : "none")
    }
}
