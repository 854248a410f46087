import FileSystem

/// One line of a history record: how to revert one action of an apply.
package struct UndoEntry: Hashable, Sendable {
    /// The verbs of a plan, and two for entries that become covered or uncovered and do not change.
    package enum Verb: String, Sendable, CaseIterable {
        /// `cover`: the apply covered an entry that was uncovered; `uncover`: the reverse.
        case delete, move, create, update, attributes, cover, uncover
    }

    package var verb: Verb
    /// The entry as it was before the apply; for `delete`, as the apply made it.
    package var file: File
    /// The object's path after the apply, if another.
    package var from: RelativePath?
    /// The slot of a displaced object, below the history: `TX/0/12`. Without one, it lies inside the displaced
    /// directory above it.
    package var slot: RelativePath?
    /// Why the apply did it.
    package var causes: Causes = []
    /// The entry was uncovered before the apply: no manifest had it.
    package var wasUncovered = false
    /// Of a joined record: see `ReverseDelta.Entry`.
    package var isAssumed = false

    package init(
        _ verb: Verb, _ file: File, from: RelativePath? = nil, slot: RelativePath? = nil,
        causes: Causes = [], wasUncovered: Bool = false
    ) {
        (self.verb, self.file, self.from, self.slot, self.causes) = (verb, file, from, slot, causes)
        self.wasUncovered = wasUncovered || verb == .cover
    }
}

extension UndoEntry {
    /// Why the line is invalid; nil if it is valid.
    var fault: String? {
        if from.map(\.isInState) ?? false { return "an entry of the tree that stands in the state" }
        if file.path.isInState, !file.path.isBelow(.history) { return "a path in the state" }
        if file.path.isRoot, verb != .attributes { return "the root stays" }
        if wasUncovered || isAssumed, verb == .delete || verb == .uncover {
            return "what was not covered was not there"
        }
        if slot != nil, verb != .create, verb != .update { return "a slot for what was not displaced" }
        if let slot,
            !(slot.components.count >= 3 && FileName(slot.components[0]).map(TransactionID.isName) == true)
        {
            return "this is no slot"
        }
        switch verb {
        case .create, .delete: return from == nil ? nil : "an entry that did not move and stands elsewhere"
        case .move: return from == nil ? "a move from nowhere" : nil
        case .update, .attributes, .cover, .uncover: return nil
        }
    }
}
