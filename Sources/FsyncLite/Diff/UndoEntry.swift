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

    /// What the apply did, in the words of a plan.
    var applied: [Action] {
        let present = file.moved(to: from ?? file.path)
        // An undo brought it back from the history.
        if file.path.isInState { return verb == .move ? [Action(.create, present, causes: [.new])] : [] }
        switch verb {
        case .create: return [Action(.delete, file, causes: causes)]
        case .delete: return [Action(.create, file, causes: causes)]
        case .move where from == file.path: return []
        case .move: return [Action(.move, present, from: file.path, causes: [.renamed])]
        case .attributes: return [Action(.attributes, present, causes: causes)]
        case .cover, .uncover: return []
        case .update:
            var update = Action(.update, present, causes: causes)
            // Only the size that it had is on record.
            update.size = nil
            guard from != nil else { return [update] }
            return [Action(.move, present, from: file.path, causes: [.renamed]), update]
        }
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

extension RelativePath {
    /// Where displaced objects are held, below the target's root.
    static let history = RelativePath.root.appending(TreeScan.reservedName)
        .appending(StateDirectory.Name.history)

    /// Of what is made anew: nothing is there.
    static let lost = history.appending(FileName("none")).appending(FileName("lost"))

    /// A place in the history where nothing is: what it would hold is lost.
    var isLost: Bool {
        relative(to: .history)?.components.dropFirst().first?.elementsEqual("lost".utf8) ?? false
    }

    /// The path is the state's: no part of the tree.
    var isInState: Bool {
        var components = bytes.split(separator: UInt8(ascii: "/"), maxSplits: 1).makeIterator()
        return components.next()?.elementsEqual(TreeScan.reservedName.bytes) ?? false
    }

    func appending(_ path: RelativePath) -> RelativePath {
        path.components.reduce(self) { above, name in FileName(name).map(above.appending) ?? above }
    }

    /// The rest of the path below a directory; nil for what does not lie there.
    func relative(to directory: RelativePath) -> RelativePath? {
        if directory.isRoot { return self }
        return isBelow(directory) ? RelativePath(Array(bytes.dropFirst(directory.bytes.count + 1))) : nil
    }
}
