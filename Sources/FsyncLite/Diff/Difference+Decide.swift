import FileSystem

// Decisions that need a look at the objects.

extension Difference {
    /// The result of a comparison of contents.
    package struct Answer: Sendable {
        /// The index that was given with the match.
        package var index: Int
        /// Both files have the same content.
        package var isSame: Bool
        /// The source's content differs from the recorded digest, so the source changed.
        package var isSourceOther = false
        /// The source's file can no longer change without a new time.
        package var isSettled = false
        /// The size of the compared content.
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
    package mutating func decide(
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
        try readUnexamined(lookUp)
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
        // If no digest shows that the source changed, the target did. After an undo it is unknown which side changed.
        if !answer.isSourceOther, let base = match.base,
            policy.isUnchanged(match.source.status, base.status),
            policy.showsEdit(of: match.target.status, since: base.known)
                || match.isDigestComparable && policy.showsRot(of: match.target.status, since: base.known)
        {
            match.target.object = 0
        }
        changes[match: index] = match
    }

    /// Reads the extended attributes of entries that are deleted, or left in place without a comparison.
    private mutating func readUnexamined(_ lookUp: (File) throws -> ExtendedAttributes) rethrows {
        for index in changes.indices {
            guard let (file, base) = unexaminedEntry(at: index) else { continue }
            var change = changes[index]
            change.setExtended(try extended(of: file, base, lookUp))
            changes[index] = change
        }
        guard !unexamined.isEmpty else { return }
        for index in uncovered.indices {
            guard let (file, base) = unexamined[uncovered[index].file.path]?.departure else { continue }
            uncovered[index].file.extended = try extended(of: file, base, lookUp)
        }
        unexamined = PackedMap()
    }

    /// The target's entry of a change, and its base, if its extended attributes must be read.
    private func unexaminedEntry(at index: Int) -> TreeMerge.Departure? {
        let head = changes.head(at: index)
        if head.isUnexamined { return changes[departure: index] }
        guard head.kind != .created, !unexamined.isEmpty else { return nil }
        return unexamined[changes.targetPath(at: index)]?.departure
    }

    /// The extended attributes of a target entry that is not compared.
    private mutating func extended(
        of file: File, _ base: BaseEntry?, _ lookUp: (File) throws -> ExtendedAttributes
    ) rethrows -> ExtendedAttributes {
        var found = file
        found.extended = try lookUp(file)
        if let base { noteDrift(of: found, base) }
        return found.extended
    }

    /// Notes changed extended attributes if they are the only change.
    private mutating func noteDrift(of found: File, _ base: BaseEntry) {
        guard !policy.alwaysInspects, !found.path.isInState, !base.differs(from: found.status),
            base.extended.filter(policy.attributes.contains)
                != found.extended.filter(policy.attributes.contains)
        else { return }
        drift.append(Drift(recorded: base.file(at: found), base, found: found))
    }
}
