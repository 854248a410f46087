import FileSystem

// Decisions that need a look at the objects.

extension Difference {
    /// What a comparison of contents has found.
    package struct Answer: Sendable {
        /// That was given with the match.
        package var index: Int
        /// Both files hold the same.
        package var isSame: Bool
        /// The source's content is not the one whose digest is recorded, so it is the source that changed.
        package var isSourceOther = false
        /// The source's file cannot change any more without a new time.
        package var isSettled = false
        /// Of what was compared.
        var bytes: ByteCount = 0
        var problems: [Problem] = []

        package init(index: Int, isSame: Bool) { (self.index, self.isSame) = (index, isSame) }
    }

    /// Decides the matches that need an inspection or a content comparison.
    ///
    /// - Parameters:
    ///   - inspect: reads the extended attributes of source and target.
    ///   - lookUp: reads those of an entry of the target.
    ///   - compare: begins to compare the contents of a match, and returns answers that are ready, in order.
    ///     nil asks for the remaining answers.
    package mutating func settle(
        inspect: (Match) throws -> (source: ExtendedAttributes, target: ExtendedAttributes),
        lookUp: (File) throws -> ExtendedAttributes,
        compare: ((index: Int, match: Match)?) throws -> [Answer]
    ) rethrows {
        try edit { try $0.decide(inspect, lookUp, compare) }
    }

    private mutating func decide(
        _ inspect: (Match) throws -> (source: ExtendedAttributes, target: ExtendedAttributes),
        _ lookUp: (File) throws -> ExtendedAttributes,
        _ compare: ((index: Int, match: Match)?) throws -> [Answer]
    ) rethrows {
        try settleExtended(lookUp)
        // The other names of pairs of files, by the index of the match that is compared.
        var compared: [[LinkedFile]: Int] = [:]
        var otherNames: [Int: [Int]] = [:]
        var differing: [Int: Answer] = [:]
        func note(_ answers: [Answer]) {
            for answer in answers where !answer.isSame || answer.isSettled {
                if !answer.isSame { differing[answer.index] = answer }
                for index in [answer.index] + otherNames[answer.index, default: []] {
                    if answer.isSame {
                        changes[match: index].source.isSettled = true
                    } else {
                        replaceContent(index, answer)
                    }
                }
            }
        }
        for index in changes.indices where changes.head(at: index).isOpen {
            var match = changes[match: index]
            if match.needsInspection {
                match.needsInspection = false
                let found = try inspect(match)
                match.take(found.source, found.target, mirroring: policy.attributes)
                match.compareExtended()
                match.noteDrift()
                if let base = match.base { noteDrift(of: match.target, base) }
            }
            let isCompared = match.needsContentComparison
            match.needsContentComparison = false
            changes[match: index] = match
            guard isCompared else { continue }
            if match.source.linkCount > 1 {
                let files = [LinkedFile(match.source.status), LinkedFile(match.target.status)]
                if let first = compared[files] {
                    otherNames[first, default: []].append(index)
                    if let answer = differing[first] { replaceContent(index, answer) }
                    continue
                }
                compared[files] = index
            }
            note(try compare((index, match)))
        }
        note(try compare(nil))
    }

    private mutating func replaceContent(_ index: Int, _ answer: Answer) {
        var match = changes[match: index]
        match.replacesContent = true
        match.causes.insert(.content)
        match.source.digest = nil
        // Then the target's side is the one that changed, where no digest tells otherwise. After an undo nothing tells which
        // side it is.
        if !answer.isSourceOther, let base = match.base,
            policy.showsEdit(of: match.target.status, since: base.known),
            policy.isUnchanged(match.source.status, base.status)
        {
            match.target.object = 0
        }
        changes[match: index] = match
    }

    /// Reads the extended attributes of entries that are deleted, or stay without being compared.
    private mutating func settleExtended(_ lookUp: (File) throws -> ExtendedAttributes) rethrows {
        guard !unexamined.isEmpty else { return }
        for index in changes.indices where unexamined.contains(changes.targetPath(at: index)) {
            var change = changes[index]
            guard let target = change.target, let found = try extended(of: target, lookUp) else { continue }
            change.setExtended(found)
            changes[index] = change
        }
        for index in uncovered.indices {
            if let found = try extended(of: uncovered[index].file, lookUp) {
                uncovered[index].file.extended = found
            }
        }
        unexamined = PackedMap()
    }

    /// The extended attributes of a target entry that is not compared; nil where they are known.
    private mutating func extended(
        of file: File, _ lookUp: (File) throws -> ExtendedAttributes
    ) rethrows -> ExtendedAttributes? {
        guard let known = unexamined[file.path]?.departure else { return nil }
        var found = file
        found.extended = try lookUp(file)
        if let base = known.base { noteDrift(of: found, base) }
        return found.extended
    }

    /// Notes changed extended attributes where nothing else showed a change.
    private mutating func noteDrift(of found: File, _ base: BaseEntry) {
        guard !policy.alwaysInspects, !found.path.isInState, !base.differs(from: found.status),
            base.extended.filter(policy.attributes.contains)
                != found.extended.filter(policy.attributes.contains)
        else { return }
        drift.append(Drift(recorded: base.file(at: found), base, found: found))
    }
}
