import FileSystem

/// One line of a record: what takes back one thing that an apply did.
package struct UndoEntry: Hashable, Sendable {
    /// The words of a plan, and two more, for what takes part or does not from now on and is the same.
    package enum Verb: String, Sendable, CaseIterable, Comparable {
        /// The apply covered an entry that it had left alone before; that it left one alone that it had covered.
        case delete, move, create, update, attributes, cover, uncover

        package static func < (left: Verb, right: Verb) -> Bool { left.rank < right.rank }
        private var rank: Int { Verb.allCases.firstIndex(of: self) ?? 0 }
    }

    package var verb: Verb
    /// The entry as it was before the apply; of a `delete`, as the apply made it.
    package var file: File
    /// Where the object stands after the apply, when that is another path.
    package var from: RelativePath?
    /// What holds a displaced object, below the history: `TX/0/12`. One without lies inside that of a directory
    /// above it.
    package var slot: RelativePath?
    /// Why the apply did it.
    package var causes: Causes = []
    /// The entry took no part before the apply: no manifest had it.
    package var wasUncovered = false

    package init(
        _ verb: Verb, _ file: File, from: RelativePath? = nil, slot: RelativePath? = nil,
        causes: Causes = [], wasUncovered: Bool = false
    ) {
        (self.verb, self.file, self.from, self.slot, self.causes) = (verb, file, from, slot, causes)
        self.wasUncovered = wasUncovered || verb == .cover
    }
}

extension UndoEntry {
    /// Of which a record has one line at most.
    var key: [UInt8] { verb.rawValue.utf8 + [0] + file.path.bytes }
}

extension UndoEntry {
    /// What cannot be; nil when all fits.
    var fault: String? {
        if from.map(\.isInState) ?? false { return "an entry of the tree that stands in the state" }
        if file.path.isInState, !file.path.isBelow(.history) { return "a path in the state" }
        if file.path.isRoot, verb != .attributes { return "the root stays" }
        if wasUncovered, verb == .delete || verb == .uncover { return "what was not covered was not there" }
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
