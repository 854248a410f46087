import FileSystem

// What only a look at the objects decides.

extension Difference {
    /// Decides what is suspect.
    ///
    /// - Parameters:
    ///   - inspect: looks up the extended attributes of source and target.
    ///   - lookUp: looks up those of an entry of the target.
    ///   - haveSameContent: reads both files.
    package mutating func settle(
        inspect: (Match) throws -> (source: ExtendedAttributes, target: ExtendedAttributes),
        lookUp: (File) throws -> ExtendedAttributes,
        haveSameContent: (Match) throws -> Bool
    ) rethrows {
        try settleExtended(lookUp)
        // Other names of files that have been compared.
        var same: Set<[LinkedFile]> = []
        for index in matches.indices {
            if matches[index].needsInspection {
                matches[index].needsInspection = false
                (matches[index].source.extended, matches[index].target.extended) = try inspect(matches[index])
                matches[index].compareExtended()
                matches[index].noteDrift()
                if let base = matches[index].base { noteDrift(of: matches[index].target, base) }
            }
            guard matches[index].needsContentComparison else { continue }
            matches[index].needsContentComparison = false
            let files = [LinkedFile(matches[index].source.status), LinkedFile(matches[index].target.status)]
            if try same.contains(files) || haveSameContent(matches[index]) {
                if matches[index].source.linkCount > 1 { same.insert(files) }
                continue
            }
            matches[index].replacesContent = true
            matches[index].causes.insert(.content)
            matches[index].source.digest = nil
        }
        joinLinks()
    }

    /// Looks up the extended attributes of what goes, or stays without being compared.
    private mutating func settleExtended(_ lookUp: (File) throws -> ExtendedAttributes) rethrows {
        guard !unexamined.isEmpty, !policy.attributes.extended.isEmpty else { return }
        for index in deleted.indices {
            if let found = try extended(of: deleted[index].file, lookUp) {
                deleted[index].file.extended = found
            }
        }
        for index in matches.indices {
            guard let found = try extended(of: matches[index].target, lookUp) else { continue }
            (matches[index].source.extended, matches[index].target.extended) = (found, found)
        }
        for index in uncovered.indices {
            if let found = try extended(of: uncovered[index].file, lookUp) {
                uncovered[index].file.extended = found
            }
        }
        unexamined = [:]
    }

    /// The extended attributes of an entry of the target that nobody compares; nil where they are known.
    private mutating func extended(
        of file: File, _ lookUp: (File) throws -> ExtendedAttributes
    ) rethrows -> ExtendedAttributes? {
        guard let base = unexamined[file.path] else { return nil }
        var found = file
        found.extended = try lookUp(file)
        if let base { noteDrift(of: found, base) }
        return found.extended
    }

    /// Notes that extended attributes are not as they were left, where nothing else told of a change.
    private mutating func noteDrift(of found: File, _ base: BaseEntry) {
        guard !policy.alwaysInspects, !found.path.isInState, !base.differs(from: found.status),
            base.extended != found.extended
        else { return }
        let recorded = File(
            path: found.path, status: base.status, destination: found.destination,
            extended: base.extended, omitted: base.omitted, digest: base.digest)
        drift.append(Drift(recorded: recorded, base, found: found))
    }
}
